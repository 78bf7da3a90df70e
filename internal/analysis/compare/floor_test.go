package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// The noise floor of a contender is the far end of the CI of its alternating rounds.
func TestNoiseFloor(t *testing.T) {
	two := of(trials("a", 12, usual()), trials("b", 12, usual()))
	varying := func(l *bench.TrialResult) { // by a factor of two between pairs of rounds
		l.Steps[3].Load.Succeeded = l.Steps[3].Load.Succeeded * int64(10+3*((l.Trial.Round-1)/2%4)) / 10
	}
	text := ""
	for _, c := range []struct {
		name string
		side raw
	}{
		{"twelve rounds", of(trials("a", 12, usual()))},
		{"thirteen rounds", of(trials("a", 13, usual()))},
		{"with another engine", of(trials("a", 12, usual())).with(func(r *bench.Run) { r.Engine = bench.EngineVegeta })},
		{"eleven complete rounds", of(trials("a", 12, usual(), in(4, is(bench.TrialAborted))))},
		{"twelve complete rounds of thirteen", of(trials("a", 13, usual(), in(4, is(bench.TrialAborted))))},
		{"several contenders", two},
		{"one of several", two.only("b")},
		{"another one", two.only("c")},
		{"on a varying machine", of(trials("a", 16, usual(), varying))},
		{"interleaved with itself", of(trials("a", 16, usual(), varying, paired, func(l *bench.TrialResult) {
			for k := range l.Steps { // two rounds at a time
				l.Steps[k].Interleave.Since = l.Steps[k].Interleave.Since.Add(-time.Duration((l.Trial.Round - 1) % 2))
			}
		}))},
		{"a trend that alternates", of(trials("a", 16, usual(), func(l *bench.TrialResult) {
			l.Steps[3].Load.Succeeded += 20_000 * int64(l.Trial.Round%2)
		}))},
	} {
		var b strings.Builder
		f, err := NoiseFloor(c.side.set())
		if err != nil {
			fmt.Fprintln(&b, err)
		} else if err := f.Text(&b); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			fmt.Fprintf(&b, "%s, %s; fits %v\n", f.Words(), f.Profile, f.Fits(run()))
		}
		text += "## " + c.name + "\n\n" + b.String() + "\n"
	}
	testenv.Golden(t, "testdata/floor.txt", text)
}

func TestFloor_Fits(t *testing.T) {
	f := Floor{Schema: FloorSchema, ProfileHash: ProfileHash(run().Profile), Machine: run().Machine}
	for name, change := range map[string]func(*bench.Run){
		"": func(r *bench.Run) { r.Machine.Kernel, r.Profile.Rounds = "7", 20 }, "engine": func(r *bench.Run) { r.Engine = "x" },
		"profile": func(r *bench.Run) { r.Profile.Limits.CPUs++ }, "model": func(r *bench.Run) { r.Machine.CPUModel = "x" },
		"CPUs": func(r *bench.Run) { r.Machine.CPUs++ }, "memory": func(r *bench.Run) { r.Machine.MemoryBytes++ },
		"OS": func(r *bench.Run) { r.Machine.OS = "x" }, "architecture": func(r *bench.Run) { r.Machine.Arch = "x" },
	} {
		r := run()
		if change(&r); f.Fits(r) != (name == "") {
			t.Errorf("another %s: %v", name, f.Fits(r))
		}
	}
	if f.Schema++; f.Fits(run()) {
		t.Error("another schema fits")
	}
}

func TestFloor_Of(t *testing.T) {
	f := &Floor{Measures: []MeasureFloor{{Measure: "a", Floor: .1}, {Measure: "b", Floor: .2}, {Measure: "c", Floor: math.Inf(1)}}}
	got := []float64{f.Of("a"), f.Of("b"), f.Of("c"), f.Of("d"), (*Floor)(nil).Of("a")}
	testenv.Check(t, slices.Equal(got, []float64{.1, .2, 0, 0, 0}), "%v", got)
	f.Measures = f.Measures[:2]
	testenv.Equal(t, f.Largest(), .2, "the largest")
	for _, c := range []struct{ low, high, want float64 }{{.8, 1.1, .25}, {.99, 1.5, .5}, {1.1, 1.2, .2}, {.5, .9, 1}} {
		got := farEnd(stats.Ratio{Interval: stats.Interval{Low: c.low, High: c.high}})
		testenv.Check(t, math.Abs(got-c.want) <= 1e-9, "%g to %g: %g, want %g", c.low, c.high, got, c.want)
	}
}
