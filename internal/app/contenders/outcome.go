package contenders

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/safe"
)

// verifiedState returns the outcome of verification by a trial.
func verifiedState(run bench.Run, trial bench.TrialResult, svc bench.Service) (contender.Verified, error) {
	hash, err := contender.SourceHash(svc)
	if err != nil {
		return contender.Verified{}, err
	}
	v := contender.Verified{
		Sources: hash, When: trial.Started.UTC(), Locbench: run.Software.Locbench,
		Kernel: run.Machine.Kernel, Arch: run.Machine.Arch, Engine: "Docker " + run.Software.Docker,
		Store:     fmt.Sprintf("%s, Elasticsearch %s", run.Store.Kind, run.Store.Version),
		Limits:    fmt.Sprintf("%g CPUs, %s", run.Profile.Limits.CPUs, units.Bytes(run.Profile.Limits.Memory)),
		ImageSize: trial.Artifact.ImageSize,
	}
	// The duration of a build from the engine's cache is meaningless.
	r, ok := contender.LastBuild(svc, bench.RuntimeDocker, contender.BuildOptions{})
	if ok && r.NoCache && r.Of(trial.Artifact) {
		v.BuildTime = r.BuildTime
	}
	if trial.StartUp != nil {
		v.StartUp = *trial.StartUp
	}
	if trial.Stop != nil {
		v.Stop = trial.Stop.Took
	}
	counts := map[bench.CheckStatus]int{}
	for _, c := range trial.Checks {
		counts[c.Status]++
	}
	v.Passed, v.Failed, v.Skipped = counts[bench.CheckPassed], counts[bench.CheckFailed], counts[bench.CheckSkipped]
	for _, s := range trial.Steps {
		v.Throughput = s.Load.Throughput()
		v.Connections = max(v.Connections, s.Step.Connections)
		if s.After != nil && s.After.Memory != nil {
			v.Memory = max(v.Memory, s.After.Memory.Peak)
		}
	}
	if wrong := faults(trial); len(wrong) > 0 {
		v.Failure = safe.Line(wrong[0], 300)
		if len(wrong) > 1 {
			v.Failure += fmt.Sprintf(" (and %d more)", len(wrong)-1)
		}
	}
	return v, nil
}

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
		bench.CheckNoEnvironment, bench.CheckNoStore, bench.CheckLogsPort, bench.CheckLogsRequests, bench.CheckStillResponds,
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
func writeOutcome(w io.Writer, trial bench.TrialResult, v contender.Verified) {
	outcome := "verified"
	if v.Failure != "" {
		outcome = "FAILED"
	}
	fmt.Fprintf(w, "%s: %s\n", trial.Trial.Label(), outcome)
	for _, text := range faults(trial) {
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
	if v.Throughput > 0 {
		last := trial.Steps[len(trial.Steps)-1].Step
		fmt.Fprintf(w, "  %-20s %s/s with %d connections (not a benchmark)\n",
			"short load", units.Rate(v.Throughput), last.Connections)
	}
	for _, f := range []struct{ name, text string }{
		{"image", known(v.ImageSize, units.Bytes)}, {"build", known(v.BuildTime, units.Duration)},
		{"start-up", known(v.StartUp, units.Duration)}, {"peak memory", known(v.Memory, units.Bytes)},
		{"stop", known(v.Stop, units.Duration)},
	} {
		if f.text != "" {
			fmt.Fprintf(w, "  %-20s %s\n", f.name, f.text)
		}
	}
	if v.Failure != "" {
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
