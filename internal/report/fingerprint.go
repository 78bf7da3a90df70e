package report

import (
	"fmt"
	"strconv"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/units"
)

// fact is a line of the fingerprint.
type fact struct{ Name, Value string }

// factGroup is a part of the fingerprint.
type factGroup struct {
	Name  string
	Facts []fact
}

// add leaves out what is not known.
func (g *factGroup) add(name, value string) {
	if value != "" {
		g.Facts = append(g.Facts, fact{name, cleanText(value)})
	}
}

// fingerprint is everything the figures depend on.
func fingerprint(run bench.Run, l layout) []factGroup {
	return []factGroup{runFacts(run), machineFacts(run), profileFacts(run.Profile), contenderFacts(l)}
}

func runFacts(run bench.Run) factGroup {
	g := factGroup{Name: "Run"}
	g.add("ID", run.ID)
	g.add("State", run.StandingText())
	g.add("Started", instant(run.Started))
	if !run.Ended.IsZero() {
		g.add("Ended", instant(run.Ended)+" (after "+duration(run.Ended.Sub(run.Started))+")")
	}
	for _, t := range run.Resumed {
		g.add("Resumed", instant(t))
	}
	g.add("Command", command(run.Command))
	g.add("Hash of the profile", run.Hash)
	g.add("Seed", strconv.FormatUint(run.Seed, 10))
	g.add("Service folders", strings.Join(run.Services, ", "))
	return g
}

func machineFacts(run bench.Run) factGroup {
	m, s := run.Machine, run.Software
	g := factGroup{Name: "Machine and software"}
	g.add("System", strings.TrimSpace(m.OS+"/"+m.Arch+" "+m.Kernel))
	cpus := units.Plural(m.CPUs, "CPU")
	if m.CPUModel != "" {
		cpus += ", " + m.CPUModel
	}
	g.add("CPUs", cpus)
	g.add("Who runs on which CPUs", run.Isolated.String())
	if m.MemoryBytes > 0 {
		g.add("Memory", mebibytes(m.MemoryBytes))
	}
	g.add("CPU governor", m.Governor)
	g.add("Turbo", m.Turbo)
	g.add("SMT", m.SMT)
	g.add("Virtualisation", m.Virtual)
	if m.SwapUsed != nil && *m.SwapUsed > 0 {
		g.add("Swap in use", mebibytes(*m.SwapUsed))
	}
	g.add("Other containers", m.OtherContainers)
	if m.CgroupVersion > 0 {
		g.add("cgroup", "v"+strconv.Itoa(m.CgroupVersion))
	}
	g.add("Load before the run (1 min)", m.Load1)
	g.add("locbench", s.Locbench)
	g.add("Go", s.Go)
	if s.Docker != "" {
		g.add("Docker", s.Docker+", API "+s.DockerAPI)
	}
	g.add("Elasticsearch", s.Elasticsearch)
	g.add("Store", strings.TrimSpace(string(run.Store.Kind)+" "+run.Store.Version))
	g.add("Store address", run.Store.URL)
	g.add("Store address, as contenders see it", run.Store.Seen)
	g.add("Data", fmt.Sprintf("%s: %s cities, %s regions", run.Data.Name, count(int64(run.Data.Cities)), count(int64(run.Data.Regions))))
	g.add("Data hash", run.Data.Hash)
	return g
}

func profileFacts(p bench.Profile) factGroup {
	g := factGroup{Name: "Profile"}
	g.add("Name", p.Name)
	g.add("Title", p.Title)
	g.add("Description", p.Description)
	g.add("Runtime", string(p.Runtime))
	g.add("Rounds", strconv.Itoa(p.Rounds))
	g.add("Limits", limits(p.Limits))
	if p.Store.Latency > 0 {
		injected := "median " + p.Store.Latency.String()
		if p.Store.P99 > 0 {
			injected += ", p99 " + p.Store.P99.String()
		}
		g.add("Latency added by the store", injected)
	}
	for _, r := range p.Requests {
		g.add("Request", requestWords(r))
	}
	if p.Timeout > 0 {
		g.add("Request time-out", p.Timeout.String())
	}
	var steps []string
	for _, s := range p.Steps {
		steps = append(steps, stepWords(s))
	}
	g.add("Steps", strings.Join(repeated(steps), ", "))
	g.add("Check suites", strings.Join(p.Checks.Suites, ", "))
	if p.PriceVCPUHr > 0 {
		g.add("Price of a vCPU-hour", "$"+plain(p.PriceVCPUHr))
	}
	return g
}

func contenderFacts(l layout) factGroup {
	g := factGroup{Name: "Contenders"}
	for _, c := range l.contenders {
		leg := c.legs[0]
		parts := []string{c.About}
		if len(leg.Service.Tags) > 0 {
			parts = append(parts, strings.Join(leg.Service.Tags, ", "))
		}
		if i := leg.Instance; i != nil {
			parts = append(parts, "runtime "+string(i.Runtime))
			if i.CPUSet != "" {
				parts = append(parts, "CPU set "+i.CPUSet)
			}
			if i.ImageID != "" {
				parts = append(parts, "image "+i.ImageID)
			}
		}
		if h := leg.Artifact.Sources; h != "" {
			parts = append(parts, "sources "+h)
		}
		if a := leg.Artifact; a.ImageSize > 0 {
			parts = append(parts, "image of "+mebibytes(a.ImageSize))
		} else if a.BinarySize > 0 {
			parts = append(parts, "binary of "+mebibytes(a.BinarySize))
		}
		if leg.Artifact.BuildTime > 0 {
			parts = append(parts, "built in "+duration(leg.Artifact.BuildTime))
		}
		if leg.Service.Unverified != "" {
			parts = append(parts, "unverified: "+leg.Service.Unverified)
		}
		g.add(c.Label, strings.Join(parts, "; "))
	}
	return g
}

func limits(l bench.Limits) string {
	var parts []string
	if l.CPUs > 0 {
		parts = append(parts, plain(l.CPUs)+" CPUs")
	}
	if l.CPUSet > 0 {
		parts = append(parts, "on up to "+strconv.Itoa(l.CPUSet)+" CPUs")
	}
	if l.Memory > 0 {
		parts = append(parts, mebibytes(l.Memory)+" memory, no swap")
	}
	if l.PIDs > 0 {
		parts = append(parts, count(l.PIDs)+" processes and threads")
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func requestWords(r bench.Request) string {
	words := r.Method + " " + r.Path
	if r.IDs.Distribution != "" {
		words += ", ids " + r.IDs.Distribution
	}
	if r.Weight > 0 {
		words += ", weight " + strconv.Itoa(r.Weight)
	}
	if r.ExpectStatus > 0 {
		words += ", expects " + strconv.Itoa(r.ExpectStatus)
	}
	return words
}

func stepWords(s bench.Step) string { return cleanName(s.Words()) + " for " + s.Duration.String() }

// repeated writes equal neighbours once: "5 × warm-up 1 connection for 10s".
func repeated(words []string) []string {
	var out []string
	for i := 0; i < len(words); {
		j := i
		for j < len(words) && words[j] == words[i] {
			j++
		}
		w := words[i]
		if j-i > 1 {
			w = strconv.Itoa(j-i) + " × " + w
		}
		out = append(out, w)
		i = j
	}
	return out
}

// command quotes arguments that need it.
func command(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?&|;<>()") {
			words[i] = strconv.Quote(a)
		}
	}
	return strings.Join(words, " ")
}
