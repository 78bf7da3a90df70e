package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// grown returns a run of two trials with two steps each: contender a keeps 16 KiB per request, b is
// constant. The first step is a warm-up of 4 s, the second one takes seconds. There are 1,000
// requests per second, of which 5 fail.
func grown(seconds int, limit int64) (bench.Run, []bench.TrialResult) {
	profile := bench.Profile{Rounds: 1, Contenders: []bench.Selection{{Contender: "a"}, {Contender: "b"}}}
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	var trials []bench.TrialResult
	for i, length := range []int{4, seconds} {
		profile.Steps = append(profile.Steps, bench.Step{Connections: 16, WarmUp: i == 0, Duration: time.Duration(length) * time.Second})
	}
	for k, s := range profile.Contenders {
		trial := bench.TrialResult{Trial: bench.Trial{Contender: s.Contender, Round: 1}, State: bench.TrialComplete,
			Service: bench.Service{Name: s.Contender}, Started: start,
			Instance: &bench.InstanceInfo{Limits: bench.Limits{Memory: limit}, LimitsEnforced: true}}
		requests, at := int64(0), start
		usage := func() *bench.Usage {
			used := int64(20 << 20)
			if k == 0 {
				used += 16 << 10 * requests
			}
			return &bench.Usage{At: at, Memory: &bench.Memory{Used: used}}
		}
		for i, step := range profile.Steps {
			n := int(step.Duration / time.Second)
			r := bench.StepResult{Index: i, Step: step, Before: usage()}
			r.Load = bench.Load{Started: at, Elapsed: step.Duration, Outcomes: bench.Outcomes{Succeeded: int64(995 * n), Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: int64(5 * n)}}}
			for j := range n {
				r.Load.Windows = append(r.Load.Windows, bench.Window{Start: time.Duration(j) * time.Second, Length: time.Second,
					Succeeded: 995, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 5}})
				requests, at = requests+1000, at.Add(time.Second)
				if j < n-1 {
					r.Samples = append(r.Samples, *usage())
				}
			}
			r.After = usage()
			trial.Steps = append(trial.Steps, r)
		}
		trials = append(trials, trial)
	}
	return bench.Run{Profile: profile, Started: start}, trials
}

// Memory is over the seconds since the start of the load, through all steps.
func TestMemory(t *testing.T) {
	run, trials := grown(10, 256<<20)
	lines := chartOf(t, run, trials, "second-memory").Lines
	// 4 readings of the warm-up, a gap, 10 of the step, a gap.
	a, b := lines[0].points, lines[1].points
	testenv.Need(t, len(a) == 16 && len(b) == 16, "%d and %d points", len(a), len(b))
	if a[0].x != 1 || a[3].x != 4 || finite(a[4].y) || a[14].x != 14 || a[14].y < 238 || a[14].y > 239 || b[14].y != 20 {
		t.Errorf("a %+v\nb %+v", a, b)
	}
	for i := range trials { // a run without readings has no chart
		for j := range trials[i].Steps {
			s := &trials[i].Steps[j]
			s.Before, s.After, s.Samples = nil, nil, nil
		}
	}
	for _, ch := range newCharts(newLayout(analysis.Of(run, trials))) {
		testenv.Check(t, ch.ID != "second-memory", "a chart without readings")
	}
}

// The limit is a line where memory came near it; otherwise a note, since the line would flatten
// all others.
func TestMemory_Limit(t *testing.T) {
	for name, test := range map[string]struct {
		limits   [2]int64
		enforced bool
		lines    []string
		note     string
	}{
		"near":         {[2]int64{256 << 20, 256 << 20}, true, []string{"limit 256 MiB"}, ""},
		"far":          {[2]int64{4 << 30, 4 << 30}, true, nil, "Above the chart: limit 4 GiB."},
		"different":    {[2]int64{256 << 20, 240 << 20}, true, []string{"limit 256 MiB (a)", "limit 240 MiB (b)"}, ""},
		"none":         {},
		"not enforced": {[2]int64{256 << 20, 256 << 20}, false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := grown(10, 0)
			for i := range trials {
				trials[i].Instance.Limits.Memory, trials[i].Instance.LimitsEnforced = test.limits[i], test.enforced
			}
			ch := chartOf(t, run, trials, "second-memory")
			var lines []string
			for _, m := range ch.Marks {
				if !m.Upright {
					lines = append(lines, m.Text)
					testenv.Check(t, m.At == 256 || m.At == 240, "%s is at %v", m.Text, m.At)
				}
			}
			testenv.Equal(t, lines, test.lines)
			testenv.Check(t, strings.Contains(ch.Note, "limit") == (test.note != "") && strings.Contains(ch.Note, test.note), "note %q", ch.Note)
		})
	}
}

// Of a long trial, each point is the highest of several readings.
func TestMemory_Long(t *testing.T) {
	run, trials := grown(5000, 0)
	s := &trials[1].Steps[1]
	s.Samples[1234].Memory = &bench.Memory{Used: 77 << 20} // a peak between others
	ch := chartOf(t, run, trials, "second-memory")
	points := ch.Lines[1].points
	testenv.Check(t, len(points) <= maxTrialPoints, "%d points", len(points))
	testenv.Check(t, slices.ContainsFunc(points, func(p point) bool { return p.y == 77 }), "the peak is not in the chart")
	testenv.Contains(t, ch.Note, "each point covers up to 3 seconds")
}
