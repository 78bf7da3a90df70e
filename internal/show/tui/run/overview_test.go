package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOverview(t *testing.T) {
	state := stateOf(inAStep(t))
	alone(newOverview, state).Frames(t, "live-overview")
	alone(newOverview, stateOf(tuitest.Records(t, "limits")[:12])).Frames(t, "live-waiting")
}

// overviewOf returns the tab with a state, after keys.
func overviewOf(state StateMsg, keys ...string) *Overview {
	o := newOverview().(*Overview)
	o.SetSize(ui.SizeOf(120, 40), ui.NewTheme(ui.ThemeOptions{NoColor: true}))
	o.Update(state)
	for _, k := range keys {
		o.Update(tuitest.Key(k))
	}
	return o
}

// A chart is not opened alone: it is shown as before.
func TestNoChartAlone(t *testing.T) {
	state := stateOf(inAStep(t))
	testenv.Equal(t, overviewOf(state, "enter", "left", "down").View(), overviewOf(state).View())
}

// TestAnOpenLoopHasItsRate: the scheduled rate is a line and a value, and its change has a flag.
func TestAnOpenLoopHasItsRate(t *testing.T) {
	records := inAStep(t)
	for i, rec := range records {
		if w, ok := rec.Event.(bench.WindowClosed); ok {
			w.Window.Rate = 7654
			records[i].Event = w
		}
	}
	testenv.Contains(t, overviewOf(stateOf(records)).View(), "scheduled/s")
}

// TestTheCPUOfTheOthers: the chart of the CPU says what client and machine used in the last step.
func TestTheCPUOfTheOthers(t *testing.T) {
	state := stateOf(inAStep(t))
	host := func(busy, idle time.Duration) *bench.HostReading {
		return &bench.HostReading{Host: &bench.HostUsage{Busy: busy, Idle: idle}}
	}
	r := state.Trial.Steps[1].Result
	r.Load.ClientCPUs, r.HostBefore, r.HostAfter = 2, host(0, 0), host(88, 12)
	r.Load.ClientCPU, r.Load.Wall = 4800*time.Millisecond, 10*time.Second
	testenv.Contains(t, overviewOf(state).View(), "throttled 100% of periods; last step: client 0.48 CPUs, machine 88% busy")
}

// TestTheCPUOfANeed is next to that of the contender while the step runs, and in the chart.
func TestTheCPUOfANeed(t *testing.T) {
	records := inAStep(t)
	last := records[len(records)-1]
	at, step := last.At, bench.StepStarted{Index: 9, Step: bench.Step{Name: "64c"}}
	records = append(records, bench.Record{At: at, Trial: last.Trial, Event: step})
	for i := range 4 {
		at = at.Add(time.Second)
		records = append(records, bench.Record{At: at, Trial: last.Trial, Event: bench.UsageRead{
			Usage: bench.Usage{At: at, CPU: time.Duration(i) * 200 * time.Millisecond},
			Needs: map[string]*bench.NeedUsage{
				"db":    {At: at, Source: "cgroup v2", CPU: time.Duration(i) * 510 * time.Millisecond},
				"cache": {At: at, Source: bench.EmbeddedSource},
			}}})
	}
	o := overviewOf(stateOf(records))
	testenv.Contains(t, o.View(), "0.20 of 0.4 CPUs  db 0.51", "!cache")
	testenv.Equal(t, len(o.series(cpu, chart.Axis{To: 1e6}).Series), 2, "curves: contender and need")
}

// TestWhatIsRestored is in the header, and the page has what is known so far.
func TestWhatIsRestored(t *testing.T) {
	records := tuitest.Until(tuitest.Records(t, "limits"), 1, func(rec bench.Record) bool {
		_, ended := rec.Event.(bench.TrialEnded)
		return ended
	})
	next := bench.Trial{Contender: "go-nethttp", Round: 2}
	at := records[len(records)-1].At
	add := func(e bench.Event) { records = append(records, bench.Record{At: at, Trial: &next, Event: e}) }
	add(bench.TrialStarted{Number: 2, Of: 2})
	add(bench.PhaseStarted{Phase: bench.PhaseRestore})
	add(bench.Progress{Phase: bench.PhaseRestore, Text: "restoring db"})
	at = at.Add(3 * time.Second)
	add(bench.Notice{Level: "info", Text: "later"})
	r := New(Options{Session: &session{}})
	r.SetSize(ui.SizeOf(120, 40), ui.NewTheme(ui.ThemeOptions{}))
	r.batch(batchMsg{records: records, ok: true})
	testenv.Contains(t, r.View(), "restoring db", "standings", "so far")
	testenv.Contains(t, heading{r}.phase(), "restoring db, ")
}

// A warm-up that lasts longer than planned says why; another step drains.
func TestLongerThanPlanned(t *testing.T) {
	for until, want := range map[bool]string{true: "compiling, 5s", false: "draining"} {
		records := tuitest.Until(tuitest.Records(t, "limits"), 1, func(rec bench.Record) bool {
			_, ended := rec.Event.(bench.TrialEnded)
			return ended
		})
		at, next := records[len(records)-1].At, bench.Trial{Contender: "go-nethttp", Round: 2}
		step := bench.Step{Name: "8 connections", Connections: 8, WarmUp: true, UntilWarm: until, Duration: 2 * time.Second}
		for _, e := range []bench.Event{bench.TrialStarted{Number: 2, Of: 2}, bench.PhaseStarted{Phase: bench.PhaseLoad},
			bench.StepStarted{Of: 2, Step: step}, bench.WindowClosed{Window: bench.Window{Length: time.Second}}} {
			records = append(records, bench.Record{At: at, Trial: &next, Event: e})
		}
		records = append(records, bench.Record{At: at.Add(5 * time.Second), Event: bench.Notice{Level: "info", Text: "later"}})
		r := New(Options{Session: &session{}})
		r.SetSize(ui.SizeOf(120, 40), ui.NewTheme(ui.ThemeOptions{}))
		r.batch(batchMsg{records: records, ok: true})
		testenv.Contains(t, heading{r}.loading(), want)
	}
}

// TestATrialWithoutSteps shows both ends of the log of a contender that failed before its load.
func TestATrialWithoutSteps(t *testing.T) {
	trial := bench.Trial{Contender: "a", Round: 1}
	var log []bench.LogLine
	for i := range 60 {
		log = append(log, bench.LogLine{Text: fmt.Sprintf("line-%d.", i)})
	}
	state := stateOf([]bench.Record{
		{Event: bench.RunStarted{Run: bench.Run{Trials: []bench.TrialEntry{{Trial: trial}}}}},
		{Trial: &trial, Event: bench.TrialStarted{Number: 1, Of: 1}},
		{Trial: &trial, Event: bench.TrialEnded{State: bench.TrialFailed, Failure: "exited", LastLog: log}},
	})
	testenv.Contains(t, overviewOf(state).View(), "No step was measured", "line-0.", "line-59.", " lines …")
}

// TestErrorsByKind: the most frequent are named.
func TestErrorsByKind(t *testing.T) {
	o := overviewOf(stateOf(inAStep(t)))
	o.Trial.Errors = map[bench.ErrorKind]int64{}
	for i := range 30 {
		o.Trial.Errors[bench.ErrorKind(fmt.Sprint(i))] = int64(i)
	}
	testenv.Equal(t, len(o.kinds()), 12)
	testenv.Equal(t, o.kinds()[:2], []bench.ErrorKind{"29", "28"})
}
