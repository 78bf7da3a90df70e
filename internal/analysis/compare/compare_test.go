package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// values are the results of one round of a contender.
type values struct {
	peak    float64 // requests per second at 8 connections
	p99     time.Duration
	startUp time.Duration
	memory  int64
}

func usual() values {
	return values{10_000, 5 * time.Millisecond, 100 * time.Millisecond, 50 << 20}
}

// trial returns a round: a warm-up with 1 connection, then 1, 4 and 8 connections; 4 have 55% of
// the throughput of 8. Its time to peak is 30 times its start-up time.
func trial(name string, round int, f values) bench.TrialResult {
	l := bench.TrialResult{
		Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: name, Round: round}, State: bench.TrialComplete, StartUp: &f.startUp,
		Service:  bench.Service{Name: name, Version: "1.0"},
		Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker, LimitsEnforced: true, Limits: bench.Limits{CPUs: 1.5}, ImageID: "sha256:0123456789abcdef"},
	}
	l.Instance.StartedAt = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	cpu := time.Second
	for i, s := range steps4() {
		rate := f.peak * []float64{2, 0.2, 0.55, 1}[i] // the warm-up cannot be the peak, however fast
		r := bench.StepResult{
			Index: i, Step: s,
			Load:   bench.Load{Succeeded: int64(rate * 10), Sent: int64(rate * 10), Elapsed: 10 * time.Second, Latency: bench.Latencies{Count: 1, P99: f.p99 * time.Duration(i+1)}},
			Before: &bench.Usage{CPU: cpu},
		}
		if s.WarmUp {
			r.Load.Started = l.Instance.StartedAt.Add(30 * f.startUp)
			for at := range 10 {
				r.Load.Windows = append(r.Load.Windows, bench.Window{Start: time.Duration(at) * time.Second, Length: time.Second, Succeeded: int64(rate / 10)})
			}
		}
		cpu += 10 * time.Second
		r.After = &bench.Usage{CPU: cpu, Memory: &bench.Memory{Used: f.memory, Peak: f.memory}}
		l.Steps = append(l.Steps, r)
	}
	return l
}

func steps4() []bench.Step {
	return []bench.Step{
		{Name: "1 connection", Connections: 1, WarmUp: true, Duration: 10 * time.Second}, {Name: "1 connection", Connections: 1, Duration: 10 * time.Second},
		{Name: "4 connections", Connections: 4, Duration: 10 * time.Second}, {Name: "8 connections", Connections: 8, Duration: 10 * time.Second},
	}
}

// raw is a side before its analysis, which tests can change.
type raw struct {
	Run       bench.Run
	Trials    []bench.TrialResult
	Contender string
}

func (r raw) set() Set { return Set{analysis.Of(r.Run, r.Trials), r.Contender} }

func noiseFloor(r raw) (Floor, error) { return NoiseFloor(r.set()) }

func setAgainst(before, after raw, o Options) (Result, error) {
	return Compare(before.set(), after.set(), o)
}

func run() bench.Run {
	return bench.Run{
		Schema:  1,
		Profile: bench.Profile{Name: "test", Rounds: 6, Runtime: bench.RuntimeDocker, Limits: bench.Limits{CPUs: 1.5}, Steps: steps4(), Requests: []bench.Request{{Name: "get", Path: "/"}}},
		Data:    bench.DataInfo{Name: "bundled", Hash: "aaaaaaaaaaaaaaaa"},
		Machine: bench.Machine{OS: "linux", Arch: "amd64", CPUModel: "model", CPUs: 8, MemoryBytes: 16 << 30},
	}
}

// trials returns rounds with noise of 1%.
func trials(rng *rand.Rand, name string, n int, f values) []bench.TrialResult {
	var all []bench.TrialResult
	for i := range n {
		noise := func() float64 { return 1 + 0.01*rng.NormFloat64() }
		all = append(all, trial(name, i+1, values{
			f.peak * noise(), time.Duration(float64(f.p99) * noise()), time.Duration(float64(f.startUp) * noise()), int64(float64(f.memory) * noise()),
		}))
	}
	return all
}

func compared(t *testing.T, before, after raw, o Options) Result {
	t.Helper()
	r, err := setAgainst(before, after, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	faster := usual()
	faster.peak *= 1.2
	faster.p99 = faster.p99 * 13 / 10
	before := raw{Run: run(), Trials: slices.Concat(trials(rng, "a", 6, usual()), trials(rng, "b", 6, usual()), trials(rng, "gone", 1, usual()))}
	after := raw{Run: run(), Trials: slices.Concat(trials(rng, "b", 6, usual()), trials(rng, "a", 6, faster), trials(rng, "come", 1, usual()))}
	r := compared(t, before, after, Options{})
	if len(r.Contenders) != 2 || !slices.Equal(r.OnlyOld, []string{"gone"}) || !slices.Equal(r.OnlyNew, []string{"come"}) || len(r.Differences) != 0 {
		t.Fatalf("%+v", r)
	}
	want := map[string][]stats.Verdict{
		// The same CPU time for more requests: less per request.
		"a": {stats.Better, stats.Worse, stats.Same, stats.Same, stats.Same, stats.Better},
		"b": {stats.Same, stats.Same, stats.Same, stats.Same, stats.Same, stats.Same},
	}
	for _, c := range r.Contenders {
		for i, row := range c.Rows {
			if row.Verdict != want[c.New][i] || string(row.Measure) != Measures()[i] || len(row.Old.Rounds) != 6 {
				t.Errorf("%s: %+v", c.New, row)
			}
		}
		if !c.Comparable || len(c.Differences) != 0 || len(c.Notes) != 0 {
			t.Errorf("%+v", c)
		}
	}
	rows := r.Contenders[0].Rows
	if rows[0].At != "8 connections" || rows[1].At != "4 connections (55% of the old peak)" || rows[5].At != "8 connections" || rows[2].At != "" || rows[3].At != "" {
		t.Errorf("steps %q, %q, %q", rows[0].At, rows[1].At, rows[5].At)
	}
	if m := *rows[1].Old.Median; m < 14e6 || m > 16e6 { // of the third step
		t.Errorf("p99 %g", m)
	}
	if m := *rows[3].Old.Median; m < 2.9e9 || m > 3.1e9 || rows[3].Unit != "ns" {
		t.Errorf("time to peak %g %s", m, rows[3].Unit)
	}
	if m := *rows[4].Old.Median; m < 49<<20 || m > 51<<20 || rows[4].Unit != "bytes" || rows[0].Unit != "1/s" || rows[5].Unit != "ns" {
		t.Errorf("memory %g %s", m, rows[4].Unit)
	}
	if rows[0].Ratio.Estimate < 1.17 || rows[0].Ratio.Estimate > 1.23 || *rows[0].PHolm < *rows[0].P {
		t.Errorf("%+v", rows[0].Ratio)
	}
}

func TestContendersOfOneFolder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	all := slices.Concat(trials(rng, "a", 6, usual()), trials(rng, "b", 6, usual()))
	r := compared(t, raw{Run: run(), Trials: all, Contender: "b"}, raw{Run: run(), Trials: all, Contender: "a"}, Options{})
	if len(r.Contenders) != 1 || r.Contenders[0].Old != "b" || r.Contenders[0].New != "a" {
		t.Errorf("%+v", r.Contenders)
	}
	for _, missing := range []raw{{Run: run(), Trials: all, Contender: "c"}, {Run: run()}} {
		if _, err := setAgainst(missing, raw{Trials: all}, Options{}); err == nil || !strings.HasPrefix(err.Error(), "old: ") {
			t.Errorf("error %v", err)
		}
	}
	other := slices.Concat(trials(rng, "x", 1, usual()), trials(rng, "y", 1, usual()))
	if _, err := setAgainst(raw{Run: run(), Trials: all}, raw{Run: run(), Trials: other}, Options{}); err == nil || !strings.Contains(err.Error(), "old has a, b, new has x, y") {
		t.Errorf("error %v", err)
	}
}

func TestTooFewRoundsAndMissingMeasures(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	before, after := trials(rng, "a", 3, usual()), trials(rng, "a", 6, usual())
	for i := range after {
		after[i].StartUp = nil
		for j := range after[i].Steps {
			after[i].Steps[j].Load.Failed = map[bench.ErrorKind]int64{bench.ErrReset: 1000}
			after[i].Steps[j].After.Memory.PeakIsSample = true
		}
	}
	after[5].State = bench.TrialFailed
	after[4].ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlPause}}}
	after[3].ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlNote}}}
	// A contender with a failed round has no verdict and is in no tier: what is left was selected
	// by not failing.
	for _, row := range compared(t, raw{Run: run(), Trials: before}, raw{Run: run(), Trials: after}, Options{}).Contenders[0].Rows {
		if row.Verdict != stats.Inconclusive || row.NotComparable != "new: 1 of 6 rounds failed" || row.Sentence != "not comparable: new: 1 of 6 rounds failed" {
			t.Errorf("a failed round: %+v", row)
		}
	}
	c := compared(t, raw{Run: run(), Trials: before}, raw{Run: run(), Trials: after}, Options{Force: true}).Contenders[0]
	if r := c.Rows[0]; r.Verdict != stats.Inconclusive || r.More != 3 || r.Sentence != "inconclusive: 3 rounds, need ≥ 6: 3 more rounds per side" || r.Ratio != nil || r.Old.Low != nil || r.New.Low == nil {
		t.Errorf("throughput %+v", r)
	}
	if r := c.Rows[2]; r.Sentence != "no data in new" || r.New.Median != nil || r.More != 0 {
		t.Errorf("start-up %+v", r)
	}
	if r := c.Rows[4]; len(r.New.Rounds) != 5 || len(r.Warnings) != 1 {
		t.Errorf("memory %+v", r)
	}
	if len(c.Notes) != 3 || c.Notes[0].String() != "new: 5 of 6 rounds complete" || c.Notes[1].String() != "new: 1 of 6 rounds changed by hand" || !strings.HasPrefix(c.Notes[2].String(), "new: 1.1% of requests failed") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestHalfPeak(t *testing.T) {
	open := bench.Step{Name: "50% of peak", PeakShare: 0.5, Rate: 5000}
	l := trial("a", 1, usual())
	l.Steps = append(l.Steps, bench.StepResult{Index: 4, Step: open, Load: bench.Load{Succeeded: 50_000, Elapsed: 10 * time.Second, Latency: bench.Latencies{Count: 1, P99: 7}}})
	other := trial("a", 1, usual())
	open.Rate = 4800 // 50% of peak of the other side
	other.Steps = append(other.Steps, bench.StepResult{Index: 4, Step: open, Load: bench.Load{Latency: bench.Latencies{Count: 1, P99: 9}}})
	row := compared(t, raw{Run: run(), Trials: []bench.TrialResult{l}}, raw{Run: run(), Trials: []bench.TrialResult{other}}, Options{}).Contenders[0].Rows[1]
	if row.At != "50% of peak" || !slices.Equal(row.Old.Rounds, []float64{7}) || !slices.Equal(row.New.Rounds, []float64{9}) {
		t.Errorf("%+v", row)
	}
	// Rates over 5% apart: the closed-loop step that is nearest to half of the old peak.
	other.Steps[4].Step.Rate = 4700
	row = compared(t, raw{Run: run(), Trials: []bench.TrialResult{l}}, raw{Run: run(), Trials: []bench.TrialResult{other}}, Options{}).Contenders[0].Rows[1]
	if row.At != "4 connections (55% of the old peak)" || row.NotComparable != "" || !slices.Equal(row.New.Rounds, []float64{15e6}) {
		t.Errorf("rates apart: %+v", row)
	}
	// An aborted step has no value, and a step with another load is not the same step.
	aborted, changed := trial("a", 1, usual()), trial("a", 1, usual())
	aborted.Steps[2].Aborted = "skipped by the user"
	changed.Steps[2].Step.Connections = 5
	for _, l := range []bench.TrialResult{aborted, changed} {
		row := compared(t, raw{Run: run(), Trials: []bench.TrialResult{trial("a", 1, usual())}}, raw{Run: run(), Trials: []bench.TrialResult{l}}, Options{}).Contenders[0].Rows[1]
		if len(row.New.Rounds) != 0 || row.Sentence != "not comparable: new: not measured at 4 connections" {
			t.Errorf("%+v", row)
		}
	}
}

func TestNotComparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	slower := usual()
	slower.peak /= 2
	before, after := raw{Run: run(), Trials: trials(rng, "a", 6, usual())}, raw{Run: run(), Trials: trials(rng, "a", 6, slower)}
	for name, change := range map[string]func(*bench.Run){
		"limits": func(r *bench.Run) { r.Profile.Limits.CPUs = 2 },
		"data":   func(r *bench.Run) { r.Data.Hash = "bbbb" }, "runtime": func(r *bench.Run) { r.Profile.Runtime = bench.RuntimeProcess },
		"requests": func(r *bench.Run) { r.Profile.Requests = []bench.Request{{Name: "get", Path: "/other"}} },
		"steps":    func(r *bench.Run) { r.Profile.Steps = steps4()[:3] }, "CPU": func(r *bench.Run) { r.Machine.CPUs = 4 },
		"system": func(r *bench.Run) { r.Machine.Arch = "arm64" }, "machine memory": func(r *bench.Run) { r.Machine.MemoryBytes = 1 << 30 },
		"store":         func(r *bench.Run) { r.Store.Kind = bench.StoreExternal },
		"store latency": func(r *bench.Run) { r.Profile.Store.Latency = time.Second }, "target": func(r *bench.Run) { r.Targets = []bench.Target{{Name: "target", URL: "http://x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			changed := after
			change(&changed.Run)
			r := compared(t, before, changed, Options{})
			c := r.Contenders[0]
			if c.Comparable || len(r.Differences) == 0 || r.Differences[0].What != Fact(name) || r.Differences[0].Weight != Incomparable {
				t.Errorf("%s: %+v", name, r.Differences)
				return
			}
			if row := c.Rows[0]; row.Verdict != stats.Inconclusive || !strings.Contains(row.NotComparable, "other "+name+" (") || !strings.HasPrefix(row.Sentence, "not comparable: −") || row.More != 0 {
				t.Errorf("%s: %+v", name, row)
			}
			if c := compared(t, before, changed, Options{Force: true}).Contenders[0]; c.Rows[0].Verdict != stats.Worse || c.Comparable {
				t.Errorf("%s: not forced: %+v", name, c.Rows[0])
			}
		})
	}
	for name, change := range map[string]func(*bench.Run){
		"kernel":          func(r *bench.Run) { r.Machine.Kernel = "7" },
		"request timeout": func(r *bench.Run) { r.Profile.Timeout = time.Second }, "Docker": func(r *bench.Run) { r.Software.Docker = "30" },
		"profile hash": func(r *bench.Run) { r.Profile.Data.Seed = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			changed := after
			change(&changed.Run)
			r := compared(t, before, changed, Options{})
			if !slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.What == Fact(name) && d.Weight != Incomparable }) || r.Contenders[0].Rows[0].Verdict != stats.Worse {
				t.Errorf("%s: %+v", name, r)
			}
		})
	}
	// Names, numbers of rounds and the folder of the same data do not matter.
	same := after
	same.Run.Profile.Name, same.Run.Profile.Rounds, same.Run.Data.Name = "another", 12, "/elsewhere"
	if d := compared(t, before, same, Options{}).Differences; len(d) != 0 {
		t.Errorf("%+v", d)
	}
	// Differences between the instances count too.
	unlimited := after
	unlimited.Trials = trials(rng, "a", 6, slower)
	for i := range unlimited.Trials {
		unlimited.Trials[i].Instance.LimitsEnforced = false
		unlimited.Trials[i].Service.Version = "2.0"
	}
	c := compared(t, before, unlimited, Options{}).Contenders[0]
	if len(c.Differences) != 2 || c.Rows[0].NotComparable != "other limits enforced (yes → no)" || c.Differences[1].String() != "version (1.0 → 2.0)" {
		t.Errorf("%+v", c)
	}
}

func TestBusyMachineIsReported(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	before, after := raw{Run: run(), Trials: trials(rng, "a", 1, usual())}, raw{Run: run(), Trials: trials(rng, "a", 1, usual())}
	before.Run.Machine.Load1, after.Run.Machine.Load1 = "3.9", "4.1" // of eight CPUs
	if w := compared(t, before, after, Options{}).Warnings; len(w) != 1 || !strings.HasPrefix(w[0].String(), "new: the machine was busy before the run (load 4.1 on 8 CPUs)") {
		t.Errorf("%q", w)
	}
	for _, load := range []string{"", "NaN", "much", "-1"} {
		after.Run.Machine.Load1 = load
		if w := compared(t, before, after, Options{}).Warnings; len(w) != 0 {
			t.Errorf("load %q: %q", load, w)
		}
	}
}

func TestTextAndJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	hostile := "a\x1b[31m\u202e\n"
	before, after := raw{Run: run(), Trials: trials(rng, hostile, 6, usual())}, raw{Run: run(), Trials: trials(rng, hostile, 6, usual())}
	after.Run.Machine.Kernel = "6\x1b]0;title\a"
	r := compared(t, before, after, Options{})
	r.OnlyNew = []string{"\x1b[2J"}
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.ContainsAny(text, "\x1b\a\u202e") {
		t.Errorf("text from files is not safe: %q", text)
	}
	for _, want := range []string{"The runs differ:\n  kernel: none → 6", "6 rounds → 6 rounds", "peak throughput, 8 connections", "same within 3%: ", "50.", "MiB", "Only in new: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(data, &back); err != nil || fmt.Sprint(back.Contenders[0].Rows[0].Verdict) != "same" || *back.Contenders[0].Rows[0].P != *r.Contenders[0].Rows[0].P {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestDefinitionsOfAStepAreNotCompared(t *testing.T) {
	trial := func(d bench.Definition) []bench.TrialResult {
		return []bench.TrialResult{{Steps: []bench.StepResult{{Load: bench.Load{Definition: d, Sent: 1}}}}}
	}
	if text := breaking(TrialDifferences(trial(bench.OldDefinition), trial(bench.Interval)), math.MaxInt); !strings.Contains(text, "measured step") || !strings.Contains(text, "old definition") {
		t.Errorf("%q", text)
	}
	if text := breaking(TrialDifferences(trial(bench.Interval), trial(bench.Interval)), math.MaxInt); text != "" {
		t.Errorf("%q", text)
	}
}
