//go:build acceptance && cgroup2

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestGuestClockSet sets the clock of the virtual machine an hour forward in the first step and two
// hours back in the second. Durations stay right, in the run and when it is read from disk, which
// has only times of day.
func TestGuestClockSet(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		if vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor"); err != nil || !strings.HasPrefix(string(vendor), "QEMU") {
			t.Fatalf("this is not the virtual machine (%q, %v): its clock is not touched", vendor, err)
		}
		began := time.Now()
		t.Cleanup(func() { setClock(t, began.Add(time.Since(began))) })
		// Each request takes at least 10 ms, so a step continues long after its first window.
		profile := guestProfile(t, runtime, "limits: {memory: 64MiB}", guestStep(1, "fault", 1000), guestStep(1, "fault", 1000), guestStep(4, "light", 50))
		d := disturb(t, nil, "run", "--headless", "-p", profile, "--services", guestFaulty(t, "wait"))
		awaitEvent(t, d, "responses in the first step", answered(0))
		setClock(t, time.Now().Add(time.Hour))
		awaitEvent(t, d, "responses in the second step", answered(1))
		setClock(t, time.Now().Add(-2*time.Hour))
		run, trial := ended(t, d, 0, "the clock was set ", "durations are correct")
		took := time.Since(began) // by the monotonic clock
		testenv.Need(t, took <= 50*time.Minute, "%v is too long to see a shift of an hour", took)
		within := func(what string, got time.Duration) {
			t.Helper()
			testenv.Check(t, got > 0 && got <= took, "%s: %v of the %v that all took", what, got, took)
		}
		within("the run, by its times of day", run.Ended.Sub(run.Started))
		testenv.Need(t, trial.StartUp != nil && trial.Stop != nil, "start-up %v, stop %+v", trial.StartUp, trial.Stop)
		within("start-up", *trial.StartUp)
		within("stop", trial.Stop.Took)
		for _, s := range trial.Steps {
			within(s.Step.Name, s.Load.Elapsed)
			between := s.After.At.Sub(s.Before.At)
			within(s.Step.Name+", between its two readings on disk", between)
			testenv.Check(t, between >= s.Load.Elapsed/2,
				"%s: %v between the two readings on disk, %v of load", s.Step.Name, between, s.Load.Elapsed)
		}
		moved := map[bool]bool{}
		for _, w := range trial.Warnings {
			if w.Kind == bench.WarnClockSet {
				moved[w.Values["moved_ns"] > 0] = true
			}
		}
		testenv.Check(t, moved[true] && moved[false], "it was set forward and back; recorded: %q", trial.Warnings)
		var last bench.Record
		testenv.OK(t, eachEvent(d.out, func(r bench.Record) error {
			testenv.Check(t, !r.At.Before(last.At), "event %d is of %v, event %d of %v", last.Seq, last.At, r.Seq, r.At)
			last = r
			return nil
		}))
		succeeds(t, d.dir, "report", "out")
	})
}

func setClock(t *testing.T, to time.Time) {
	t.Helper()
	ts := unix.NsecToTimespec(to.UnixNano())
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &ts); err != nil {
		t.Fatalf("set the clock: %v", err)
	}
}
