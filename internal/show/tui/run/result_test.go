package run

import (
	"errors"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// over is the state of a run that has ended.
func over(run bench.Run, trials []bench.TrialResult) StateMsg {
	s := &fold.State{Version: 1, Run: run, Dir: "results/" + run.ID, Last: run.Ended, Ended: &bench.RunEnded{State: run.State}}
	for i, t := range trials {
		s.Trials = append(s.Trials, &fold.Trial{Result: t, Number: i + 1})
	}
	return StateMsg{State: s, At: s.Last}
}

// ended is the page of a run that has ended. It concludes once for all its frames.
func ended(state StateMsg, past ui.Source, keys ...string) tuitest.Page {
	made := func() *Result {
		r := newResult(past)
		r.over = true
		return r
	}
	known := made().Update(state)()
	return tuitest.Page{Keys: keys, Msgs: []tea.Msg{known}, New: func(*testing.T) ui.Page {
		r := made()
		r.StateMsg, r.version = state, state.State.Version
		return r
	}}
}

// wobble are deviations of rounds from their mean.
var wobble = []float64{1.004, .997, 1.007, .994, 1.002, .999}

// curve is a contender: its throughput at each number of connections, and what belongs to it.
type curve struct {
	label   string
	rates   []float64
	memory  int64 // MiB
	cpu     time.Duration
	startUp time.Duration
}

// rounds returns rounds of a contender, with steps of 1, 4, 16, … connections.
func (c curve) rounds(n int) (all []bench.TrialResult) {
	for i := range n {
		var steps []bench.StepResult
		for k, rate := range c.rates {
			connections := 1 << (2 * k)
			rate *= wobble[(i+k)%len(wobble)]
			successes := int64(rate * benchtest.Length.Seconds())
			step := benchtest.Step(successes, benchtest.Of(benchtest.Closed(connections)),
				benchtest.CPU(c.cpu*time.Duration(successes)))
			mean := time.Duration(float64(connections) / rate * float64(time.Second))
			h := hdr.New()
			for j := range 100 {
				h.Record(mean/2 + mean*time.Duration(j)/100 + mean*time.Duration(j/98))
			}
			step.Load.Latency = h.Latencies()
			step.After.Memory = &bench.Memory{Used: c.memory << 20, Peak: c.memory << 20}
			steps = append(steps, step)
		}
		t := benchtest.Trial(c.label, i+1, steps...)
		t.StartUp = &c.startUp
		t.Checks = slices.Repeat([]bench.CheckResult{{Group: "get", Name: "a city", Status: bench.CheckPassed}}, 36)
		limits := bench.Limits{CPUs: 1.5, Memory: 512 << 20}
		t.Instance = &bench.InstanceInfo{PID: 1, Limits: limits, LimitsEnforced: true}
		all = append(all, t)
	}
	return all
}

var (
	nethttp = curve{"go-nethttp", []float64{6200, 18400, 21100, 19000, 15200}, 209, 68 * time.Microsecond, 45 * time.Millisecond}
	actix   = curve{"rs-actix", []float64{5800, 14200, 20400, 20100, 16100}, 174, 57 * time.Microsecond, 3 * time.Millisecond}
	http4k  = curve{"kt-http4k", []float64{3900, 7870, 7600, 7300, 6900}, 380, 158 * time.Microsecond, 1580 * time.Millisecond}
	ktor    = curve{"kt-ktor", []float64{2700, 4900, 5510}, 511, 240 * time.Microsecond, 1780 * time.Millisecond}
)

// runOf is a run of a profile with the limits of these contenders, 38 minutes long.
func runOf(name string, trials ...bench.TrialResult) bench.Run {
	run := benchtest.Run(trials...)
	run.ID, run.Profile.Name, run.Profile.Title = "20261122-080000-"+name, name, name
	run.Profile.Limits = bench.Limits{CPUs: 1.5, Memory: 512 << 20}
	run.Given = []string{"locbench", "run", "--profile=" + name}
	run.Ended = run.Started.Add(38 * time.Minute)
	return run
}

// killed makes rounds fail for lack of memory, after their last step.
func killed(trials []bench.TrialResult, rounds ...int) []bench.TrialResult {
	for _, n := range rounds {
		t := &trials[n-1]
		t.State, t.Failure = bench.TrialFailed, "killed out of memory at 512 MiB (limits.memory)"
		t.Cause = &bench.Cause{Kind: bench.CauseKilled, Text: "killed out of memory at 512 MiB (limits.memory)"}
		t.LastLog = []bench.LogLine{{Text: "INFO GET /city/v1/get?id=2872580&language=de 200 8ms"}}
	}
	return trials
}

func several() StateMsg {
	trials := slices.Concat(nethttp.rounds(6), actix.rounds(6), http4k.rounds(6), killed(ktor.rounds(6), 2, 5))
	run := runOf("locations", trials...)
	run.Profile.Thresholds = []bench.Threshold{{Condition: "p99<50ms"}}
	run.Warnings = bench.Warnings{{Text: "the store shares its CPUs with the contender"}}
	return over(run, trials)
}

func TestResult_Several(t *testing.T) {
	c := ended(several(), nil)
	c.Frames(t, "end-several")
	c.Light(t, "end-several")
}

// One contender is compared with the last complete run of its profile.
func TestResult_One(t *testing.T) {
	trials := nethttp.rounds(1)
	run := runOf("quick", trials...)
	run.Machine.CPUs = 2
	slower := func(c *curve) { c.rates = []float64{6100, 17000, 19000, 18000, 15000} }
	before := benchtest.With(nethttp, slower).rounds(1)
	earlier := benchtest.With(runOf("quick", before...), func(r *bench.Run) {
		r.ID, r.Started, r.Machine = "before", r.Started.Add(-time.Hour), run.Machine
	})
	past := tuitest.Folders{
		{Dir: "broken", Run: earlier, Broken: errors.New("broken")},
		{Dir: "results/other", Run: benchtest.With(earlier, func(r *bench.Run) {
			r.Profile.Name, r.Started = "other", run.Started.Add(-time.Minute)
		})},
		{Dir: "results/before", Run: earlier, Trials: before},
		{Dir: "results/oldest", Trials: before, Run: benchtest.With(earlier, func(r *bench.Run) {
			r.Started = r.Started.Add(-time.Hour)
		})},
	}
	ended(over(run, trials), past).Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "go-nethttp reached 21,248/s", "Throughput since 22 Nov 07:00: inconclusive", "no ranking", "step  ")
	})
}

// What failed is named with its remedy, for runs of each kind.
func TestResult_Kinds(t *testing.T) {
	for name, want := range map[string]string{
		"locations": "✗ kt-ktor is excluded: it was killed out of memory", "burst": "rs-warp has the lowest p99", "cold-warm": "First request: go-echo",
		"delay-matrix": "go-nethttp has the highest throughput at each of 5",
	} {
		t.Run(name, func(t *testing.T) {
			run, trials, err := results.Read("../../../../testdata/results/" + name)
			testenv.OK(t, err)
			ended(over(run, trials), nil).Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
				testenv.Contains(t, p.Frame(), want, trials[0].Trial.Contender)
			})
		})
	}
}

// While the run is in progress the page has what is known so far, and no ways on.
func TestResult_SoFar(t *testing.T) {
	r := newResult(nil)
	r.SetSize(ui.SizeOf(120, 40), ui.NewTheme(ui.ThemeOptions{}))
	testenv.Contains(t, r.View(), "No contender has results yet.")
	testenv.Check(t, r.Update(live(t)) == nil, "a run in progress is concluded with its end")
	testenv.Contains(t, r.View(), "kt-ktor is excluded: it was killed out of memory", "kt-http4k")
	testenv.Check(t, r.Update(tuitest.Key("s")) == nil, "a run in progress is started again")
}

// Contenders of several are compared with the run before in a few words, unless that is in progress.
func TestResult_Since(t *testing.T) {
	before := slices.Concat(nethttp.rounds(6), actix.rounds(6))
	slower := benchtest.With(nethttp, func(c *curve) { c.rates = []float64{3000, 9000, 10000} }).rounds(6)
	now := slices.Concat(slower, actix.rounds(6), http4k.rounds(6))
	run, earlier := runOf("locations", now...), runOf("locations", before...)
	earlier.ID, earlier.Started = "before", run.Started.Add(-time.Hour)
	earlier.Profile.Steps = run.Profile.Steps
	of := analysis.Of(run, now)
	past := tuitest.Folders{{Dir: "before", Run: earlier, Trials: before}}
	testenv.Equal(t, since(past, of), "Throughput since 22 Nov 07:00: go-nethttp worse −52.6%.")
	past[0].Live = true
	testenv.Equal(t, since(past, of), "")
}

// A text that is longer than the page scrolls.
func TestResult_Scrolls(t *testing.T) {
	ended(several(), nil).Play(t, tuitest.Size{Width: 80, Height: 24}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "lines 1 to ")
		p.Press("end")
		testenv.Contains(t, p.Frame(), "!lines 1 to ", "at peak: ")
	})
}

// What says that responses may be wrong follows the verdict.
func TestResult_Accepted(t *testing.T) {
	state := several()
	state.State.Run.AcceptFailedChecks = true
	ended(state, nil).Play(t, tuitest.Size{Width: 80, Height: 24}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "Failed checks were accepted")
	})
}

// pastOf is a list of results folders.
type pastOf []results.Entry

func (p pastOf) List() ([]results.Entry, int)                       { return p, 0 }
func (pastOf) Load(string) (bench.Run, []bench.TrialResult, error)  { return bench.Run{}, nil, nil }
func (pastOf) Floor(bench.Run, bench.Run, ...string) *compare.Floor { return nil }
func linked(kind string) func(...string) tea.Cmd {
	return func(args ...string) tea.Cmd { return ui.Cmd(append([]string{kind}, args...)) }
}

// saved is a results folder of a run that has ended.
type saved struct{ pastOf }

func (saved) Load(string) (bench.Run, []bench.TrialResult, error) {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete}
	return bench.Run{ID: "saved", State: bench.RunComplete}, []bench.TrialResult{trial}, errors.New("a file cannot be read")
}

// TestWithoutALog: a run that was watched and whose log lacks the end is shown as its results have it.
func TestWithoutALog(t *testing.T) {
	over := make(chan struct{})
	close(over)
	r := New(Options{Session: &session{watched: true, stay: over}, Past: saved{}})
	r.end(r.batch(batchMsg{})().(endedMsg))
	testenv.Check(t, r.state.Run.ID == "saved" && len(r.state.Results()) == 1 && r.state.Ended != nil, "%+v", r.state)
}

// TestWaysOn: each way on from the end of a run leads to its page. A command of a results folder is
// shown before it is started.
func TestWaysOn(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	entry := func(dir, profile string, state bench.RunState, n int) results.Entry {
		return results.Entry{Dir: dir, ID: dir, Profile: profile, State: state, Started: day(n), Complete: map[bench.RunState]int{bench.RunComplete: 1}[state]}
	}
	r := New(Options{Session: &session{}, Past: pastOf{
		entry("before", "quick", bench.RunComplete, 3), entry("other", "slow", bench.RunComplete, 4),
		entry("failed", "quick", bench.RunFailed, 5), entry("after", "quick", bench.RunComplete, 9), entry("older", "quick", bench.RunComplete, 1),
	}, Links: Links{
		Start:   func(args []string) tea.Cmd { return linked("start")(args...) },
		Compare: func(a, b string) tea.Cmd { return linked("compare")(a, b) },
		Runs:    func() tea.Cmd { return linked("runs")() },
	}})
	r.size = ui.SizeOf(80, 24)
	r.state.Run = bench.Run{ID: "this", Started: day(7), Profile: bench.Profile{Name: "quick"}, Given: []string{"locbench", "run", "a"}}
	press := func(name string) tea.Cmd { return r.Update(tuitest.Key(name)) }
	last := len(r.tabs) - 1
	r.tabs[0], r.tabs[last] = r.tabs[last], r.tabs[0] // as at the end
	testenv.Check(t, press("s") == nil, "a run in progress is started again")
	r.tabs[r.at].(*Result).end = &ending{}
	testenv.Check(t, press("R") == nil, "nothing is missing")
	r.state.Dir, r.state.Trials = "dir", []*fold.Trial{{Result: bench.TrialResult{State: bench.TrialAborted}}}
	for key, want := range map[string][]string{
		"b": {"runs"}, "c": {"compare", "before", r.options.Session.Dir()},
		"s": {"start", "a"}, "R": {"start", "--resume", r.options.Session.Dir()},
	} {
		msg := press(key)()
		if ask, ok := msg.(ui.AskMsg); ok {
			testenv.Contains(t, ask.Text, "locbench run ")
			msg = r.Update(ask.Choices[0].Msg)()
		}
		testenv.Equal(t, msg, tea.Msg(want))
	}
	r.state.Run.Profile.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "b"}}
	testenv.Equal(t, press("c")(), tea.Msg([]string{"compare", r.options.Session.Dir(), r.options.Session.Dir()}),
		"the two contenders of the run")
	r.state.Run.Profile.Contenders = nil
	r.state.Run.Profile.Name = "new"
	tell, ok := press("c")().(ui.TellMsg)
	testenv.Check(t, ok && tell.Bad, "a profile without an earlier run: %v", tell)
	for key, want := range map[string]int{"enter": 1, "v": last} {
		r.at = 0
		press(key)
		testenv.Equal(t, r.at, want, key)
	}
}

// TestAReport is written once at a time.
func TestAReport(t *testing.T) {
	r := New(Options{Session: &session{}, Opener: reporter{}})
	first := r.report()
	testenv.Check(t, r.report() == nil, "a second report is written at the same time")
	testenv.Equal(t, r.Update(first())(), tea.Msg(ui.TellMsg{Text: "report " + r.options.Session.Dir()}))
	testenv.Check(t, r.report() != nil, "no report after the first")
}

type reporter struct{ ui.Opener }

func (reporter) Report(dir string) (string, error) { return "report " + dir, nil }
