//go:build acceptance && timing && linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"locbench/internal/testenv"
)

// TestInterleavingLast: turns of 100 ms are ten in a second, those of a rate ask for so much, and who waits
// does nothing for as long as the other one is loaded.
func TestInterleavingLast(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			if runtime == "docker" {
				testenv.Docker(t)
			}
			testenv.Judge(t, 5, 20*time.Millisecond, func(t testing.TB) error { return interleavingLasts(t, runtime) })
		})
	}
}

func interleavingLasts(t testing.TB, runtime string) error {
	dir := t.TempDir()
	if code, _, stderr := locbench(t, dir, "run", "-p", twoInterleaved(t, runtime, "1"), "--services", wellAndTwice(t), "--headless", "-o", "out"); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, stderr)
	}
	_, trials := read(t, filepath.Join(dir, "out"))
	var wrong []error
	for _, trial := range trials {
		for _, s := range trial.Steps {
			say := func(format string, args ...any) {
				wrong = append(wrong, fmt.Errorf("%s, %s: %s", trial.Trial, s.Step.Name, fmt.Sprintf(format, args...)))
			}
			l := s.Load
			if s.Interleave == nil || s.Interleave.Count < 9 || s.Interleave.Count > 10 {
				say("turns %+v", s.Interleave)
				continue
			}
			if l.Elapsed < time.Second || l.Elapsed > 2*time.Second {
				say("took %s", l.Elapsed)
			}
			var due int64
			for _, w := range l.Windows {
				due += w.Scheduled
			}
			if s.Step.Rate > 0 && (due < 290 || due > 310 || l.Scheduled < due) { // one more or less in each turn
				say("%d were scheduled in the intervals, %d in all", due, l.Scheduled)
			}
			cpu, ok := s.CPU()
			if between := s.After.At.Sub(s.Before.At); !ok || cpu <= 0 || cpu > 2*time.Second || (between-l.Wall).Abs() > l.Wall/2 {
				say("%s of CPU time in %s; the load took %s", cpu, between, l.Wall)
			}
			if w := s.Interleave.Waited; w < 500*time.Millisecond || s.Interleave.WaitingCPUs() > .5 {
				say("waited %s, and used %s of CPU time", w, s.Interleave.WaitedCPU)
			}
		}
	}
	return errors.Join(wrong...)
}
