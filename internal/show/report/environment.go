package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

type fact struct{ Name, Value string }

type factGroup struct {
	Name  string
	Facts []fact
}

// group returns a group of the facts that are known.
func group(name string, facts ...fact) factGroup {
	g := factGroup{Name: name}
	for _, f := range facts {
		if f.Value != "" {
			g.Facts = append(g.Facts, fact{f.Name, cleanText(f.Value)})
		}
	}
	return g
}

// environment returns everything that the results depend on.
func environment(run bench.Run, l layout) []factGroup {
	groups, names := []factGroup{runFacts(run, l), machineFacts(run), profileFacts(run.Profile), contenderFacts(l)}, relative(run)
	for _, g := range groups {
		for i := range g.Facts {
			g.Facts[i].Value = names.Replace(g.Facts[i].Value)
		}
	}
	return groups
}

func runFacts(run bench.Run, l layout) factGroup {
	var trials []bench.TrialResult
	for _, c := range l.columns {
		trials = append(trials, *c.trial)
	}
	facts := []fact{
		{"ID", run.ID}, {"State", run.OutcomeText()}, {"Started", instant(run.Started)},
		{"Ended", when(!run.Ended.IsZero(), instant(run.Ended)+" (after "+units.Duration(run.Ended.Sub(run.Started))+")")},
	}
	for _, t := range run.Resumed {
		facts = append(facts, fact{"Resumed", instant(t)})
	}
	return group("Run", append(facts, fact{"Command", commandOf(run)}, fact{"Profile hash", run.Hash},
		fact{"Seed", strconv.FormatUint(run.Seed, 10)}, fact{"Load engine", bench.EngineWords(trials)}, fact{"Contender folders", strings.Join(run.Services, ", ")})...)
}

func machineFacts(run bench.Run) factGroup {
	m, s := run.Machine, run.Software
	swap := int64(0)
	if m.SwapUsed != nil {
		swap = *m.SwapUsed
	}
	facts := []fact{
		{"System", strings.TrimSpace(m.OS + "/" + m.Arch + " " + m.Kernel)},
		{"CPUs", units.Plural(m.CPUs, "CPU") + when(m.CPUModel != "", ", "+m.CPUModel)},
		{"CPU assignment", run.Isolated.String()},
		{"Memory", when(m.MemoryBytes > 0, units.Bytes(m.MemoryBytes))},
		{"CPU governor", m.Governor}, {"Turbo", m.Turbo}, {"SMT", m.SMT}, {"Virtualisation", m.Virtual},
		{"Swap in use", when(swap > 0, units.Bytes(swap))},
		{"Other containers", m.OtherContainers},
		{"cgroup", when(m.CgroupVersion > 0, "v"+strconv.Itoa(m.CgroupVersion))},
		{"Load before the run (1 min)", m.Load1},
		{"locbench", s.Locbench}, {"Go", s.Go}, {"Docker", when(s.Docker != "", s.Docker+", API "+s.DockerAPI)},
		{"Certificates", trusted(run.TLS)},
		{"Data", when(run.Data.Name != "", run.Data.Name+": "+run.Data.Size)},
		{"Data hash", run.Data.Hash},
	}
	for _, n := range run.Needs {
		name := cleanName(n.Label())
		facts = append(facts, fact{name, strings.TrimSpace(string(n.From) + " " + n.Version)},
			fact{name + " address", n.URL}, fact{name + " address for contenders", n.Seen}, fact{name + " latency", n.Latency})
	}
	return group("Machine and software", facts...)
}

func profileFacts(p bench.Profile) factGroup {
	facts := []fact{
		{"Name", p.Name}, {"Title", p.Title}, {"Description", p.Description}, {"Runtime", string(p.Runtime)},
		{"Rounds", strconv.Itoa(p.Rounds)}, {"Limits", limits(p.Limits) + ownLimits(p)},
	}
	for _, r := range p.Requests {
		facts = append(facts, fact{"Request", requestWords(r)})
	}
	var steps []string
	for _, s := range p.Steps {
		steps = append(steps, cleanName(s.Words())+" for "+s.Duration.String())
	}
	return group("Profile", append(facts, fact{"Request timeout", when(p.Timeout > 0, p.Timeout.String())},
		fact{"Steps", strings.Join(repeated(steps), ", ")}, fact{"Check suites", strings.Join(p.Checks.Suites, ", ")},
		fact{"Price of a vCPU-hour", when(p.PriceVCPUHr > 0, "$"+plain(p.PriceVCPUHr))})...)
}

func contenderFacts(l layout) factGroup {
	var facts []fact
	for _, c := range l.contenders {
		trial := c.of.Results[0]
		parts := []string{strings.Join(trial.Service.Tags, ", ")}
		if i := trial.Instance; i != nil {
			parts = append(parts, "runtime "+string(i.Runtime),
				when(trial.Service.Limits != bench.Limits{}, "its own limits "+trial.Service.Limits.String()), when(len(i.CPUSet) > 0, "CPU set "+i.CPUSet.String()),
				i.Confined.String(),
				when(i.ImageID != "", "image "+i.ImageID))
		}
		if n, ok := c.of.Threads(); ok {
			parts = append(parts, units.Plural(n, "thread")+" after the warm-up")
		}
		a := trial.Artifact
		parts = append(parts, when(a.Sources != "", "sources "+a.Sources),
			when(a.ImageSize > 0, "image "+units.Bytes(a.ImageSize)),
			when(a.ImageSize <= 0 && a.BinarySize > 0, "binary "+units.Bytes(a.BinarySize)),
			when(a.BuildTime > 0, "built in "+units.Duration(a.BuildTime)),
			when(trial.Service.Unverified != "", "unverified: "+trial.Service.Unverified))
		facts = append(facts, fact{c.Label, strings.Join(append([]string{c.About}, known(parts...)...), "; ")})
	}
	return group("Contenders", facts...)
}

// known returns the texts that are not empty.
func known(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

func limits(l bench.Limits) string { return cmp.Or(l.String(), "none") }

// ownLimits returns the limits of contenders that have their own: "; a:half: 0.5 CPUs".
func ownLimits(p bench.Profile) (text string) {
	for _, s := range p.Settings {
		if s.Limits != (bench.Limits{}) {
			text += "; " + cleanName(s.String()) + ": " + limits(s.Limits)
		}
	}
	return text
}

func requestWords(r bench.Request) string {
	return r.Method + " " + r.Path + when(r.IDs.Distribution != "", ", ids "+r.IDs.Distribution) +
		when(r.Weight > 0, ", weight "+strconv.Itoa(r.Weight)) +
		when(r.ExpectStatus > 0, ", expects "+strconv.Itoa(r.ExpectStatus))
}

// repeated joins equal neighbors: "5 × warm-up 1 connection for 10s".
func repeated(words []string) (out []string) {
	for len(words) > 0 {
		n := slices.IndexFunc(words, func(w string) bool { return w != words[0] })
		if n < 0 {
			n = len(words)
		}
		out, words = append(out, when(n > 1, strconv.Itoa(n)+" × ")+words[0]), words[n:]
	}
	return out
}

// trusted returns which certificates were accepted; "" if only those that the system trusts.
func trusted(t *bench.TLS) string {
	switch {
	case t == nil:
		return ""
	case t.Insecure:
		return "not verified (--insecure)"
	}
	return "also those of " + t.CACert + " (--cacert)"
}
