package contenders

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/safe"
)

// faults returns what failed in a trial, the gravest first.
func faults(trial bench.TrialResult) (wrong []string) {
	if trial.State != bench.TrialComplete {
		wrong = append(wrong, cmp.Or(trial.Failure, "trial "+string(trial.State)))
	}
	if trial.Instance != nil && !trial.Instance.LimitsEnforced {
		wrong = append(wrong, "limits not enforced: "+trial.Instance.LimitsNote)
	}
	checked := map[string]bool{}
	for _, c := range trial.Checks {
		if c.Status == bench.CheckFailed {
			wrong = append(wrong, fmt.Sprintf("check %s %s: %s", c.Group, c.Name, c.Detail))
		}
		if c.Status == bench.CheckPassed {
			checked[c.Group] = true
		}
	}
	if trial.State == bench.TrialComplete {
		for _, group := range trial.Service.Endpoints {
			if !checked[group] {
				wrong = append(wrong, "no passing check in "+group)
			}
		}
		wrong = append(wrong, unseen(trial)...)
	}
	wrong = append(wrong, memoryFaults(trial)...)
	for _, s := range trial.Steps {
		if n := s.Load.FailedTotal(); n > 0 {
			var kinds []string
			for kind, count := range s.Load.Failed {
				kinds = append(kinds, fmt.Sprintf("%s %d", kind.Words(), count))
			}
			slices.Sort(kinds)
			wrong = append(wrong, fmt.Sprintf("load %s: %d of %d requests failed (%s)",
				s.Step.Name, n, s.Load.Sent, strings.Join(kinds, ", ")))
		}
	}
	return wrong
}

// unseen returns the lifecycle checks without a result. Failed checks are not among them: faults
// lists those.
func unseen(trial bench.TrialResult) (wrong []string) {
	for _, name := range []string{
		bench.CheckNoEnvironment, bench.CheckNoNeeds, bench.CheckLogsPort, bench.CheckLogsRequests, bench.CheckStillResponds,
		bench.CheckStops,
	} {
		at := slices.IndexFunc(trial.Checks, func(c bench.CheckResult) bool {
			return c.Group == check.GroupLifecycle && c.Name == name
		})
		silent := name == bench.CheckLogsRequests && trial.Service.Env["ACCESS_LOG"] == "off"
		switch {
		case at < 0:
			wrong = append(wrong, "lifecycle not checked: no result of "+name)
		case trial.Checks[at].Status == bench.CheckSkipped && !silent:
			wrong = append(wrong, fmt.Sprintf("lifecycle not checked: %s was skipped: %s",
				name, trial.Checks[at].Detail))
		}
	}
	return wrong
}

// memoryFaults returns the signs that the contender needed more memory than its limit. If the limit
// is enforced the kernel kills one of its processes, and another may continue.
func memoryFaults(trial bench.TrialResult) (wrong []string) {
	var kills, peak, limit int64
	read := func(u *bench.Usage) {
		if u != nil && u.Memory != nil {
			kills, peak, limit = max(kills, u.Memory.OOMKills), max(peak, u.Memory.Peak), max(limit, u.Memory.Limit)
		}
	}
	for _, s := range trial.Steps {
		read(s.Before)
		read(s.After)
	}
	if kills > 0 {
		wrong = append(wrong, fmt.Sprintf("out of memory: the kernel killed %s", units.Plural(kills, "process")))
	}
	if limit > 0 && peak > limit {
		wrong = append(wrong, fmt.Sprintf("used %s of memory, above its limit of %s",
			units.Bytes(peak), units.Bytes(limit)))
	}
	return wrong
}

// writeOutcome prints the outcome of verification: faults, checks, and some results.
func writeOutcome(w io.Writer, trial bench.TrialResult, wrong []string) {
	outcome := "verified"
	if len(wrong) > 0 {
		outcome = "FAILED"
	}
	fmt.Fprintf(w, "%s: %s\n", trial.Trial.Label(), outcome)
	for _, text := range wrong {
		fmt.Fprintf(w, "  ✗ %s\n", safe.Line(text, 600))
	}
	var groups []string
	counts := map[string]map[bench.CheckStatus]int{}
	for _, c := range trial.Checks {
		served := c.Group == check.GroupLifecycle || slices.Contains(trial.Service.Endpoints, c.Group)
		if c.Status == bench.CheckSkipped && !served {
			continue
		}
		if counts[c.Group] == nil {
			groups = append(groups, c.Group)
			counts[c.Group] = map[bench.CheckStatus]int{}
		}
		counts[c.Group][c.Status]++
	}
	for _, g := range groups {
		text := fmt.Sprintf("%d passed", counts[g][bench.CheckPassed])
		for _, s := range []bench.CheckStatus{bench.CheckFailed, bench.CheckSkipped} {
			if n := counts[g][s]; n > 0 {
				text += fmt.Sprintf(", %d %s", n, s)
			}
		}
		fmt.Fprintf(w, "  %-20s %s\n", safe.Line(g, 60), text)
	}
	var memory int64
	for _, s := range trial.Steps {
		if s.After != nil && s.After.Memory != nil {
			memory = max(memory, s.After.Memory.Peak)
		}
	}
	if n := len(trial.Steps); n > 0 && trial.Steps[n-1].Load.Throughput() > 0 {
		last := trial.Steps[n-1]
		fmt.Fprintf(w, "  %-20s %s/s with %d connections (not a benchmark)\n",
			"short load", units.Number(last.Load.Throughput()), last.Step.Connections)
	}
	var start, stop bench.Duration
	if trial.StartUp != nil {
		start = *trial.StartUp
	}
	if trial.Stop != nil {
		stop = trial.Stop.Took
	}
	for _, f := range []struct{ name, text string }{
		{"image", known(trial.Artifact.ImageSize, units.Bytes)}, {"start-up", known(start, units.Duration)},
		{"peak memory", known(memory, units.Bytes)}, {"stop", known(stop, units.Duration)},
	} {
		if f.text != "" {
			fmt.Fprintf(w, "  %-20s %s\n", f.name, f.text)
		}
	}
	if len(wrong) > 0 {
		for _, l := range trial.LastLog {
			fmt.Fprintf(w, "  log  %s\n", safe.Line(l.Text, 300))
		}
	}
}

// known returns the text of v, or "" if v is unknown.
func known[T int64 | bench.Duration](v T, words func(T) string) string {
	if v <= 0 {
		return ""
	}
	return words(v)
}
