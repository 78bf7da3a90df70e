package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

func TestContenders(t *testing.T) { alone(newContenders, live(t)).Frames(t, "live-contender") }

// standingsOf is the page of contenders in a large terminal.
func standingsOf(state StateMsg) *Contenders {
	c := newContenders().(*Contenders)
	c.SetSize(ui.SizeOf(120, 40), ui.NewTheme(ui.ThemeOptions{}))
	c.Update(state)
	return c
}

// A contender that failed says why and what to do; alone, with its last log.
func TestContenders_Failed(t *testing.T) {
	alone(newContenders, live(t)).Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) {
		p.Press("down")
		testenv.Contains(t, p.Frame(), "▸ ▲ kt-ktor      0/1 ✗", "✗ kt-ktor was killed out of memory", "raise its limit", "!remedy")
		p.Press("enter")
		testenv.Contains(t, p.Frame(), "remedy  raise its limit", "log ", "!contender   rounds")
		p.Press("enter")
		testenv.Contains(t, p.Frame(), "contender   rounds")
	})
}

// The page of one contender can be opened from elsewhere, and esc closes it.
func TestContenders_Show(t *testing.T) {
	c := standingsOf(several())
	c.Show("rs-actix")
	testenv.Contains(t, c.View(), "round 6 of 6", "!contender   rounds")
	press(c, "up")
	one, _ := c.selected()
	testenv.Equal(t, one.label, "go-nethttp")
	msg := c.Update(tuitest.Key("y"))()
	want := ui.CopyMsg{Text: "locbench run --profile locations go-nethttp --rounds 6", What: "the command"}
	testenv.Equal(t, msg, tea.Msg(want))
	testenv.Check(t, c.Escape() && !c.Escape(), "esc closes the page of a contender once")
}

// A contender that has not begun has its place, and no values.
func TestContenders_Planned(t *testing.T) {
	state := stateOf(inAStep(t)[:1])
	c := standingsOf(state)
	testenv.Contains(t, c.View(), "go-nethttp:release", "not started yet", "!start-up  ")
	testenv.Check(t, c.Update(tuitest.Key("y")) == nil, "it has a command")
	testenv.Contains(t, standingsOf(stateOf(nil)).View(), "No contender is known yet.")
}

func TestOrder(t *testing.T) {
	value := func(x float64) stats.Value { return stats.Value{Values: []float64{x}, Median: x} }
	one := func(label string, rate, cpu float64, memory int64) (s standing) {
		used := bench.StepResult{Load: bench.Load{Succeeded: 1}, Before: &bench.Usage{}, After: &bench.Usage{CPU: time.Duration(cpu)}}
		s.label, s.of, s.MemoryPeak = label, &analysis.Run{}, memory
		s.Steps = []stats.Step{{Throughput: value(rate), Results: []bench.StepResult{used}}}
		return s
	}
	out := one("out", 99, 1, 1)
	out.FailedRounds = 1
	plan := []standing{out, {label: "none"}, one("b", 10, 3, 50), one("a", 30, 2, 0), one("c", 20, 3, 40)}
	for o, want := range []string{
		"out none b a c", "a c b none out", "none b a c out", "none b a c out", "a b c none out", "c b none a out",
	} {
		var got []string
		for _, s := range order(o).sorted(plan) {
			got = append(got, s.label)
		}
		testenv.Equal(t, strings.Join(got, " "), want, "order", o)
	}
}

// The selected contender stays selected in another order, which the heading of its column shows.
func TestContenders_Order(t *testing.T) {
	c := standingsOf(several())
	press(c, "down", "down")
	for _, want := range []string{"req/s at peak ↓", "p99 ↑", "errors ↑", "CPU/req ↑", "memory ↑", "$/1B req ↑", ""} {
		press(c, "o")
		head, _, _ := strings.Cut(c.View(), "\n")
		testenv.Contains(t, head, want)
		testenv.Equal(t, strings.Count(head, "↑")+strings.Count(head, "↓"), min(1, len(want)), head)
		one, _ := c.selected()
		testenv.Equal(t, one.label, "kt-http4k", "after o")
	}
}

// Results are summed up again when a step, a trial or a check has changed them, and only then.
func TestKept(t *testing.T) {
	trials := slices.Concat(nethttp.rounds(2), actix.rounds(2))
	state := over(runOf("orders", trials...), trials).State
	var k kept[[]standing]
	first := &k.of(state, standings)[0]
	testenv.Check(t, first == &k.of(state, standings)[0], "summed up twice")
	changed := func(what string) {
		now := &k.of(state, standings)[0]
		testenv.Check(t, now != first, "not summed up after %s", what)
		first = now
	}
	r := &state.Trials[0].Result
	r.Steps = append(r.Steps, benchtest.Step(1))
	changed("a step")
	r.Checks[0].Status = bench.CheckFailed
	changed("a check")
	r.State = bench.TrialFailed
	changed("a trial")
	r.StartUp = nil
	changed("a start")
}

// Nothing from a run moves the cursor or breaks the layout.
func TestStepsAndContenders_Hostile(t *testing.T) {
	const evil = "\x1b[2J世界é\u0301🇩🇪\r\n\u202ex"
	state := live(t)
	for _, trial := range state.State.Trials {
		r := &trial.Result
		r.Trial.Contender, r.Failure = evil, evil
		r.Service.Language, r.Service.Framework, r.Service.Tags = evil, evil, []string{evil}
		for i := range r.Checks {
			r.Checks[i] = bench.CheckResult{Group: evil, Name: evil, Status: bench.CheckFailed, Detail: evil}
		}
		for i, step := range trial.Steps {
			step.Step.Name, step.Step.Connections, step.From = evil, -1, float64(-i)
			if step.Result != nil {
				load := &step.Result.Load
				load.Failed, load.Examples = map[bench.ErrorKind]int64{evil: 1}, map[bench.ErrorKind]string{evil: evil}
				step.Result.Warnings, step.Result.Aborted = bench.Warnings{{Text: evil}}, evil
			}
		}
		for i := range r.Steps {
			r.Steps[i].Step.Name, r.Steps[i].Step.Connections, r.Steps[i].Index = evil, 0, 997+i
		}
	}
	for i := range state.State.Run.Profile.Steps {
		state.State.Run.Profile.Steps[i].Name = evil
	}
	state.State.Version++
	for _, tab := range []func() page{newSteps, newContenders} {
		alone(tab, state).Whole(t)
		alone(tab, state, "enter").Whole(t)
	}
}
