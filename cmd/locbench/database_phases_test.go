//go:build acceptance && database && linux

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestNeed_EachPhase ends locbench while its database starts, is seeded, kept, restored and used.
// After a signal nothing is left, after SIGKILL clean leaves nothing, and --resume completes the
// run.
func TestNeed_EachPhase(t *testing.T) {
	started := func(n int) func(*observer, *disturbed) {
		return func(o *observer, d *disturbed) {
			o.until(d, "the container starts", func() bool { return o.count("start") >= n })
		}
	}
	event := func(match func(bench.Record) bool) func(*observer, *disturbed) {
		return func(_ *observer, d *disturbed) { d.waitEvent(d.out, match) }
	}
	for i, c := range []struct {
		name    string
		reach   func(*observer, *disturbed)
		resumed bool
	}{
		{"start", started(1), false},
		{"seed of its image", func(o *observer, d *disturbed) {
			o.until(d, "it is seeded", func() bool { return strings.Contains(strings.Join(o.outputs(), ""), "seeding") })
		}, false},
		{"seed", event(phaseStarted(bench.PhaseSeed)), false},
		{"keep", event(phaseStarted(bench.PhaseRestore)), false},
		{"copy", func(o *observer, d *disturbed) {
			o.until(d, "it is copied", func() bool { return o.count("destroy") >= 1 && o.count("create") >= 3 })
		}, true},
		{"start again", started(2), false},
		{"launch", event(phaseStarted(bench.PhaseLaunch)), false},
		{"load", event(stepStarted(1)), true},
		{"stop", event(phaseStarted(bench.PhaseStop)), false},
		{"restore", event(when(func(e bench.PhaseEnded) bool { return e.Phase == bench.PhaseStop })), false},
		{"start of the second round", started(3), false},
	} {
		for k, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(c.name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				o := observe(t, postgresImage(t), "until [ -e /tmp/seeding ]; do sleep 0.1; done; echo seeding")
				dir := o.profile(t, "connect", "environment: {POSTGRES_HOST_AUTH_METHOD: trust}\n"+
					"seed: [slow.sh, {command: [sleep, \"3\"]}]", "")
				editFile(t, filepath.Join(dir, "p.yaml"), "[1 for 300ms]", "[1 for 300ms, 1 for 2s]")
				if (i+k)%2 == 1 {
					editFile(t, filepath.Join(dir, "p.yaml"), "runtime: process", "runtime: docker")
				}
				writeFile(t, filepath.Join(dir, "slow.sh"), "touch /tmp/seeding\nsleep 2\n")
				d := disturbIn(t, dir, nil, "run", "--headless", "-p", "p.yaml")
				c.reach(o, d)
				d.endsBy(signal, strings.ReplaceAll(c.name, "load", "load of a need"))
				o.nothingLeft(t)
				if c.resumed {
					d.resumes()
					o.nothingLeft(t)
				}
			})
		}
	}
}

// until waits for something outside of locbench while it runs.
func (o *observer) until(d *disturbed, what string, is func() bool) {
	d.t.Helper()
	testenv.Until(d.t, 3*time.Minute, what, func() bool {
		select {
		case <-d.done:
			d.t.Fatalf("it ended before %s; it said:\n%s", what, d.stderr.String())
		default:
		}
		return is()
	})
}
