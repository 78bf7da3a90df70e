package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
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
			r.Load = bench.Load{Started: at, Elapsed: step.Duration, Succeeded: int64(995 * n),
				Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: int64(5 * n)}}
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

func memoryOf(t *testing.T, run bench.Run, trials []bench.TrialResult) (ch chart, ok bool) {
	t.Helper()
	all := newCharts(run, newLayout(analysis.Of(run, trials)))
	i := slices.IndexFunc(all, func(c chart) bool { return c.ID == "memory-requests" })
	if i < 0 {
		return chart{}, false
	}
	return all[i], true
}

// Memory is over the requests since the start of the load, errors included, through all steps.
func TestMemoryOverRequests(t *testing.T) {
	run, trials := grown(10, 256<<20)
	ch, ok := memoryOf(t, run, trials)
	testenv.Need(t, ok, "no chart")
	var a, b []string
	for i := range ch.Rows {
		a, b = append(a, ch.Rows[i].Cells[0]), append(b, ch.Rows[i].Cells[1])
	}
	// 5 readings of the warm-up, 11 of the step, whose first one is at the requests of the
	// warm-up's end.
	if len(a) != 16 || a[0] != "0 requests: 20 MiB" || a[4] != "4,000 requests: 82.5 MiB" ||
		a[5] != a[4] || a[15] != "14,000 requests: 239 MiB" || b[15] != "14,000 requests: 20 MiB" {
		t.Errorf("a %q\nb %q", a, b)
	}
	testenv.Check(t, ch.Rows[4].WarmUp && !ch.Rows[5].WarmUp && ch.Rows[15].Title == "16 connections, reading 11",
		"rows %+v", ch.Rows)
	if p := ch.series[0].points[15]; p.x != 14000 || p.y < 238 || p.y > 239 {
		t.Errorf("last point %+v", p)
	}
	// A run without readings has no chart.
	for i := range trials {
		for j := range trials[i].Steps {
			s := &trials[i].Steps[j]
			s.Before, s.After, s.Samples = nil, nil, nil
		}
	}
	ch, ok = memoryOf(t, run, trials)
	testenv.Check(t, !ok, "a chart without readings: %+v", ch.Rows)
}

// The limit is a line where memory came near it; otherwise a note, since the line would flatten
// all others.
func TestMemoryOverRequests_Limit(t *testing.T) {
	for name, test := range map[string]struct {
		limits   [2]int64
		enforced bool
		lines    []string
		note     string
	}{
		"near":         {[2]int64{256 << 20, 256 << 20}, true, []string{"memory limit 256 MiB"}, ""},
		"far":          {[2]int64{4 << 30, 4 << 30}, true, nil, "Memory limit: 4 GiB, above the chart."},
		"different":    {[2]int64{256 << 20, 240 << 20}, true, []string{"memory limit 256 MiB (a)", "memory limit 240 MiB (b)"}, ""},
		"none":         {},
		"not enforced": {[2]int64{256 << 20, 256 << 20}, false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := grown(10, 0)
			for i := range trials {
				trials[i].Instance.Limits.Memory, trials[i].Instance.LimitsEnforced = test.limits[i], test.enforced
			}
			ch, _ := memoryOf(t, run, trials)
			option, who := ch.option()
			var lines []string
			for _, s := range who {
				if s.Role == "limit" {
					lines = append(lines, s.Name)
					testenv.Equal(t, s.Contender, -1, "the line belongs to contender")
				}
			}
			testenv.Equal(t, lines, test.lines, "lines")
			if strings.Contains(ch.Note, "limit") != (test.note != "") || !strings.Contains(ch.Note, test.note) {
				t.Errorf("note %q, want %q", ch.Note, test.note)
			}
			data, err := json.Marshal(option["series"])
			drawn := strings.Contains(string(data), fmt.Sprintf(`{"value":[14000,%d]}`, test.limits[0]>>20))
			testenv.Check(t, err == nil && drawn == (len(lines) > 0), "%v %s", err, data)
		})
	}
}

// Of a long trial, each point is the highest of several readings.
func TestMemoryOverRequests_Long(t *testing.T) {
	run, trials := grown(2000, 0)
	s := &trials[1].Steps[1]
	s.Samples[1234].Memory = &bench.Memory{Used: 77 << 20} // a peak between others
	ch, _ := memoryOf(t, run, trials)
	testenv.Check(t, len(ch.Rows) <= 120, "%d rows", len(ch.Rows))
	if !slices.ContainsFunc(ch.Rows, func(r chartRow) bool { return strings.HasSuffix(r.Cells[1], ": 77 MiB") }) {
		t.Error("the peak is not in the chart")
	}
	testenv.Contains(t, ch.Note, "highest of up to ")
}

// The contender whose memory grows is named.
func TestMemoryOverRequests_Growth(t *testing.T) {
	run, trials := grown(10, 0)
	trials[0].Steps[1].Warnings = bench.Warnings{{Kind: bench.WarnMemoryGrowth, Text: "memory use grew by 16 KiB per request at an unchanged load",
		Values: map[string]float64{bench.GrowthRate: 16 << 10}}}
	ch, _ := memoryOf(t, run, trials)
	want := "a: memory use grew by 16 KiB per request at an unchanged load."
	testenv.Check(t, strings.Contains(ch.Note, want), "note %q, want %q", ch.Note, want)
}

// The peak memory of a step has a chart only if the kernel kept a counter for it.
func TestMemoryOfAStep(t *testing.T) {
	run, trials := small()
	find := func() (chart, bool) {
		all := newCharts(run, newLayout(analysis.Of(run, trials)))
		i := slices.IndexFunc(all, func(c chart) bool { return c.ID == "memory-step" })
		if i < 0 {
			return chart{}, false
		}
		testenv.Equal(t, all[i-1].ID, "memory-peak", "the chart is after")
		return all[i], true
	}
	if c, ok := find(); ok {
		t.Fatalf("a chart without a counter: %+v", c.Rows)
	}
	for i, s := range trials[0].Steps {
		if s.Before != nil && s.After != nil {
			before, after := *s.Before.Memory, *s.After.Memory
			before.StepPeak, after.StepPeak = new(int64(20<<20)), new(int64(40<<20))
			trials[0].Steps[i].Before, trials[0].Steps[i].After = &bench.Usage{Memory: &before}, &bench.Usage{Memory: &after}
		}
	}
	c, ok := find()
	if !ok || !slices.ContainsFunc(c.Rows, func(r chartRow) bool { return slices.Contains(r.Cells, units.Bytes(40<<20)) }) {
		t.Errorf("%v %+v", ok, c.Rows)
	}
}
