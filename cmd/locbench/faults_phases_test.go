//go:build acceptance && faults && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// phased is a contender that misbehaves in one phase.
type phased struct {
	fault, when string
	deaf        bool            // it ignores SIGTERM
	kind        bench.CauseKind // "": the trial is complete
	says        string          // the cause as a predicate at its beginning, or the warning; a pattern
}

func (p phased) name() string {
	name := p.fault + " in " + p.when
	if p.deaf {
		name += " and deaf"
	}
	return name
}

// TestContender_FirstSentence: what the contender did in a phase is the first sentence about it in run.json and in the
// text. Plain tests have the other outputs.
func TestContender_FirstSentence(t *testing.T) {
	const (
		died   = `^died: exit code 7, .* after its start: fatal: invariant broken`
		killed = `^was killed out of memory at 64 MiB \(limits\.memory\), .* after its start`
		hungUp = `^was not ready after 2s: GET /: `
	)
	all := []phased{
		{fault: "hang", when: "start", kind: bench.CauseNotReady, says: hungUp + "connection refused"},
		{fault: "hang", when: "ready", kind: bench.CauseNotReady, says: hungUp},
		{fault: "hang", when: "ready", deaf: true, kind: bench.CauseNotReady, says: hungUp},
		{fault: "hang", when: "setup", kind: bench.CauseSilent, says: `^did not respond during the setup: `},
		{fault: "hang", when: "setup", deaf: true, kind: bench.CauseSilent, says: `^did not respond during the setup: `},
		{fault: "hang", when: "first", kind: bench.CauseSilent, says: `^did not respond before the load: sent GET /item`},
		{fault: "hang", when: "warm-up", kind: bench.CauseSilent, says: `^had no success in 2 consecutive steps`},
		{fault: "hang", when: "load", kind: bench.CauseSilent, says: `^did not respond after the load: GET /: `},
		{fault: "hang", when: "after", kind: bench.CauseSilent, says: `^did not respond after the load: GET /: `},
		{fault: "hang", when: "after", deaf: true, kind: bench.CauseSilent, says: `^did not respond after the load: GET /: `},
		{fault: "hang", when: "teardown", deaf: true, kind: bench.CauseSilent,
			says: `^did not respond to the teardown, did not stop on SIGTERM and was killed`},
		{fault: "hang", when: "stop", kind: bench.CauseHung, says: `^did not stop within 15s of SIGTERM, which it handles, and was killed`},
		{fault: "slow", when: "stop"},
		{fault: "none", when: "stop", deaf: true, says: `did not stop within 15s of SIGTERM and was killed \(SIGKILL\)`},
	}
	for fault, kind := range map[string]bench.CauseKind{"exit": bench.CauseExited, "oom": bench.CauseKilled} {
		says := map[string]string{"exit": died, "oom": killed}[fault]
		for _, when := range []string{"start", "ready", "setup", "first", "warm-up", "load", "after", "teardown", "stop"} {
			if fault != "exit" || when != "stop" { // an exit at SIGTERM is a stop
				all = append(all, phased{fault: fault, when: when, kind: kind, says: says})
			}
		}
	}
	runtimes(t, func(t *testing.T, runtime string) {
		for _, p := range all {
			if runtime == "docker" && p.fault != "oom" && p.when != "stop" && p.when != "load" { // the rest is the same
				continue
			}
			if runtime == "process" && p.fault == "oom" && os.Getuid() != 0 {
				continue // only root can limit the memory of a process
			}
			t.Run(p.name(), func(t *testing.T) {
				t.Parallel()
				p.runs(t, runtime)
			})
		}
	})
}

func (p phased) runs(t *testing.T, runtime string) {
	when, after, first, second := p.when, never, "", ""
	switch p.when {
	case "first":
		when, after, first = "", 2, "first_requests: {requests: 2}\n"
	case "warm-up":
		when, after = "", 20
	case "load":
		when, second = "", "{connections: 3, duration: 10s}, "
	}
	env := map[string]string{"FAULT": p.fault, "WHEN": when, "AFTER": fmt.Sprint(after)}
	if p.deaf {
		env["DEAF"] = "1"
	}
	services := made(t, "faulty", env, nil)
	editFile(t, filepath.Join(services, "service.yaml"), `"timeout":"10s"`, `"timeout":"2s"`)
	profile := profileFile(t, `contenders: [faulty]
rounds: 1
runtime: `+runtime+`
`+quarter+`isolation: off
requests: [{name: item, path: /item}]
setup: [{name: setup, path: /setup}]
teardown: [{name: teardown, path: /teardown}]
`+first+`timeout: 500ms
checks: {lifecycle: none, suites: []}
steps: [{connections: 1, duration: 1s, warm_up: true}, {connections: 2, duration: 1s}, `+second+`{connections: 4, duration: 1s}]
`)
	code := 3
	if p.kind == "" {
		code = 0
	}
	d := disturb(t, nil, "run", "--headless", "--services", services, "-p", profile)
	if p.when == "load" { // after a good measured step
		misbehave(t, d.loaded(2))
	}
	run, trials := d.ends(code)
	trial := trials[0]
	if p.when == "load" && (len(trial.Steps) < 3 || trial.Steps[1].Load.Succeeded == 0 || trial.Steps[1].Load.FailedTotal() > 0) {
		t.Errorf("no good step before the fault: %+v", trial.Steps)
	}
	if got := trial.Cause; p.kind != "" && (got == nil || got.Kind != p.kind) || p.kind == "" && got != nil {
		t.Fatalf("%s, cause %+v", states(trials), got)
	}
	if p.kind == "" {
		hung := trial.Warnings.Has(bench.WarnHung)
		testenv.Check(t, hung == p.deaf && trial.Stop != nil && trial.Stop.Graceful != hung && trial.State == bench.TrialComplete,
			"%s, warned: %v, stop %+v", states(trials), hung, trial.Stop)
		for name, text := range map[string]string{"warnings": trial.Warnings.Join("\n"), "text": d.stdout.String() + d.stderr.String()} {
			testenv.Check(t, regexp.MustCompile(p.says).MatchString(strings.Join(strings.Fields(text), " ")), "%s: no %q in %s", name, p.says, text)
		}
		return
	}
	sentence := trial.Cause.Predicate()
	testenv.Check(t, regexp.MustCompile(p.says).MatchString(sentence), "the cause is %q, want %q", sentence, p.says)
	x := run.Trials[0].Excluded
	testenv.Check(t, x != nil && x.Cause != nil && *x.Cause == *trial.Cause, "run.json: excluded %+v", x)
	says(t, "standard output", strings.Join(strings.Fields(d.stdout.String()), " "), "faulty is excluded: it "+sentence[:min(len(sentence), 40)])
}
