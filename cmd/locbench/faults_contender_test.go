//go:build acceptance && faults && linux

package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

// TestContenderHarmedFromOutside does to the contender's container, in the second of three steps,
// what people and kernels do.
func TestContenderHarmedFromOutside(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		harm  func(t *testing.T, info bench.InstanceInfo, network string)
		words []string // of standard error, the leg's failure and the summary
		kind  bench.IncidentKind
		steps int // on record
		lost  string
	}{
		{"killed", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "kill", info.ID) },
			[]string{"killed by SIGKILL"}, "", 2, "ended in step 2 after"},
		{"restarted", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "restart", "-t", "0", info.ID) },
			[]string{"the contender died"}, "", 2, "ended in step 2 after"},
		{"removed", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "rm", "-f", info.ID) },
			[]string{"the contender died"}, "", 2, "ended in step 2 after"},
		{"paused", func(t *testing.T, info bench.InstanceInfo, _ string) { dockerDo(t, "pause", info.ID) },
			[]string{"paused from outside"}, bench.IncidentPaused, 3, "not measured: 8 connections"},
		{"network disconnected", func(t *testing.T, info bench.InstanceInfo, network string) {
			dockerDo(t, "network", "disconnect", "--force", network, info.ID)
		}, []string{"not one success in 2 steps of load in a row"}, "", 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rounds := 1
			if c.name == "killed" {
				rounds = 2 // the next life goes on
			}
			d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "docker", rounds, 1, 1, 2, 4, 8))
			d.instance(0)
			now, _ := read(t, d.out)
			network := dockerDo(t, "network", "ls", "-q", "--filter", "label=locbench.run="+now.ID)
			c.harm(t, d.loaded(1), network)
			words, said := c.words, c.words
			if c.lost != "" {
				words, said = append(slices.Clone(c.words), "lost  "), append(slices.Clone(c.words), "Lost: ")
			}
			run, legs := d.ends(3, words...)
			state := bench.RunFailed
			if rounds == 2 {
				state = bench.RunComplete
			}
			if run.State != state || len(legs) != rounds || legs[0].State != bench.LegFailed || rounds == 2 && legs[1].State != bench.LegComplete {
				t.Fatalf("run %s, %d legs: %s", run.State, len(legs), states(legs))
			}
			leg := legs[0]
			says(t, "the leg's failure", leg.Failure, c.words...)
			if len(leg.Steps) != c.steps || leg.Steps[0].Aborted != "" || leg.Steps[0].Load.Succeeded == 0 || leg.Steps[0].Load.FailedTotal() > leg.Steps[0].Load.Failed[bench.ErrTimeout] {
				t.Errorf("%d steps on record, want %d with a whole first one", len(leg.Steps), c.steps)
			}
			if c.lost != "" && (leg.Lost == nil || !strings.Contains(leg.Lost.String(), c.lost)) {
				t.Errorf("lost: %v, want %q", leg.Lost, c.lost)
			}
			if in, ok := incident(leg, c.kind); c.kind != "" && (!ok || in.Step == nil || *in.Step != 1) {
				t.Errorf("incidents %v, want one of kind %q in step 2", leg.Incidents, c.kind)
			}
			if c.steps > 2 {
				endsOnTime(t, leg.Steps[1:])
			}
			d.reported(said...)
			d.resumes()
		})
	}
}

// endsOnTime wants steps that count the time-outs of a contender that does not answer, and end when
// they should: after the step's time and what was in flight then, with much room for a busy
// machine.
func endsOnTime(t *testing.T, steps []bench.StepResult) {
	t.Helper()
	for _, s := range steps {
		if took := s.Load.Elapsed; took > s.Step.Duration+5*time.Second {
			t.Errorf("%s of %v took %v", s.Step.Name, s.Step.Duration, took)
		}
		if s.Load.FailedTotal() == 0 {
			t.Errorf("%s: no request is counted as failed", s.Step.Name)
		}
	}
}

// TestPausedForAWhile is a pause that ends within the step: the leg goes on, and says so.
func TestPausedForAWhile(t *testing.T) {
	testenv.Docker(t)
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quietSteps(t, "go-nethttp", "docker", 1, "{connections: 2, duration: 15s}", "4"))
	info := d.loaded(0)
	dockerDo(t, "pause", info.ID)
	d.waitEvent(d.out, func(r bench.Record) bool {
		e, ok := r.Event.(bench.WindowClosed)
		return ok && e.Window.Failed[bench.ErrTimeout] > 0
	})
	dockerDo(t, "unpause", info.ID)
	_, legs := d.ends(0, "step 1: paused from outside", "the pause from outside has ended")
	leg := legs[0]
	if leg.State != bench.LegComplete || len(leg.Incidents) != 2 || leg.Lost != nil {
		t.Fatalf("leg %s, incidents %v, lost %v", leg.State, leg.Incidents, leg.Lost)
	}
	first := leg.Steps[0]
	if first.Load.Failed[bench.ErrTimeout] == 0 || !strings.Contains(first.Warnings.Join("\n"), "paused from outside") {
		t.Errorf("failed %v, warnings %q", first.Load.Failed, first.Warnings)
	}
	if len(leg.Steps[1].Warnings) > 0 && strings.Contains(leg.Steps[1].Warnings.Join("\n"), "paused") {
		t.Errorf("a step that was not paused says %q", leg.Steps[1].Warnings)
	}
	d.reported("paused from outside")
}

// TestStoppedProcess is a contender without a container that somebody has stopped by a signal, in
// the second of four steps. It is asked to end, and does so with code 0; the run does not.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "process", 1, 1, 1, 2, 4, 8))
	stopProcess(t, d.loaded(1))
	_, legs := d.ends(3, "stopped by a signal from outside (SIGSTOP)", "lost  ")
	if leg := legs[0]; leg.State != bench.LegFailed || len(leg.Steps) != 3 || leg.Stop == nil || leg.Stop.Killed {
		t.Errorf("leg %s, %d steps, stop %+v", leg.State, len(leg.Steps), leg.Stop)
	}
	endsOnTime(t, legs[0].Steps[1:])
	d.resumes()
}

func stopProcess(t *testing.T, info bench.InstanceInfo) {
	t.Helper()
	if err := syscall.Kill(info.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// TestStoppedProcessInTheLastSecond: a run that ends well has no request that suffered from the
// stop. One that comes after the last request (of a test that was late) harms none.
func TestStoppedProcessInTheLastSecond(t *testing.T) {
	t.Parallel()
	profile := quietSteps(t, "go-nethttp", "process", 1, "{connections: 2, duration: 4s}")
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	patient := profileFile(t, strings.Replace(string(text), "timeout: 500ms", "timeout: 3s", 1))
	d := disturb(t, nil, "run", "--headless", "-p", patient)
	d.waitEvent(d.out, func(r bench.Record) bool {
		e, ok := r.Event.(bench.WindowClosed)
		return ok && e.Window.Start == 2*time.Second
	})
	stopProcess(t, lastInstance(t, d.out))
	code := d.wait(2 * time.Minute)
	run, legs := read(t, d.out)
	d.clean(run.ID)
	suffered := legs[0].Steps[0].Load.FailedTotal() > 0
	switch {
	case suffered && (code != 3 || legs[0].State != bench.LegFailed):
		t.Errorf("exit code %d, %s", code, states(legs))
	case suffered:
		says(t, "standard error", d.stderr.String(), "stopped by a signal from outside (SIGSTOP)")
	case code != 0:
		t.Errorf("exit code %d of a run without a failed request", code)
	}
	t.Logf("requests suffered: %v, exit code %d", suffered, code)
}

// TestOutOfMemoryInAStep is a contender that asks for more than its limit in the second step.
// Mended, it is run again.
func TestOutOfMemoryInAStep(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		if runtime == "process" && os.Getuid() != 0 {
			t.Skip("only root can limit the memory of a process")
		}
		services := faulty(t, "oom", never)
		d := disturb(t, nil, "run", "--headless", "--services", services, "-p", quietSteps(t, "faulty", runtime, 1, "1", "{connections: 2, duration: 20s}", "4"))
		misbehave(t, d.loaded(1)) // it is killed as soon as the kernel gets to it, which ends the step
		_, legs := d.ends(3, "killed by SIGKILL (out of memory)", "ended early: the contender died", "lost  ", "not measured: 4 connections")
		leg := legs[0]
		if leg.Exit == nil || !leg.Exit.OOMKilled || len(leg.Steps) != 2 || !strings.Contains(leg.Steps[1].Aborted, "out of memory") {
			t.Errorf("exit %v, %d steps", leg.Exit, len(leg.Steps))
		}
		if in, ok := incident(leg, bench.IncidentOOM); runtime == "docker" && (!ok || in.Step == nil || *in.Step != 1) {
			t.Errorf("incidents %v", leg.Incidents)
		}
		d.reported("out of memory", "ended in step 2 after")
		mend(t, services)
		d.resumes("--services", services)
	})
}

// mend makes a faulty contender behave.
func mend(t *testing.T, services string) {
	t.Helper()
	path := filepath.Join(services, "service.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mended := strings.NewReplacer(`"oom"`, `"none"`, `"exit"`, `"none"`).Replace(string(text))
	if err := os.WriteFile(path, []byte(mended), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHangingStop is a contender that does all its work and does not end when it is asked to.
func TestHangingStop(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		d := disturb(t, nil, "run", "--headless", "--services", faulty(t, "deaf", never), "-p", small(t, "faulty", runtime), "--rounds", "1", "--duration", "300ms")
		_, legs := d.ends(0, "it hung when it was asked to stop", "SIGKILL")
		if leg := legs[0]; leg.State != bench.LegComplete || leg.Stop == nil || !leg.Stop.Killed || leg.Stop.Graceful || leg.Stop.Took < 14*time.Second {
			t.Errorf("leg %s, stop %+v", leg.State, leg.Stop)
		}
		d.reported("It hung when it was asked to stop")
	})
}

// TestAProcessListensOnLoopbackAlone: for the length of a leg nobody else reaches the built-in
// contender.
func TestAProcessListensOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", small(t, "go-nethttp", "process"), "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "20s")
	_, port, err := net.SplitHostPort(d.instance(0).Address)
	if err != nil {
		t.Fatal(err)
	}
	for host, open := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false} {
		t.Run(host, func(t *testing.T) { // of the same interface, but another address
			c, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), 5*time.Second)
			if err == nil {
				c.Close()
			}
			if (err == nil) != open {
				t.Errorf("at %s: %v", host, err)
			}
		})
	}
	d.signal(os.Interrupt)
	d.ends(130)
}
