//go:build acceptance && timing && linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestInterleavingLast: with slices of 100 ms there are ten switches in a second, a rate keeps its
// number of requests, and a waiting contender gets no load.
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
				say("interleaving %+v", s.Interleave)
				continue
			}
			if l.Elapsed < time.Second || l.Elapsed > 2*time.Second {
				say("took %s", l.Elapsed)
			}
			var scheduled int64
			for _, w := range l.Windows {
				scheduled += w.Scheduled
			}
			if s.Step.Rate > 0 && (scheduled < 290 || scheduled > 310 || l.Scheduled < scheduled) { // one more or less per slice
				say("%d were scheduled in the windows, %d in all", scheduled, l.Scheduled)
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
