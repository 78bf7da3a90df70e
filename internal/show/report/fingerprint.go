package report

import (
	"cmp"
	"fmt"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/text/safe"
)

type fact struct{ Name, Value string }

type factGroup struct {
	Name  string
	Facts []fact
}

// group leaves out what is not known.
func group(name string, facts ...fact) factGroup {
	g := factGroup{Name: name}
	for _, f := range facts {
		if f.Value != "" {
			g.Facts = append(g.Facts, fact{f.Name, cleanText(f.Value)})
		}
	}
	return g
}

// fingerprint is everything the figures depend on.
func fingerprint(run bench.Run, l layout) []factGroup {
	return []factGroup{runFacts(run), machineFacts(run), profileFacts(run.Profile), contenderFacts(l)}
}

func runFacts(run bench.Run) factGroup {
	facts := []fact{
		{"ID", run.ID}, {"State", run.OutcomeText()}, {"Started", instant(run.Started)},
		{"Ended", when(!run.Ended.IsZero(), instant(run.Ended)+" (after "+duration(run.Ended.Sub(run.Started))+")")},
	}
	for _, t := range run.Resumed {
		facts = append(facts, fact{"Resumed", instant(t)})
	}
	return group("Run", append(facts, fact{"Command", command(run.Command)}, fact{"Hash of the profile", run.Hash},
		fact{"Seed", strconv.FormatUint(run.Seed, 10)}, fact{"Service folders", strings.Join(run.Services, ", ")})...)
}

func machineFacts(run bench.Run) factGroup {
	m, s := run.Machine, run.Software
	swap := int64(0)
	if m.SwapUsed != nil {
		swap = *m.SwapUsed
	}
	return group("Machine and software", []fact{
		{"System", strings.TrimSpace(m.OS + "/" + m.Arch + " " + m.Kernel)},
		{"CPUs", units.Plural(m.CPUs, "CPU") + when(m.CPUModel != "", ", "+m.CPUModel)},
		{"Who runs on which CPUs", run.Isolated.String()},
		{"Memory", when(m.MemoryBytes > 0, mebibytes(m.MemoryBytes))},
		{"CPU governor", m.Governor}, {"Turbo", m.Turbo}, {"SMT", m.SMT}, {"Virtualisation", m.Virtual},
		{"Swap in use", when(swap > 0, mebibytes(swap))},
		{"Other containers", m.OtherContainers},
		{"cgroup", when(m.CgroupVersion > 0, "v"+strconv.Itoa(m.CgroupVersion))},
		{"Load before the run (1 min)", m.Load1},
		{"locbench", s.Locbench}, {"Go", s.Go}, {"Docker", when(s.Docker != "", s.Docker+", API "+s.DockerAPI)},
		{"Elasticsearch", s.Elasticsearch},
		{"Store", strings.TrimSpace(string(run.Store.Kind) + " " + run.Store.Version)},
		{"Certificates", trusted(run.TLS)},
		{"Store address", run.Store.URL}, {"Store address, as contenders see it", run.Store.Seen},
		{"Data", when(run.Data.Name != "", fmt.Sprintf("%s: %s cities, %s regions", run.Data.Name,
			count(int64(run.Data.Cities)),
			count(int64(run.Data.Regions))))},
		{"Data hash", run.Data.Hash},
	}...)
}

func profileFacts(p bench.Profile) factGroup {
	facts := []fact{
		{"Name", p.Name}, {"Title", p.Title}, {"Description", p.Description}, {"Runtime", string(p.Runtime)},
		{"Rounds", strconv.Itoa(p.Rounds)}, {"Limits", limits(p.Limits)},
		{"Latency added by the store", when(p.Store.Latency > 0,
			"median "+p.Store.Latency.String()+when(p.Store.P99 > 0, ", p99 "+p.Store.P99.String()))},
	}
	for _, r := range p.Requests {
		facts = append(facts, fact{"Request", requestWords(r)})
	}
	var steps []string
	for _, s := range p.Steps {
		steps = append(steps, cleanName(s.Words())+" for "+s.Duration.String())
	}
	return group("Profile", append(facts, fact{"Request time-out", when(p.Timeout > 0, p.Timeout.String())},
		fact{"Steps", strings.Join(repeated(steps), ", ")}, fact{"Check suites", strings.Join(p.Checks.Suites, ", ")},
		fact{"Price of a vCPU-hour", when(p.PriceVCPUHr > 0, "$"+plain(p.PriceVCPUHr))})...)
}

func contenderFacts(l layout) factGroup {
	var facts []fact
	for _, c := range l.contenders {
		leg := c.of.Results[0]
		parts := []string{strings.Join(leg.Service.Tags, ", ")}
		if i := leg.Instance; i != nil {
			parts = append(parts, "runtime "+string(i.Runtime), when(len(i.CPUSet) > 0, "CPU set "+i.CPUSet.String()),
				when(i.ImageID != "", "image "+i.ImageID))
		}
		a := leg.Artifact
		parts = append(parts, when(a.Sources != "", "sources "+a.Sources),
			when(a.ImageSize > 0, "image of "+mebibytes(a.ImageSize)),
			when(a.ImageSize <= 0 && a.BinarySize > 0, "binary of "+mebibytes(a.BinarySize)),
			when(a.BuildTime > 0, "built in "+duration(a.BuildTime)),
			when(leg.Service.Unverified != "", "unverified: "+leg.Service.Unverified))
		facts = append(facts, fact{c.Label, strings.Join(append([]string{c.About}, known(parts...)...), "; ")})
	}
	return group("Contenders", facts...)
}

// known are those of the texts that say something.
func known(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

func limits(l bench.Limits) string {
	return cmp.Or(strings.Join(known(
		when(l.CPUs > 0, plain(l.CPUs)+" CPUs"), when(l.CPUSet > 0, "on up to "+strconv.Itoa(l.CPUSet)+" CPUs"),
		when(l.Memory > 0, mebibytes(l.Memory)+" memory, no swap"),
		when(l.PIDs > 0, count(l.PIDs)+" processes and threads"),
	), ", "), "none")
}

func requestWords(r bench.Request) string {
	return r.Method + " " + r.Path + when(r.IDs.Distribution != "", ", ids "+r.IDs.Distribution) +
		when(r.Weight > 0, ", weight "+strconv.Itoa(r.Weight)) +
		when(r.ExpectStatus > 0, ", expects "+strconv.Itoa(r.ExpectStatus))
}

// repeated writes equal neighbours once: "5 × warm-up 1 connection for 10s".
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

// command quotes arguments that need it.
func command(argv []string) string { return safe.Shell(argv) }

// definitions say what each measure is, in which unit, and who counted it.
func definitions(p bench.Profile) []fact {
	var facts []fact
	add := func(more ...fact) { facts = append(facts, more...) }
	for _, m := range measure.All() {
		if d := m.Definition; d.Term != "" {
			add(fact{d.Term, d.Text})
		}
		switch m.ID {
		case measure.PeakTime:
			add(fact{"Still warming, not steady", "a measured step whose windows go one way: a straight line through the " +
				"throughput, or through the CPU time per request, of its seconds changes by more than 3 % over the step, and " +
				"by more than noise makes it in 1 % of steps (5 % with fewer than six windows; Student's t). Such a step " +
				"takes part in no claim. Possibly: the same in the first step after a warm-up, where noise may have made " +
				"the trend; it takes part."})
		case measure.Throttled:
			add(fact{"Cumulative", "successes since the beginning of the load over CPU seconds since the start of the " +
				"contender, start-up and checks included."})
		}
	}
	add(
		fact{"Cost ($ per 10⁹ requests)", "CPU seconds / successes × 10⁹ / 3600 × price of a vCPU-hour" +
			priceWords(p.PriceVCPUHr) + ". Everything but the CPU time is left out: it is for comparison, not a bill."},
		fact{"Peak", "the measured step (no warm-up) with the highest throughput. It is one of the steps that were run: " +
			"the true maximum may lie between two of them."},
		fact{"Median, interval", "of the values of the rounds, one of each. The interval has 95 % confidence at least " +
			"and asks nothing of the distribution: it lies between two of the values in order of size, the lowest and the " +
			"highest of six. With fewer than six rounds there is none."},
		fact{"Ahead, tier", "Mann-Whitney's exact test on the rounds of each pair of contenders, p values adjusted by " +
			"Holm over all pairs of the measure, 5 % for any false difference; and the 95 % interval of the ratio (Hodges " +
			"and Lehmann) leaves 1 out. Each measure is a family of its own. A contender that was bound by the client, " +
			"had 1 % of errors or more at its peak, was still warming up there, or had a failed round, is not compared."},
		fact{"The same", "the whole interval of the ratio lies within ±3 %."},
		fact{"Bound by", "what the counters at the two ends of a step, and the other steps of the same leg, show to " +
			"have been used up."},
		fact{missing, "not measured, or not measurable there. It is never the same as 0."},
	)
	if p.Turns > 0 {
		facts = append(facts, fact{"In turns", "the contenders of a round were alive at the same time, and in each step " +
			"the load went from one to the next after " + units.Duration(p.Turns) + ", so that what the machine did met " +
			"all alike. All figures of a step are of the contender's own turns, put together as if nothing had been in " +
			"between. Where all took turns to the end, round is set against round: Wilcoxon's signed-rank test, and " +
			"Hodges and Lehmann's interval of the ratio of pairs, in place of Mann-Whitney's."})
	}
	return facts
}

func priceWords(price float64) string {
	if price <= 0 {
		price = stats.DefaultPrice
	}
	return " ($" + plain(price) + ")"
}

// trusted says whose certificates were accepted; "" where they were checked against those of the
// system.
func trusted(t *bench.TLS) string {
	switch {
	case t == nil:
		return ""
	case t.Insecure:
		return "not checked (--insecure)"
	}
	return "also those of " + t.CACert + " (--cacert)"
}
