package compare

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	compared "github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/testenv"
)

// rates returns the trials of a contender, a round for each throughput.
func rates(label string, perSecond ...int64) []bench.TrialResult {
	var trials []bench.TrialResult
	for i, n := range perSecond {
		h := hdr.New()
		for range 100 {
			h.Record(time.Duration(1e9 / n))
		}
		up := time.Duration(n) * time.Millisecond
		usage := func(cpu time.Duration) *bench.Usage {
			return &bench.Usage{CPU: cpu, Memory: &bench.Memory{Used: n, Peak: 2 * n}}
		}
		trials = append(trials, bench.TrialResult{
			Trial: bench.Trial{Contender: label, Round: i + 1}, State: bench.TrialComplete, StartUp: &up,
			Steps: []bench.StepResult{{
				Step: bench.Step{Name: "8 connections", Connections: 8, Duration: time.Second}, Before: usage(0), After: usage(time.Second),
				Load: bench.Load{Succeeded: n, Elapsed: time.Second, Latency: h.Latencies(), Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: n % 2}},
			}},
		})
	}
	return trials
}

func only(trials []bench.TrialResult) analysis.Contender {
	cs := analysis.Of(bench.Run{}, trials).Contenders
	if len(cs) == 0 {
		return at(nil, -1)
	}
	return cs[0]
}

// bare returns text without its attributes.
func bare(text string) string {
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
}

func headline(a, b analysis.Contender) []Value { return Headline(a, b, nil, nil) }

func TestVerdicts(t *testing.T) {
	six := []int64{1000, 1002, 1004, 1006, 1008, 1010}
	twice := []int64{2000, 2002, 2004, 2006, 2008, 2010}
	for _, c := range []struct {
		name   string
		a, b   []int64
		floor  float64
		usual  string
		brief  string
		change string
	}{
		{"one round each", []int64{1000}, []int64{2000}, 0, "need ≥ 6 rounds", "need ≥ 6", "+100.0"},
		{"five against six", six[:5], twice, 0, "need ≥ 6 rounds", "need ≥ 6", "+99.7"},
		{"six, far faster", six, twice, 0, "B is better", "B better", "+99.5"},
		{"six, far slower", twice, six, 0, "A is better", "A better", "-49.9"},
		{"six, below the floor", six, []int64{1100, 1102, 1104, 1106, 1108, 1110}, .2, "inconclusive, below noise floor", "inconclusive", "+10.0"},
		{"six, above the floor", six, []int64{1100, 1102, 1104, 1106, 1108, 1110}, .05, "B is better", "B better", "+10.0"},
		{"nearly the same", six, []int64{1003, 1005, 1007, 1009, 1011, 1013}, 0, "same within 3%", "same", "+0.3"},
		{"noise", []int64{800, 900, 1000, 1100, 1200, 1300}, []int64{850, 950, 1050, 1150, 1250, 1350}, 0, "inconclusive, ~", "inconclusive", "+4.8"},
		{"missing", six, nil, 0, "–", "–", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			floor := &compared.Floor{Measures: []compared.MeasureFloor{{Measure: measure.Throughput, Floor: c.floor}}}
			f := Headline(only(rates("a", c.a...)), only(rates("a", c.b...)), nil, floor)[1]
			change := ""
			if ratio, ok := f.Change(); ok {
				change = fmt.Sprintf("%+.1f", 100*ratio)
			}
			l := ui.NewLook(ui.LookOptions{NoColor: true})
			if got, short := bare(wordText(l, f, usual)), bare(wordText(l, f, brief)); !strings.HasPrefix(got, c.usual) || short != c.brief || change != c.change {
				t.Errorf("%s: %q, %q, change %q; want %q, %q, %q", c.name, got, short, change, c.usual, c.brief, c.change)
			}
		})
	}
}

// TestHeadline: values where less is better, and values other than medians. Only the declared
// measures have a verdict.
func TestHeadline(t *testing.T) {
	a, b := only(rates("a", 1001, 1003, 1005, 1007, 1009, 1011)), only(rates("b", 2000, 2002, 2004, 2006, 2008, 2010))
	want := map[string]string{
		"start-up": "A is better", "peak throughput": "B is better", "p99 at half peak": "B is better", "p50 at peak": "–", "p99 at peak": "–", "errors": "–",
		"CPU/req": "B is better", "peak memory": "A is better", "$ per 1B req": "–",
	}
	l := ui.NewLook(ui.LookOptions{NoColor: true})
	for _, f := range headline(a, b) {
		w, ok := want[f.Head]
		testenv.Check(t, ok, "%s is not expected", f.Head)
		delete(want, f.Head)
		if got := bare(wordText(l, f, usual)); !f.A.Known || !f.B.Known || got != w {
			t.Errorf("%s: A %+v, B %+v, %q; want %q", f.Head, f.A, f.B, got, w)
		}
		switch f.Head {
		case "peak memory":
			testenv.Equal(t, f.A.Value, 2*1011, "peak memory")
		case "errors":
			if want := 6. / (6 + 6036); f.A.Value != want || f.B.Value != 0 {
				t.Errorf("errors %g and %g, want %g of all requests, and 0", f.A.Value, f.B.Value, want)
			}
		}
	}
	testenv.Check(t, len(want) == 0, "missing: %v", want)
	for _, f := range headline(at(nil, -1), b) {
		testenv.Check(t, !f.A.Known && f.Row == nil, "%s of no contender: %+v", f.Head, f.A)
	}
}

// TestStepVerdicts: the steps are one family, without warm-ups and steps of one side; warnings
// about the rounds are reported.
func TestStepVerdicts(t *testing.T) {
	a, b := only(rates("a", 1000, 1002, 1004, 1006, 1008, 1010)), only(rates("b", 2000, 2002, 9004, 2006, 2008, 2010))
	pairs := StepPairs(a, b)
	stepVerdicts(pairs, a, b, false, nil)
	row := pairs[0].value(measure.Throughput).Row
	testenv.Check(t, row != nil && row.Verdict == stats.Better && row.Ratio != nil, "%+v", row)
	stepVerdicts(pairs, a, b, true, nil)
	if got := bare(wordText(ui.NewLook(ui.LookOptions{NoColor: true}), *pairs[0].value(measure.Throughput), usual)); got != "not comparable" {
		t.Errorf("%q", got)
	}
	pairs[0].InA, pairs[0].value(measure.Throughput).Row = false, nil
	if stepVerdicts(pairs, a, b, false, nil); pairs[0].value(measure.Throughput).Row != nil {
		t.Error("a step of one side has a verdict")
	}
	var got []string
	for _, d := range Values(headline(a, b)).value(measure.Throughput).Row.Warnings {
		got = append(got, d.Words("A", "B"))
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "A: it rises") || !strings.HasPrefix(got[1], "B: round 3 is an outlier") {
		t.Errorf("%q", got)
	}
}

func stepsOf(specs ...string) []bench.TrialResult {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete}
	for i, spec := range specs {
		st := bench.Step{Name: spec, Duration: time.Second}
		if _, err := fmt.Sscanf(spec, "w%d", &st.Connections); err == nil {
			st.WarmUp = true
		} else if _, err := fmt.Sscanf(spec, "%d", &st.Connections); err == nil && strings.HasSuffix(spec, "/s") {
			st.Rate, st.Connections = float64(st.Connections), 0
		}
		trial.Steps = append(trial.Steps, bench.StepResult{Index: i, Step: st, Load: bench.Load{Succeeded: int64(i + 1), Elapsed: time.Second}})
	}
	return []bench.TrialResult{trial}
}

func TestStepPairs(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"1 2 4", "1 2 4", "1=1 2=2 4=4"},
		{"1 2 4", "2 8", "1=- 2=2 4=- -=8"},
		{"2 8", "1 2 4 8", "-=1 2=2 -=4 8=8"},
		{"w1 w1 1 2", "w1 1 2 3", "w1=w1 w1=- 1=1 2=2 -=3"},
		{"1 2", "2 1", "1=1 2=2"},
		{"8", "8/s", "8=- -=8/s"},
		{"", "1", "-=1"},
		{"1", "", "1=-"},
	} {
		t.Run(c.a, func(t *testing.T) {
			var got []string
			for _, p := range StepPairs(only(stepsOf(strings.Fields(c.a)...)), only(stepsOf(strings.Fields(c.b)...))) {
				a, b := p.Step.Name, p.Step.Name
				if !p.InA {
					a = "-"
				}
				if !p.InB {
					b = "-"
				}
				f := p.value(measure.Throughput)
				testenv.Check(t, p.InA == f.A.Known && p.InB == f.B.Known, "%s and %s: %+v", c.a, c.b, p)
				got = append(got, a+"="+b)
			}
			testenv.Equal(t, strings.Join(got, " "), c.want, c.a, c.b)
		})
	}
}

func TestDifferences(t *testing.T) {
	base := bench.Run{
		Profile: bench.Profile{Name: "quick", Rounds: 6, Runtime: bench.RuntimeDocker, Limits: bench.Limits{CPUs: 1.5}, Timeout: time.Second,
			Requests: []bench.Request{{Method: "GET", Path: "/"}}, Steps: []bench.Step{{Connections: 1, Duration: time.Second}}},
		Machine: bench.Machine{CPUModel: "EPYC", CPUs: 2, Kernel: "6.1"}, Needs: []bench.NeedInfo{{Name: "elasticsearch", Kind: bench.StoreEmbedded, Version: "7.10.2"}},
		Data: bench.DataInfo{Name: "bundled", Hash: "abc"}, Software: bench.Software{Locbench: "0.1"},
	}
	d := Differences(base, base)
	testenv.Check(t, len(d) == 0, "of the same: %+v", d)
	for _, c := range []struct {
		change func(*bench.Run)
		want   compared.Difference
	}{
		{func(r *bench.Run) { r.Profile.Limits.CPUs = 2 }, difference("limits", "1.5 CPUs", "2 CPUs", compared.Incomparable)},
		{func(r *bench.Run) { r.Profile.Limits = bench.Limits{} }, difference("limits", "1.5 CPUs", "none", compared.Incomparable)},
		{func(r *bench.Run) { r.Profile.Runtime = bench.RuntimeProcess }, difference("runtime", "docker", "process", compared.Incomparable)},
		{func(r *bench.Run) { r.Data.Hash = "def" }, difference("data", "bundled abc", "bundled def", compared.Incomparable)},
		{func(r *bench.Run) {
			r.Needs = []bench.NeedInfo{{Name: "elasticsearch", Kind: bench.StoreExternal, Version: "7.10.2"}}
		}, difference("elasticsearch", "embedded", "external", compared.Incomparable)},
		{func(r *bench.Run) { r.Machine.CPUs = 4 }, difference("CPU", "2 × EPYC", "4 × EPYC", compared.Incomparable)},
		{func(r *bench.Run) { r.Profile.Store.Latency = time.Millisecond }, difference("store latency", "", "1.00 ms", compared.Incomparable)},
		{func(r *bench.Run) { r.Machine.Kernel = "6.2" }, difference("kernel", "6.1", "6.2", compared.Relevant)},
		{func(r *bench.Run) { r.Software.Locbench = "0.2" }, difference("locbench", "0.1", "0.2", compared.Relevant)},
		{func(r *bench.Run) { r.Profile.Timeout = 0 }, difference("request timeout", "1.00 s", "0", compared.Relevant)},
		{func(r *bench.Run) { r.Profile.Rounds = 2 }, difference("rounds", "6", "2", compared.Informational)},
		{func(r *bench.Run) { r.Profile.Name = "mine" }, difference("profile", "quick", "mine", compared.Informational)},
	} {
		other := base
		c.change(&other)
		d := Differences(base, other)
		testenv.Check(t, len(d) == 1 && d[0] == c.want, "got %+v, want %+v", d, c.want)
	}
	ports := base
	ports.Needs = []bench.NeedInfo{ports.Needs[0]}
	ports.Needs[0].URL = "http://127.0.0.1:4711"
	d = Differences(base, ports)
	testenv.Check(t, len(d) == 0, "the port of an embedded store: %+v", d)
	other := base
	other.Profile.Requests = []bench.Request{{Method: "GET", Path: "/", Weight: 2}}
	if d := Differences(base, other); len(d) != 1 || d[0].What != "requests" || d[0].Weight != compared.Incomparable {
		t.Errorf("another weight in the mix: %+v", d)
	}
	other.Software.Locbench, other.Profile.Name = "x", "y"
	if d := Differences(base, other); len(d) != 3 || d[0].Weight != compared.Incomparable || d[1].Weight != compared.Relevant || d[2].Weight != compared.Informational {
		t.Errorf("not the gravest first: %+v", d)
	}
}

func TestTrialDifferences(t *testing.T) {
	a, b := rates("a", 1), rates("a", 1)
	a[0].Instance = &bench.InstanceInfo{Runtime: bench.RuntimeDocker, LimitsEnforced: true}
	b[0].Instance = &bench.InstanceInfo{Runtime: bench.RuntimeDocker}
	if d := ours(compared.TrialDifferences(a, b)); len(d) != 1 || d[0] != difference("limits enforced", "yes", "no", compared.Incomparable) {
		t.Errorf("%+v", d)
	}
	b[0].Instance = nil // not known
	d := ours(compared.TrialDifferences(a, b))
	testenv.Check(t, len(d) == 0, "%+v", d)
}

// An error rate that is an estimate has a "~".
func TestSideOfAnEstimate(t *testing.T) {
	for estimate, want := range map[bool]string{true: "~2.60%", false: "2.60%"} {
		side := measure.Result{Known: true, Value: 0.026, Estimate: estimate}
		got := sideText(ui.NewLook(ui.LookOptions{}), measure.Share, side)
		testenv.Check(t, bare(got) == want, "%q, want %q", got, want)
	}
}
