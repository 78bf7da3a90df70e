package board

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// long returns a trial in the middle of its load, with 600 points of each kind and errors of two
// kinds.
func long() *fold.State {
	s := &fold.State{}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	trial := bench.Trial{Contender: "go-nethttp", Variant: "release", Round: 1}
	var list []bench.Step
	for n := range 16 {
		list = append(list, bench.Step{Name: itoa(1<<n) + " connections", Connections: 1 << n, Duration: 50 * time.Second})
	}
	send := func(after time.Duration, e bench.Event) {
		at = at.Add(after)
		s.Apply(bench.Record{At: at, Trial: &trial, Event: e})
	}
	run := bench.Run{Profile: bench.Profile{Name: "locations", Rounds: 6, Steps: list}, Trials: []bench.TrialEntry{{Trial: trial, State: bench.TrialPending}}}
	s.Apply(bench.Record{At: at, Event: bench.RunStarted{Run: run, Dir: "results/x"}})
	send(0, bench.TrialStarted{Number: 1, Of: 1})
	send(0, bench.InstanceStarted{Info: bench.InstanceInfo{Runtime: bench.RuntimeDocker, Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20}, LimitsEnforced: true}})
	var used time.Duration
	second := func(i int) {
		step, n := min(i/50, 15), int64(4000+i*i%977)
		if i%50 == 0 && i/50 == step {
			if step > 0 {
				send(0, bench.StepEnded{Result: bench.StepResult{Index: step - 1, Step: list[step-1], Load: bench.Load{Succeeded: 50 * n, Elapsed: 50 * time.Second}}})
			}
			send(0, bench.StepStarted{Index: step, Of: len(list), Step: list[step]})
		}
		used += time.Duration(1+i%5) * 300 * time.Millisecond
		send(time.Second/2, bench.UsageRead{Usage: bench.Usage{At: at, CPU: used, Throttling: &bench.Throttling{Periods: int64(i) * 10, Throttled: int64(i) * 3}, Memory: &bench.Memory{Used: int64(20+i%40) << 20, Peak: 60 << 20}}})
		latency := time.Duration(n) * time.Microsecond
		send(time.Second/2, bench.WindowClosed{Index: step, Window: bench.Window{
			Start: time.Duration(i%50) * time.Second, Length: time.Second, Succeeded: n, P50: latency, P90: 3 * latency, P99: 9 * latency,
			Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: n % 7, "5xx": n % 3},
		}})
		send(0, bench.LogLines{Lines: []bench.LogLine{{At: at, Stream: "stdout", Text: "2026-11-21T15:50:39.690Z GET /city/v1/get?id=2945762&language=de 200 62.061ms"}}})
	}
	for i := range 600 {
		second(i)
	}
	return s
}

// BenchmarkViewChanged measures the worst case: every point of every chart may have changed.
func BenchmarkViewChanged(b *testing.B) {
	s := long()
	board, f := New(), ui.Frame{Width: 200, Height: 49, Look: ui.NewLook(ui.LookOptions{}), Now: s.Last}
	trial := s.Current
	b.ReportAllocs()
	for b.Loop() {
		s.Version++
		trial.Load[len(trial.Load)-1].T += 1e-9
		trial.Usage[len(trial.Usage)-1].T += 1e-9
		board.View(f, s, "watching")
	}
}

// BenchmarkViewLog measures a new log line.
func BenchmarkViewLog(b *testing.B) {
	s := long()
	board, f := New(), ui.Frame{Width: 200, Height: 49, Look: ui.NewLook(ui.LookOptions{}), Now: s.Last}
	b.ReportAllocs()
	for b.Loop() {
		s.Version++
		board.View(f, s, "watching")
	}
}

// BenchmarkViewTick measures a frame in which only the time has changed.
func BenchmarkViewTick(b *testing.B) {
	s := long()
	board, f := New(), ui.Frame{Width: 200, Height: 49, Look: ui.NewLook(ui.LookOptions{}), Now: s.Last}
	b.ReportAllocs()
	for b.Loop() {
		f.Tick++
		f.Now = f.Now.Add(time.Millisecond)
		board.View(f, s, "watching")
	}
}
