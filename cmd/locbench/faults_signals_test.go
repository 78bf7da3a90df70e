//go:build acceptance && faults && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSignal_EachPhase ends locbench in every phase by the signals that people, machines and closing
// terminals send. Measured results are kept, everything that was started is gone (after a SIGKILL:
// after clean), and --resume completes the run. The SIGHUPs of a closing terminal, one from the
// kernel and one from the shell, change nothing of a run that stops; a second signal forces it.
func TestSignal_EachPhase(t *testing.T) {
	stops := func(signal syscall.Signal) func(*disturbed, string) {
		return func(d *disturbed, phase string) {
			d.endsBy(signal, phase)
			d.resumes()
		}
	}
	ends := []struct {
		name string
		end  func(d *disturbed, phase string)
	}{
		{"SIGINT", stops(syscall.SIGINT)}, {"SIGTERM", stops(syscall.SIGTERM)}, {"SIGKILL", stops(syscall.SIGKILL)},
		{"SIGINT and a closing terminal", func(d *disturbed, phase string) {
			d.signal(syscall.SIGINT)
			testenv.Until(d.t, time.Minute, "the signal is handled", func() bool {
				return strings.Contains(d.stderr.String(), "stopping gracefully")
			})
			for range 2 {
				_ = d.cmd.Process.Signal(syscall.SIGHUP) // it may have ended by now
				time.Sleep(2 * time.Millisecond)
			}
			d.interrupted(phase)
		}},
		{"SIGINT and SIGTERM", func(d *disturbed, _ string) {
			d.signal(syscall.SIGINT)
			time.Sleep(10 * time.Millisecond)
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			run, _ := d.ends(130, "interrupted")
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
		}},
	}
	runtimes(t, func(t *testing.T, runtime string) {
		for i, phase := range []bench.Phase{bench.PhaseNeeds, bench.PhaseSeed, bench.PhaseBuild, bench.PhaseCheck, bench.PhaseLaunch,
			bench.PhaseReady, "load", bench.PhaseStop} {
			for k, c := range ends {
				// Every second one in each runtime. Without Docker all are processes.
				if testenv.Engine() == nil && (i+k)%2 == 0 != (runtime == "docker") {
					continue
				}
				t.Run(string(phase)+" "+c.name, func(t *testing.T) {
					t.Parallel()
					args := []string{"run", "--headless", "-p", small(t, "go-nethttp", runtime), "--duration", "1s"}
					if phase != bench.PhaseCheck {
						args = append(args, "--no-checks") // checks take a while
					}
					if phase != bench.PhaseStop { // too short to hit reliably
						args = append(args, "--rounds", "1")
					}
					d, reached := disturb(t, nil, args...), phaseStarted(phase)
					if phase == "load" {
						reached = stepStarted(1)
					}
					d.waitEvent(d.out, reached)
					c.end(d, string(phase))
				})
			}
		}
	})
}

// TestSignal_DeafContender: a run waits for a contender that ignores the request to stop, and kills
// it, whatever a closing terminal sends. A second signal makes locbench kill what does not stop and
// remove everything, and the record is true. A third one ends it at once, and the record still says
// how the run ended.
func TestSignal_DeafContender(t *testing.T) {
	stopped := func(d *disturbed, s syscall.Signal) {
		d.signal(s)
		testenv.Until(d.t, time.Minute, "the stop is recorded", func() bool { return runState(d.out) == bench.RunInterrupted })
	}
	forced := func(second syscall.Signal) func(d *disturbed) {
		return func(d *disturbed) {
			stopped(d, syscall.SIGINT)
			d.signal(second)
			run, trials := d.ends(130, "stopping gracefully", "killing; press again")
			// By force, not by the timeout of 15 s.
			if run.State != bench.RunInterrupted || len(trials) != 1 || !trials[0].Stop.Forced ||
				strings.Contains(d.stderr.String(), "did not stop within") {
				d.t.Errorf("run %s, %s; it said:\n%s", run.State, states(trials), d.stderr.String())
			}
		}
	}
	ends := map[string]func(d *disturbed){
		"SIGINT": forced(syscall.SIGINT), "SIGTERM": forced(syscall.SIGTERM),
		"closing terminal": func(d *disturbed) {
			stopped(d, syscall.SIGHUP)
			for range 3 {
				time.Sleep(300 * time.Millisecond)
				d.signal(syscall.SIGHUP)
			}
			run, _ := d.ends(130, "SIGHUP: stopping gracefully", "SIGTERM and was killed")
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
		},
		"thrice": func(d *disturbed) {
			stopped(d, syscall.SIGINT)
			d.signal(syscall.SIGKILL)
			d.wait(time.Minute)
			run, _ := read(d.t, d.out)
			testenv.Equal(d.t, run.State, bench.RunInterrupted)
			d.cleaned(run.ID)
		},
	}
	runtimes(t, func(t *testing.T, runtime string) {
		for name, end := range ends {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := disturb(t, nil, "run", "--headless", "-p", small(t, "faulty", runtime), "--services", faulty(t, "deaf", 0), "--duration", "60s")
				d.waitEvent(d.out, stepStarted(0))
				end(d)
			})
		}
	})
}

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
	testenv.Contains(t, strings.Join(strings.Fields(d.stdout.String()), " "), "faulty is excluded: it "+sentence[:min(len(sentence), 40)])
}

// TestLoadProcess_Killed kills the process of the load, the run, or both, before the first step and
// in the second one. A killed load fails its trial in words, and the next trial has another process;
// with the run its load ends. Finished steps are kept, nothing is left, and --resume completes the run.
func TestLoadProcess_Killed(t *testing.T) {
	for _, of := range []string{"load", "run", "both"} {
		for step := range 2 {
			t.Run(fmt.Sprint(of, " in step ", step+1), func(t *testing.T) {
				t.Parallel()
				d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "process", 2, "1 for 2s, 2 for 9s, 4"))
				if step == 0 {
					d.waitEvent(d.out, stepStarted(0))
				} else {
					d.loaded(step)
				}
				loads := 0
				testenv.Until(t, time.Minute, "a process of the load", func() bool { loads = testenv.LoadProcess(t, d.cmd.Process.Pid); return loads > 0 })
				if of != "run" {
					testenv.OK(t, syscall.Kill(loads, syscall.SIGKILL))
				}
				if of == "load" {
					const words = "the load's process ended: signal: killed"
					run, trials := d.ends(3, words)
					testenv.Check(t, run.State == bench.RunComplete && len(trials) == 2 && trials[0].State == bench.TrialFailed && trials[1].State == bench.TrialComplete &&
						strings.Contains(trials[0].Failure, words) && len(trials[0].Steps) >= step, "run %s: %s", run.State, states(trials))
				} else {
					d.endsBy(syscall.SIGKILL, map[int]string{1: "load"}[step])
				}
				testenv.Until(t, time.Minute, "the process of the load is gone", func() bool { return syscall.Kill(loads, 0) != nil })
				d.resumes()
			})
		}
	}
}
