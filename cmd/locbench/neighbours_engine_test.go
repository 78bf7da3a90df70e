//go:build acceptance && engine && unix

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/launch"
)

// TestTwoRunsAtOnce: each has the other on record, in the run and in the steps during which it was
// there; one that was killed is forgotten.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), []string{launch.RunsVariable + "=" + filepath.Join(t.TempDir(), "runs")}
	begin := func(out string, rounds string) *command {
		return startIn(t, dir, env, "run", "--headless", "-p", small(t, "go-nethttp", "process"), "--no-checks", "--rounds", rounds, "-o", out)
	}
	first := begin("first", "100")
	first.waitEvent(filepath.Join(dir, "first"), func(rec bench.Record) bool { _, ok := rec.Event.(bench.StepEnded); return ok })
	second := begin("second", "100")
	for out, c := range map[string]*command{"first": first, "second": second} {
		c.waitEvent(filepath.Join(dir, out), func(rec bench.Record) bool {
			e, ok := rec.Event.(bench.StepEnded)
			return ok && slices.ContainsFunc(e.Result.Warnings, func(w bench.Finding) bool { return w.Kind == bench.FoundNeighbour })
		})
	}
	first.signal(syscall.SIGINT)
	if code := first.wait(2 * time.Minute); code != 130 {
		t.Fatalf("exit code %d\n%s", code, first.stderr.String())
	}
	second.signal(syscall.SIGKILL)
	second.wait(time.Minute)
	third := begin("third", "1")
	if code := third.wait(2 * time.Minute); code != 0 {
		t.Fatalf("exit code %d\n%s", code, third.stderr.String())
	}
	runs, legs := map[string]bench.Run{}, map[string][]bench.LegResult{}
	for _, out := range []string{"first", "second", "third"} {
		runs[out], legs[out] = read(t, filepath.Join(dir, out))
	}
	if code, stdout, stderr := locbench(t, dir, "clean", "--run", runs["second"].ID); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	const text = "another locbench"
	warned := func(warnings bench.Findings, other string) bool {
		return slices.ContainsFunc(warnings, func(w bench.Finding) bool {
			return w.Kind == bench.FoundNeighbour && strings.HasPrefix(w.Text, text) && strings.Contains(w.Text, "run "+runs[other].ID+", process ")
		})
	}
	for out, other := range map[string]string{"first": "second", "second": "first"} {
		t.Run(out, func(t *testing.T) {
			if !warned(runs[out].Warnings, other) {
				t.Errorf("the %s run does not know of the %s: %q", out, other, runs[out].Warnings)
			}
			n := 0
			for _, leg := range legs[out] {
				for _, s := range leg.Steps {
					if warned(s.Warnings, other) {
						n++
					}
				}
			}
			if n == 0 {
				t.Errorf("no step of the %s run has a warning of the %s", out, other)
			}
		})
	}
	if steps := legs["first"][0].Steps; len(steps) == 0 || warned(steps[0].Warnings, "second") {
		t.Errorf("a step before the second run has a warning of it")
	}
	for _, w := range runs["third"].Warnings {
		if strings.HasPrefix(w.Text, text) {
			t.Errorf("one that is dead: %s", w.Text)
		}
	}
	if !strings.Contains(runs["second"].Isolated.Text, "; another run ") {
		t.Errorf("who runs where: %s", runs["second"].Isolated.Text)
	}
}
