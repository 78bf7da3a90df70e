//go:build acceptance && engine && unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/machine"
)

// TestRun_NextToAnother: the second run warns from its start, the first from its next trial on; a
// killed run is forgotten.
func TestRun_NextToAnother(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), []string{machine.RunsVariable + "=" + t.TempDir()}
	begin := func(out string, rounds string) *command {
		return startIn(t, dir, env, "run", "--headless", "-p", small(t, "go-nethttp", "process"), "--no-checks", "--rounds", rounds, "-o", out)
	}
	first := begin("first", "100")
	first.waitEvent(filepath.Join(dir, "first"), func(r bench.Record) bool { _, ok := r.Event.(bench.StepEnded); return ok })
	second := begin("second", "100")
	second.waitEvent(filepath.Join(dir, "second"), func(r bench.Record) bool { _, ok := r.Event.(bench.StepEnded); return ok })
	first.waitEvent(filepath.Join(dir, "first"), when(func(n bench.Notice) bool { return n.Kind == bench.WarnOtherRun }))
	first.signal(syscall.SIGINT)
	if code := first.wait(2 * time.Minute); code != 130 {
		t.Fatalf("exit code %d\n%s", code, first.stderr.String())
	}
	second.signal(syscall.SIGKILL)
	second.wait(time.Minute)
	third := begin("third", "1")
	third.succeeds(2 * time.Minute)
	for out, want := range map[string]bool{"first": true, "second": true, "third": false} {
		run, _ := read(t, filepath.Join(dir, out))
		if run.Warnings.Has(bench.WarnOtherRun) != want {
			t.Errorf("the %s run: %q", out, run.Warnings)
		}
		if out == "second" {
			succeeds(t, dir, "clean", "--run", run.ID)
		}
	}
}
