package stats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

// round returns one trial of a contender: a warm-up step, then two steps with these rates, in which
// all responses take latency.
func round(name string, n int, startUp time.Duration, rates [2]int64, latency time.Duration) bench.TrialResult {
	trial := bench.TrialResult{
		Trial: bench.Trial{Contender: name, Round: n}, State: bench.TrialComplete, StartUp: &startUp,
		Service: bench.Service{Name: name},
		Checks:  []bench.CheckResult{{Status: bench.CheckPassed}, {Status: bench.CheckFailed}, {Status: bench.CheckPassed}},
		Steps: []bench.StepResult{step(0, true, 1, 2, 1_000_000), step(1, false, 2, 4, rates[0]*10),
			step(2, false, 4, 9, rates[1]*10)},
	}
	for i := range trial.Steps {
		h := hdr.New()
		for range 100 {
			h.Record(latency)
		}
		trial.Steps[i].Load.Latency = h.Latencies()
		trial.Steps[i].Before.Throttling = &bench.Throttling{Periods: 100}
		trial.Steps[i].After.Throttling = &bench.Throttling{Periods: 200, Throttled: 25}
		trial.Steps[i].After.Memory = &bench.Memory{Used: int64(n) << 20, Peak: int64(n) << 21}
	}
	trial.Steps[2].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 2, "5xx": 3}
	return trial
}

// The golden file has the summaries of three contenders: of rounds with merged latencies, of
// failures, and of rounds that do not fit together.
func TestSummarize(t *testing.T) {
	ms := time.Millisecond
	died := round("failing", 1, ms, [2]int64{100, 500}, ms)
	died.State, died.Failure = bench.TrialFailed, "killed by SIGKILL (out of memory)"
	died.Steps[2].Aborted = "the contender died"
	sampled := round("failing", 3, ms, [2]int64{50, 10}, ms)
	sampled.Steps[1].Samples = []bench.Usage{{Memory: &bench.Memory{Peak: 1 << 40, PeakIsSample: true}}}
	other := round("a", 2, ms, [2]int64{100, 200}, ms)
	other.Trial.Variant, other.Steps[1].Step.Name, other.Steps[2].Load.Latency.HDR = "x", "another", "damaged"
	first := round("a", 1, ms, [2]int64{100, 200}, ms)
	first.Trial.Variant = "x"
	trials := []bench.TrialResult{
		round("b", 1, 30*ms, [2]int64{100, 300}, 1*ms), // the warm-up is the fastest, and is not the peak
		round("a", 1, 5*ms, [2]int64{900, 20}, 2*ms), round("b", 2, 10*ms, [2]int64{110, 100}, 9*ms),
		round("b", 3, 20*ms, [2]int64{120, 200}, 3*ms), died, sampled, first, other,
		{Trial: bench.Trial{Contender: "failing", Round: 2}, State: bench.TrialFailed, Failure: "not ready after 30s"},
	}
	all := Summarize(bench.Run{}, trials)
	peaks := SummarizePeaks(bench.Run{Profile: bench.Profile{PriceVCPUHr: 1}}, trials)
	for i := range all[:2] { // that of one round has its histogram
		want, _ := all[i].PeakStep()
		p, _ := peaks[i].PeakStep()
		testenv.Check(t, p.Latency == want.Latency, "latency at peak %+v, want %+v", p.Latency, want.Latency)
	}
	want := all[0].Cost.Total / DefaultPrice
	testenv.Check(t, near(peaks[0].Cost.Total, want), "at $1 an hour %+v, want $%g", peaks[0].Cost, want)
	for i := range all {
		for k := range all[i].Steps {
			all[i].Steps[k].Results, all[i].Steps[k].Latency.HDR = nil, ""
		}
	}
	text := testenv.Must(json.MarshalIndent(all, "", " "))(t)
	testenv.Golden(t, "testdata/summaries.json", string(text)+"\n")
}

// A contender is not compared, and comes last, if it failed a round; an aborted round does not
// count.
func TestContender_WhyExcluded(t *testing.T) {
	of := func(trials ...bench.TrialResult) Contender { return Summarize(bench.Run{}, trials)[0] }
	good := of(bench.TrialResult{State: bench.TrialComplete},
		bench.TrialResult{State: bench.TrialAborted, Failure: "interrupted"})
	testenv.Equal(t, good.WhyExcluded(), "", "interrupted")
	lost := of(bench.TrialResult{State: bench.TrialComplete}, bench.TrialResult{
		State: bench.TrialFailed, Failure: "lost db", Cause: &bench.Cause{Kind: bench.CauseNeed, Text: "lost db"},
		Steps: []bench.StepResult{{Ending: bench.EndedByNeed, Aborted: "lost db", Load: bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrReset: 9}}}}},
	})
	if why := lost.WhyExcluded(); why != "" || lost.FailedRounds != 0 || len(lost.Errors) > 0 {
		t.Errorf("a need was lost: %q, %+v", why, lost)
	}
	died := of(bench.TrialResult{State: bench.TrialComplete},
		bench.TrialResult{State: bench.TrialFailed, Failure: "the contender died\x1b[2J"})
	testenv.Equal(t, died.WhyExcluded(), "failed in 1 of 2 rounds; first: the contender died␛[2J")
	wrong := of(bench.TrialResult{State: bench.TrialFailed, Failure: "x",
		Checks: []bench.CheckResult{{Status: bench.CheckFailed, Request: "GET /x", Detail: "no"}}})
	testenv.Equal(t, wrong.WhyExcluded(), "failed 1 of 1 check; first: GET /x: no")
	exited := Contender{Excluded: &bench.Exclusion{Cause: &bench.Cause{Kind: bench.CauseExited, Text: "exit code 7"}},
		FailedRounds: 1}
	for trials, want := range map[int]string{1: "DIED", 3: "DIED, in 1 of 3 rounds"} {
		exited.Trials = trials
		testenv.Equal(t, exited.WhyExcluded(), strings.Replace(want, "DIED", exited.Excluded.String(), 1), want)
	}
	all := []Contender{died, good, wrong}
	if slices.SortStableFunc(all, ExcludedLast); all[0].WhyExcluded() != "" || all[1].FailedRounds != 1 {
		t.Errorf("%+v", all)
	}
}

func TestSummarize_UnexpectedBodies(t *testing.T) {
	step := func(i int, succeeded, wrong int64) bench.StepResult {
		l := bench.Load{Definition: bench.Interval, Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: succeeded, Checked: 300}}
		if wrong > 0 {
			l.Failed = map[bench.ErrorKind]int64{bench.ErrWrong: wrong}
		}
		return bench.StepResult{Index: i, Step: bench.Step{Name: fmt.Sprint(i), Connections: 1 + 15*i}, Load: l}
	}
	trial := bench.TrialResult{State: bench.TrialComplete, Steps: []bench.StepResult{step(0, 1000, 0), step(1, 9000, 1)}}
	for allowed, peak := range map[float64]int{0: -1, .01: 1} {
		c := summarize("x", []bench.TrialResult{trial}, bench.Run{Profile: bench.Profile{MaxUnexpected: allowed}}, false)
		excluded := allowed == 0
		testenv.Check(t, c.Peak == peak && (c.Excluded != nil) == excluded && c.Steps[1].Excluded == excluded && !c.Steps[0].Excluded,
			"max_unexpected %g: peak %d, excluded %v, steps %t and %t", allowed, c.Peak, c.Excluded, c.Steps[0].Excluded, c.Steps[1].Excluded)
	}
	good := bench.TrialResult{State: bench.TrialComplete, Steps: []bench.StepResult{step(0, 1000, 0), step(1, 9000, 0)}}
	c := summarize("x", []bench.TrialResult{trial, good}, bench.Run{}, false)
	if n, _ := c.Compared(); n != 1200 || c.Excluded.Unexpected.Count != 1 || c.Excluded.Unexpected.Compared != n {
		t.Errorf("%d compared, the share is of %+v", n, c.Excluded.Unexpected)
	}
}

// It is the first warning with the highest rate, if memory grew in most rounds: of those that failed,
// too, and not in a round in which it did not grow any more.
func TestContender_MemoryGrowth(t *testing.T) {
	trial := func(state bench.TrialState, rates ...float64) (r bench.TrialResult) {
		r.State = state
		for i, rate := range rates {
			r.Steps = append(r.Steps, bench.StepResult{Index: i, Warnings: bench.Warnings{
				{Kind: bench.WarnMemoryGrowth, Text: fmt.Sprint("step ", i),
					Values: map[string]float64{bench.GrowthRate: rate}}, {Kind: bench.WarnErrors},
			}})
		}
		return r
	}
	c := Rounds(bench.Run{}, []bench.TrialResult{trial(bench.TrialComplete, 1, 3), trial(bench.TrialComplete, 3, 2)})
	w, ok := c.MemoryGrowth()
	testenv.Check(t, ok && w.Values[bench.GrowthRate] == 3 && w.Text == "step 1", "%v, %v", w, ok)
	_, ok = Rounds(bench.Run{}, []bench.TrialResult{trial(bench.TrialComplete)}).MemoryGrowth()
	testenv.Check(t, !ok, "growth without a warning")
	steady := func(request string) bench.TrialResult {
		r := trial(bench.TrialComplete, 1)
		r.Steps = append(r.Steps, bench.StepResult{Index: 1, Step: bench.Step{Request: request}})
		return r
	}
	died := trial(bench.TrialFailed, 1)
	died.Steps = append(died.Steps, bench.StepResult{Index: 1, Aborted: "died"})
	none := bench.TrialResult{State: bench.TrialComplete, Steps: make([]bench.StepResult, 1)}
	for name, test := range map[string]struct {
		trials []bench.TrialResult
		want   bool
	}{
		"before a failure":             {[]bench.TrialResult{trial(bench.TrialFailed, 1)}, true},
		"before a step without an end": {[]bench.TrialResult{died}, true},
		"not to the end":               {[]bench.TrialResult{steady("")}, false},
		"before another request":       {[]bench.TrialResult{steady("b")}, true},
		"in 1 of 2 rounds":             {[]bench.TrialResult{trial(bench.TrialComplete, 1), none}, false},
		"in 2 of 3 rounds":             {[]bench.TrialResult{trial(bench.TrialComplete, 1), trial(bench.TrialComplete, 1), none}, true},
		"in the one that had a load":   {[]bench.TrialResult{trial(bench.TrialComplete, 1), {State: bench.TrialFailed}}, true},
	} {
		_, ok := Rounds(bench.Run{}, test.trials).MemoryGrowth()
		testenv.Check(t, ok == test.want, "%s: %v", name, ok)
	}
}

// Steps without a peak: the busiest measured one has the most requests, errors included.
func TestContender_Errors(t *testing.T) {
	of := func(index int, succeeded, failed int64, warmUp bool) bench.StepResult {
		return bench.StepResult{Index: index, Aborted: "interrupted",
			Step: bench.Step{Name: fmt.Sprint(index), WarmUp: warmUp},
			Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: succeeded, Checked: 7, Failed: map[bench.ErrorKind]int64{bench.ErrReset: failed}, Unread: map[bench.ErrorKind]int64{bench.UnreadLong: 2}}}}
	}
	trial := bench.TrialResult{Steps: []bench.StepResult{
		of(0, 710, 0, true), of(1, 10, 0, false), of(2, 10, 40, false), of(3, 50, 0, false), of(4, 50, 40, false),
		of(5, 90, 0, false),
	}}
	c := Rounds(bench.Run{Profile: bench.Profile{MaxErrors: 40. / 90}},
		[]bench.TrialResult{trial, {State: bench.TrialFailed}})
	s, ok := c.BusiestStep()
	testenv.Check(t, ok && s.Index == 4, "the busiest step is %d, %v", s.Index, ok)
	if rate, ok := c.TotalErrorRate(); !ok || rate != .08 || len(c.ErrorRate.Values) != 1 || c.ErrorRate.Median != .08 {
		t.Errorf("error rate %g, %v, of the rounds %v", rate, ok, c.ErrorRate)
	}
	if n, estimate := c.Compared(); n != 42 || estimate || c.Unread() != 12 || c.ErrorsTotal() != 80 {
		t.Errorf("%d compared, %t; %d not looked at; %d errors", n, estimate, c.Unread(), c.ErrorsTotal())
	}
	for i, excluded := range []bool{false, false, true, false, false, false} { // above max_errors, not at it
		testenv.Check(t, c.Steps[i].Excluded == excluded, "step %d is excluded: %t", i, !excluded)
	}
	none := Rounds(bench.Run{}, []bench.TrialResult{{}})
	_, ok = none.BusiestStep()
	testenv.Check(t, !ok, "a busiest step of none")
	_, ok = none.TotalErrorRate()
	testenv.Check(t, !ok && !none.ErrorRate.Known(), "an error rate of no requests")
}

func TestTrialMemoryPeak(t *testing.T) {
	usage := func(peak int64, sample bool) *bench.Usage {
		return &bench.Usage{Memory: &bench.Memory{Peak: peak, PeakIsSample: sample}}
	}
	limited := &bench.InstanceInfo{LimitsEnforced: true, Limits: bench.Limits{Memory: 900}}
	marks := []bench.Mark{{Usage: *usage(500, false)}}
	killed := &bench.Exit{OOMKilled: true}
	for _, test := range []struct {
		name   string
		trial  bench.TrialResult
		peak   int64
		sample bool
	}{
		{"nothing", bench.TrialResult{}, 0, false},
		{"a mark", bench.TrialResult{Marks: marks}, 500, false},
		{"before a step", bench.TrialResult{Marks: marks, Steps: []bench.StepResult{{Before: usage(600, false)}}}, 600,
			false},
		{"a sample", bench.TrialResult{Marks: marks,
			Steps: []bench.StepResult{{Samples: []bench.Usage{*usage(700, true)}}}}, 700, true},
		{"a sample that is as high", bench.TrialResult{Marks: marks,
			Steps: []bench.StepResult{{After: usage(500, true)}}}, 500, false},
		{"killed", bench.TrialResult{Marks: marks, Instance: limited, Exit: killed}, 900, false},
		{"ended", bench.TrialResult{Marks: marks, Instance: limited, Exit: &bench.Exit{}}, 500, false},
		{"killed without a limit", bench.TrialResult{Marks: marks, Instance: &bench.InstanceInfo{}, Exit: killed}, 500,
			false},
	} {
		t.Run(test.name, func(t *testing.T) {
			peak, sample := TrialMemoryPeak(test.trial)
			testenv.Check(t, peak == test.peak && sample == test.sample, "%d, a sample: %t", peak, sample)
		})
	}
	// Only complete rounds are compared; the first of equal peaks counts.
	complete := bench.TrialResult{State: bench.TrialComplete, Marks: marks}
	aborted := bench.TrialResult{State: bench.TrialAborted, Marks: []bench.Mark{{Usage: *usage(500, true)}}}
	c := Rounds(bench.Run{}, []bench.TrialResult{complete, complete, aborted, {State: bench.TrialComplete}})
	testenv.Check(t, slices.Equal(c.Memory.Values, []float64{500, 500}) && c.MemoryPeak == 500 && !c.MemoryPeakIsSample,
		"%v, %d, %t", c.Memory.Values, c.MemoryPeak, c.MemoryPeakIsSample)
}

func TestContender_HalfPeak(t *testing.T) {
	at := func(conns int, perSecond int64) bench.StepResult {
		return bench.StepResult{Step: bench.Step{Connections: conns},
			Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: perSecond}}}
	}
	warm, other, share := at(1, 500), at(3, 501), at(0, 480)
	warm.Step.WarmUp, other.Step.Request, share.Step = true, "search", bench.Step{Rate: 500, PeakShare: 0.5}
	aborted := share
	aborted.Aborted = "interrupted"
	for _, c := range []struct {
		name       string
		steps      []bench.StepResult
		peak, half int // index; -1: none
		share      float64
	}{
		{"nothing", nil, -1, -1, 0},
		{"no success", []bench.StepResult{at(1, 0), at(2, 0)}, -1, -1, 0},
		{"the peak alone", []bench.StepResult{at(1, 1000)}, 0, 0, 1},
		{"the peak first", []bench.StepResult{at(1, 1000), at(2, 1000), at(3, 500)}, 0, 0, 1},
		{"nearest below the peak", []bench.StepResult{at(1, 100), at(2, 450), at(4, 1000), at(8, 510)}, 2, 1, .45},
		{"neither a warm-up nor another request", []bench.StepResult{warm, at(1, 300), other, at(4, 1000)}, 3, 1, .3},
		{"a step made for it", []bench.StepResult{at(1, 450), at(4, 1000), share}, 1, 2, .5},
		{"aborted", []bench.StepResult{at(1, 450), at(4, 1000), aborted}, 1, 0, .45},
		{"nearest on a log scale", []bench.StepResult{at(1, 230), at(2, 900), at(4, 1000)}, 2, 1, .9},
		{"as near as the peak", []bench.StepResult{at(1, 250), at(2, 0), at(4, 1000)}, 2, 0, .25},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.steps {
				c.steps[i].Index = i
			}
			all := SummarizePeaks(bench.Run{}, []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1},
				Steps: c.steps}})
			step, share, ok := all[0].HalfPeak()
			testenv.Check(t, ok == (c.half >= 0) && (!ok || step == c.half && share == c.share) && all[0].Peak == c.peak,
				"step %d, %g, %v, peak %d; want %d, %g, %d", step, share, ok, all[0].Peak, c.half, c.share, c.peak)
		})
	}
}

// What responds in fewer than half of the rounds has a peak with a median of 0; what never does has
// none, and a throughput of 0 in each round. A step without a complete round says nothing.
func TestContender_NothingStep(t *testing.T) {
	at := func(perSecond ...int64) (steps []bench.StepResult) {
		for i, n := range perSecond {
			steps = append(steps, bench.StepResult{Index: i, Step: bench.Step{Connections: i + 1},
				Load: bench.Load{Elapsed: time.Second, Outcomes: bench.Outcomes{Succeeded: n}}})
		}
		return steps
	}
	warm := at(100, 0)
	warm[0].Step.WarmUp = true
	aborted := at(0, 0)
	aborted[0].Aborted, aborted[1].Aborted = "died", "died"
	half := at(0, 0)
	half[0].Aborted = "died"
	for _, c := range []struct {
		name    string
		rounds  [][]bench.StepResult
		peak    int
		nothing int // index of the step; -1: none
		rates   []float64
		share   float64 // of the half peak
	}{
		{"never started", nil, -1, -1, nil, 0},
		{"nothing", [][]bench.StepResult{at(0, 0), at(0, 0)}, -1, 0, []float64{0, 0}, 0},
		{"only a warm-up", [][]bench.StepResult{warm}, -1, 1, []float64{0}, 0},
		{"no complete step", [][]bench.StepResult{aborted}, -1, -1, nil, 0},
		{"nothing, and one incomplete step", [][]bench.StepResult{half, at(0, 0)}, -1, 1, []float64{0, 0}, 0},
		{"one round of three", [][]bench.StepResult{at(0, 0), at(0, 5), at(0, 0)}, 1, -1, []float64{0, 5, 0}, 1},
		{"one step", [][]bench.StepResult{at(0, 5)}, 1, -1, []float64{5}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			trials := []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}}}
			for i, steps := range c.rounds {
				trials = append(trials, bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: i + 2}, Steps: steps})
			}
			s := Rounds(bench.Run{}, trials)
			step, ok := s.NothingStep()
			testenv.Check(t, s.Peak == c.peak && ok == (c.nothing >= 0) && (!ok || step.Index == c.nothing),
				"peak %d, nothing at %d, %v", s.Peak, step.Index, ok)
			v := s.PeakThroughput()
			testenv.Check(t, slices.Equal(v.Values, c.rates), "throughput %v, want %v", v.Values, c.rates)
			if i, share, ok := s.HalfPeak(); ok != (c.peak >= 0) || share != c.share || ok && i != c.peak {
				t.Errorf("half peak at %d, %g, %v", i, share, ok)
			}
		})
	}
}

// Counts of all rounds are added, in total and by kind of request.
func TestStep_Words(t *testing.T) {
	round := func(ok, rejected, failed int64) bench.StepResult {
		l := bench.Load{Outcomes: bench.Outcomes{Succeeded: ok, Statuses: bench.Statuses{200: ok}}, Elapsed: time.Second,
			Requests: []bench.RequestLoad{
				{Name: "a", Outcomes: bench.Outcomes{Succeeded: ok, Checked: 3, Failed: map[bench.ErrorKind]int64{"5xx": failed}}},
				{Name: "b", Outcomes: bench.Outcomes{Succeeded: 1}},
			}}
		if rejected > 0 {
			l.Rejected, l.Statuses[429] = bench.Statuses{429: rejected}, rejected
		}
		if failed > 0 {
			l.Failed, l.Statuses[500] = map[bench.ErrorKind]int64{"5xx": failed}, failed
		}
		return bench.StepResult{Load: l}
	}
	drift := func(s bench.StepResult, change float64) bench.StepResult {
		s.Drift = &bench.Drift{Throughput: &bench.Trend{Change: change}}
		return s
	}
	for _, test := range []struct {
		name          string
		rounds        []bench.StepResult
		status, drift string
		errors        float64
	}{
		{"one status", []bench.StepResult{round(10, 0, 0), round(10, 0, 0)}, "", "", 0},
		{"rejected", []bench.StepResult{round(1000, 5000, 0), round(449, 798, 0)},
			"200: 1,449, 429: 5,798; rejected 80% of requests (429)", "", 0},
		{"failed", []bench.StepResult{round(10, 0, 1), drift(round(9, 0, 0), -.1)}, "200: 19, 500: 1",
			"unstable in 1 of 2 rounds", 1. / 20},
		{"drifting", []bench.StepResult{drift(round(90, 900, 10), .1)},
			"200: 90, 429: 900, 500: 10; rejected 90% of requests (429)", "still warming up", .01},
		{"one of them warming up", []bench.StepResult{drift(round(1, 0, 0), .1), drift(round(1, 0, 0), -.1),
			round(1, 0, 0)},
			"", "still warming up in 2 of 3 rounds", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := newStep(test.rounds, false)
			testenv.Check(t, err == nil && s.StatusWords() == test.status && s.DriftWords() == test.drift && s.ErrorRate() == test.errors,
				"%q, %q, %g, %v; want %+v", s.StatusWords(), s.DriftWords(), s.ErrorRate(), err, test)
			n := int64(len(test.rounds))
			if len(s.Requests) != 2 || s.Requests[0].Succeeded != s.Succeeded || s.Requests[0].Checked != 3*n ||
				s.Requests[0].Failed["5xx"] != s.Failed["5xx"] || s.Requests[1].Succeeded != n {
				t.Errorf("%+v", s.Requests)
			}
			testenv.Check(t, n <= 1 || test.rounds[0].Load.Statuses[200] != s.Statuses[200],
				"the statuses of the first round are those of the step")
		})
	}
}

// interleaved returns a round that started at since; 0: not interleaved.
func interleaved(round int, since int64, state bench.TrialState) bench.TrialResult {
	l := bench.TrialResult{Trial: bench.Trial{Contender: "x", Round: round}, State: state, Steps: []bench.StepResult{{}}}
	if since > 0 {
		l.Steps = append(l.Steps, bench.StepResult{Interleave: &bench.Interleave{Since: time.Unix(since, 0),
			With: []string{"y"}}})
	}
	return l
}

func TestTogether(t *testing.T) {
	const done = bench.TrialComplete
	a := []bench.TrialResult{interleaved(1, 10, done), interleaved(2, 20, done), interleaved(3, 30, bench.TrialFailed),
		interleaved(4, 0, done), interleaved(5, 50, done)}
	b := []bench.TrialResult{interleaved(5, 50, done), interleaved(1, 10, done), interleaved(2, 21, done),
		interleaved(3, 30, done)} // the second one of another table
	kept, ok := Together(a, b)
	testenv.Need(t, ok && len(kept) == 2 && len(kept[0]) == 2 && len(kept[1]) == 2, "%v, kept %+v", ok, kept)
	for _, side := range kept {
		testenv.Check(t, side[0].Trial.Round == 1 && side[1].Trial.Round == 5,
			"rounds %d and %d", side[0].Trial.Round, side[1].Trial.Round)
	}
	for name, sides := range map[string][][]bench.TrialResult{
		"one side": {a}, "none": nil, "nothing in common": {a[:1], b[:1]}, "at a stretch": {a[3:4], a[3:4]},
		"twice": {append(a, a[0]), b},
	} {
		t.Run(name, func(t *testing.T) {
			kept, ok := Together(sides...)
			testenv.Check(t, !ok, "%s: %+v", name, kept)
		})
	}
}

func TestTiersOfPairs(t *testing.T) {
	var samples [][]float64
	for k := range 3 {
		var s []float64
		for i := range 10 {
			s = append(s, float64(1+i%5)*(1-.1*float64(k))*(1+.001*float64((i+k)%3)))
		}
		samples = append(samples, s)
	}
	got := (Rule{}).Tiers(samples, true, true, nil)
	testenv.Check(t, len(got.Tiers) == 3, "round against round: %+v", got)
	testenv.Equal(t, len((Rule{}).Tiers(samples, true, false, nil).Tiers), 1, "side by side")
	// The smallest p value of n pairs is 2 / 2ⁿ; three comparisons take seven rounds.
	for i := range samples {
		samples[i] = samples[i][:6]
	}
	testenv.Equal(t, len((Rule{}).Tiers(samples, true, true, nil).Tiers), 1, "six rounds")
}
