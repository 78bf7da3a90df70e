package workload

import (
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// moments returns the moments of s up to the end of its step.
func moments(s *Schedule) []time.Duration {
	var all []time.Duration
	for ; s.Next() < s.duration; s.Take() {
		all = append(all, s.Next())
	}
	return all
}

func TestScheduleOfAConstantRate(t *testing.T) {
	for rate, duration := range map[float64]time.Duration{
		1: 10 * time.Second, 3: 10 * time.Second, 7000: time.Second, 1e6: 100 * time.Millisecond, .5: 10 * time.Second, 12.25: 8 * time.Second,
	} {
		got := moments(NewSchedule(bench.Step{Rate: rate, Duration: duration}))
		want := int(math.Ceil(rate * duration.Seconds()))
		if len(got) != want {
			t.Errorf("%g/s for %s: %d requests, want %d", rate, duration, len(got), want)
			continue
		}
		for k, scheduled := range got {
			if exact := float64(k) / rate * 1e9; math.Abs(float64(scheduled)-exact) > 2 {
				t.Errorf("%g/s: request %d is scheduled for %s, want %.0f ns", rate, k, scheduled, exact)
				break
			}
		}
	}
}

// The number of requests scheduled by a moment is the integral of the rate up to it.
func TestScheduleOfARampAndAWave(t *testing.T) {
	const seconds = 10
	for name, test := range map[string]struct {
		step     bench.Step
		integral func(t float64) float64
	}{
		"up":   {bench.Step{Rate: 100, RampTo: 5000}, func(t float64) float64 { return 100*t + 490*t*t/2 }},
		"down": {bench.Step{Rate: 500, RampTo: 1}, func(t float64) float64 { return 500*t - 49.9*t*t/2 }},
		"wave": {
			bench.Step{Rate: 1000, Wave: &bench.Wave{Amplitude: 900, Period: 4 * time.Second}},
			func(t float64) float64 { return 1000*t + 900*4/(2*math.Pi)*(1-math.Cos(2*math.Pi*t/4)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.step.Duration = seconds * time.Second
			got := moments(NewSchedule(test.step))
			if want := test.integral(seconds); math.Abs(float64(len(got))-want) > 1.01 {
				t.Errorf("%s: %d requests, want %.1f", name, len(got), want)
			}
			for k, scheduled := range got {
				if exact := test.integral(scheduled.Seconds()); math.Abs(float64(k)-exact) > .02 {
					t.Errorf("%s: request %d is scheduled for %s, when %.3f should have been", name, k, scheduled, exact)
					break
				}
			}
		})
	}
}
