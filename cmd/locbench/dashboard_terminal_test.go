//go:build acceptance && terminal && unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDashboard uses all screens: set up, watch, abort; again to the end; browse, open, compare.
func TestDashboard(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	dir := t.TempDir()
	data := readFile(t, small(t, "go-nethttp", "docker"))
	writeFile(t, filepath.Join(dir, "small.yaml"), data)
	p := newPane(t, 120, 40, dir)
	p.typed("locbench tui -- --profile small.yaml; echo code=$?")
	p.see("set up a benchmark", "small.yaml", "go-nethttp", "$ locbench run --profile small.yaml", "Docker")
	p.keys("s")
	p.see("step 1 of 3", "throughput")
	p.keys("a", "y")
	p.see("interrupted", " took ") // the run has ended, not only its trial
	p.keys("q")
	p.see("set up a benchmark")

	time.Sleep(1100 * time.Millisecond) // the name of a results folder has the second of its start
	p.keys("s")
	p.see("round 2 of 2") // its last step alone may end between two looks at a busy machine
	p.until(time.Minute, "show the end", func(s string) bool { return strings.Contains(s, "complete") && !strings.Contains(s, "left") })
	folders, _ := filepath.Glob(filepath.Join(dir, "results", "*"))
	if len(folders) != 2 || runState(folders[0]) != bench.RunInterrupted || runState(folders[1]) != bench.RunComplete {
		t.Fatalf("folders %q", folders)
	}
	p.keys("3")
	p.see("go-nethttp", "1 contender")
	p.keys("q")

	p.see("set up a benchmark")
	p.keys("b")
	p.see("complete", "interrupted", filepath.Base(folders[1]))
	p.keys("Enter")
	p.see("1 Overview", "throughput", "complete")
	p.keys("q")
	p.see("interrupted")
	p.keys("Space", "Down", "Space", "c")
	p.see("A", "B", "go-nethttp", "need 6 or more rounds")
	p.keys("q")
	p.see("interrupted")
	p.keys("q")
	p.see("set up a benchmark")
	p.keys("q")
	screen := p.see("code=0")
	if !strings.Contains(screen, "results  results/") || strings.Contains(screen, "set up a benchmark") {
		t.Errorf("the normal screen shows:\n%s", screen)
	}
	for _, f := range folders {
		readClean(t, f)
	}
}

// TestDashboard_OtherRun shows a run that a pipe started, from a second terminal: it cannot be
// controlled, and leaving the screen does not affect it.
func TestDashboard_OtherRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startLocbench(t, dir, "run", "--profile", small(t, "go-nethttp", "process"), "--duration", "6s", "--rounds", "1", "-o", "out", "--headless")
	c.waitEvent(filepath.Join(dir, "out"), stepStarted(0))
	p := newPane(t, 80, 24, dir)
	p.typed("locbench tui out; echo code=$?")
	screen := p.see("watching", "step 1 of 3", "req/s")
	if strings.Contains(screen, "abort") {
		t.Errorf("it offers to abort another's run:\n%s", screen)
	}
	p.keys("a", "q")
	p.see("code=0")
	if code := c.wait(2 * time.Minute); code != 0 {
		t.Errorf("the run that was watched ended with %d:\n%s", code, c.stderr.String())
	}
}
