package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
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

func TestParseGates(t *testing.T) {
	gates, err := ParseGates("throughput<-5%, p99 > +10% ,memory>+2.5%,cpu>+150%,start-up>+0%")
	want := []Gate{{measure.Throughput, -0.05}, {measure.P99Half, 0.1}, {measure.MemoryPeak, 0.025}, {measure.CPURequest, 1.5}, {measure.StartUp, 0}}
	testenv.Need(t, err == nil && slices.Equal(gates, want), "%+v, %v, want %+v", gates, err, want)
	testenv.OK(t, testenv.Err(ParseGates(strings.Repeat(" ", 492)+"p99>+10%")))
	testenv.Equal(t, Gates(), "throughput<-5%, p99>+10%, start-up>+10%, time-to-peak>+10%, memory>+10%, cpu>+10%, p50>+10%, errors>+10%, db cpu>+10%")
	testenv.Equal(t, gates[0].String()+" "+gates[2].String(), "throughput<-5% memory>+2.5%")
	gates, err = ParseGates("p50>+10%,errors>+0%,my-db  cpu > +20%,db2 cpu>+20%")
	want = []Gate{{measure.P50Half, .1}, {measure.ErrorRate, 0}, {"need:my-db:cpu", .2}, {"need:db2:cpu", .2}}
	testenv.Check(t, err == nil && slices.Equal(gates, want) && gates[2].String() == "my-db cpu>+20%",
		"%+v, %v, want %+v", gates, err, want)
	for text, what := range map[string]string{
		"db memory>+5%": `no measure "db memory"; expected a change such as throughput<-5%`, "db p99>+5%": "no measure", "db cpu<-5%": "is an improvement",
		"cpu cpu cpu>+5%": "expected", "db cpu>+5%,db cpu>+7%": "db cpu given twice", "error-ratio>+5%": "no measure", "switches>+5%": "no measure",
		"": "expected a change such as", "throughput": "expected a change such as", "<-5%": `no measure ""`, "speed<-5%": `no measure "speed"; expected a change such as throughput<-5%, p99>+10%, start-up`,
		"throughput>+5%": "is an improvement; expected a change such as throughput<-5%", "p99<-5%": "is an improvement",
		"throughput<5%": `"throughput<5%": expected`, "throughput<-5": "expected", "throughput<-%": "expected", "throughput<--5%": "expected",
		"throughput<-100%": "100% is not possible", "p99>+10000%": "10000% is not possible", "p99>+10001%": "is not possible", "p99>+1e3%": "expected", "p99>+1.2.3%": "is not possible",
		"p99>+NaN%": "expected", "p99>+10%,": "expected a change such as", "p99>+10%,p99>+5%": "twice", "p99>=+10%": "expected",
		strings.Repeat(" ", 493) + "p99>+10%": "longer than 500 bytes", "cpu>+.%": "is not possible", "p99>+\xff%": "longer than 500 bytes",
	} {
		t.Run(text, func(t *testing.T) {
			testenv.Fails(t, testenv.Err(ParseGates(text)), what)
		})
	}
}

// A gate fails if the whole CI is beyond the change, and passes if the whole CI is within.
func TestGate_Check(t *testing.T) {
	const hair = 1e-9
	refused := Row{NotComparable: "other limits", Ratio: &stats.Ratio{Estimate: 2, Interval: stats.Interval{Low: 2, High: 2}}}
	ci := func(low, high float64) Row {
		r := stats.Ratio{Estimate: (low + high) / 2, Interval: stats.Interval{Low: low, High: high}}
		return Row{Ratio: &r, P: new(float64), changed: r.Words()}
	}
	ranks := func(fresh ...float64) Row {
		return Row{P: new(float64), changed: "100 → 30", Old: Side{Rounds: slices.Repeat([]float64{100}, 6)}, New: Side{Rounds: fresh}}
	}
	zerosInOld, noisy := ranks(slices.Repeat([]float64{300}, 6)...), ranks(0, 0, 0, 60, 60, 60)
	zerosInOld.Old.Rounds, noisy.BelowFloor = []float64{100, 100, 100, 0, 0, 100}, true
	below, from := ci(.6, .7), ci(.7, .75)
	below.BelowFloor, from.BelowFloor = true, true
	for _, c := range []struct {
		name   string
		change float64
		row    Row
		want   Outcome
		why    string
	}{
		{"less than allowed", -.25, ci(.7, .75-hair), Failed, "−27.5% (−30.0% to −25.0%)"},
		{"up to the limit", -.25, ci(.7, .75), Unsure, "−27.5% (−30.0% to −25.0%): the CI includes the limit"},
		{"on both sides of the limit", -.25, ci(.7, .8), Unsure, "−25.0% (−30.0% to −20.0%): the CI includes the limit"},
		{"from below the limit", -.25, ci(.75-hair, .8), Unsure, "−22.5% (−25.0% to −20.0%): the CI includes the limit"},
		{"from the limit", -.25, ci(.75, .8), Passed, "−22.5% (−25.0% to −20.0%)"},
		{"exactly the limit", -.25, ci(.75, .75), Passed, "−25.0% (−25.0% to −25.0%)"},
		{"more", -.25, ci(1.25, 1.5), Passed, "+37.5% (+25.0% to +50.0%)"},
		{"below the noise floor", -.25, below, Unsure, "−35.0% (−40.0% to −30.0%): below the noise floor"},
		{"below the noise floor up to the limit", -.25, from, Unsure, "−27.5% (−30.0% to −25.0%): the CI includes the limit"},
		{"slower than allowed", .25, ci(1.25+hair, 1.5), Failed, "+37.5% (+25.0% to +50.0%)"},
		{"from the limit on", .25, ci(1.25, 1.5), Unsure, "+37.5% (+25.0% to +50.0%): the CI includes the limit"},
		{"above the limit", .25, ci(1, 1.25+hair), Unsure, "+12.5% (0.0% to +25.0%): the CI includes the limit"},
		{"slower up to the limit", .25, ci(1, 1.25), Passed, "+12.5% (0.0% to +25.0%)"},
		{"too few rounds", .25, Row{Sentence: "inconclusive"}, Open, "inconclusive"},
		{"not comparable", .25, refused, Refused, "other limits"},
		{"no response in some rounds", .25, Row{NotComparable: "new: no response in 1 of 6 rounds", unanswered: true}, Open,
			"new: no response in 1 of 6 rounds"},
		{"nothing in old", .25, Row{NotComparable: "old: no response", unanswered: true, silent: [2]bool{true, false}}, Open,
			"old: no response"},
		{"nothing in new", .25, Row{NotComparable: "new: no response", unanswered: true, silent: [2]bool{false, true}}, Failed,
			"nothing succeeded in new"},
		{"nothing in new, one round", -.25, Row{Sentence: "1 round, need ≥ 6", silent: [2]bool{false, true}}, Failed,
			"nothing succeeded in new"},
		{"nothing in new, excluded", -.25, Row{NotComparable: "new failed", silent: [2]bool{true, true}}, Failed,
			"nothing succeeded in new"},
		{"zeros, certainly less", -.25, ranks(0, 0, 0, 60, 60, 60), Failed, "100 → 30"},
		{"zeros, perhaps less", -.25, ranks(0, 0, 0, 90, 90, 90), Unsure, "100 → 30: not certainly beyond the limit"},
		{"zeros, certainly more", -.25, zerosInOld, Passed, "100 → 30"},
		{"zeros, below the noise floor", -.25, noisy, Unsure, "100 → 30: below the noise floor"},
		{"zeros, certainly slower", .25, zerosInOld, Failed, "100 → 30"},
		{"zeros, certainly faster", .25, ranks(0, 0, 0, 60, 60, 60), Passed, "100 → 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := measure.Throughput
			if c.change > 0 {
				id = measure.P99Half
			}
			c.row.Measure = id
			r := Result{Contenders: []Contender{{New: "a", Rows: []Row{{Measure: measure.StartUp}, c.row}, excluded: true}}}
			g := Gate{id, c.change}
			want := []GateResult{{"a", g.String(), c.want, c.why, true}}
			got := r.CheckGates([]Gate{g})
			testenv.Check(t, slices.Equal(got, want), "%+v, want %+v", got, want)
		})
	}
}

// A version that has no success fails each gate on what responses have, whatever the other side
// did. What too few rounds or missing responses of the old side leave open is open.
func TestResult_CheckGates(t *testing.T) {
	gates := testenv.Must(ParseGates("throughput<-5%,p99>+10%,start-up>+10%,cpu>+10%"))(t)
	a := func(n int, changes ...change) raw { return of(trials("a", n, usual(), changes...)) }
	limits := func(r *bench.Run) { r.Profile.Limits.CPUs = 2 }
	half := func(l *bench.TrialResult) { l.Steps[2].Load.Succeeded = 0 }
	noisy := func(l *bench.TrialResult) {
		if l.Trial.Round <= 3 {
			l.Steps[3].Load.Succeeded = l.Steps[3].Load.Succeeded * 4 / 5
		}
	}
	for _, c := range []struct {
		name          string
		before, after raw
		force         bool
		want          string // outcomes of throughput, p99, start-up, CPU per request
	}{
		{"the same", a(6), a(6), false, "passed passed passed passed"},
		{"noisy", a(6), a(6, noisy), false, "unsure passed passed unsure"},
		{"slower", a(6), of(trials("a", 6, faster(.8))), false, "failed failed passed failed"},
		{"nothing in new", a(6), a(6, late), false, "failed failed passed failed"},
		{"nothing in old", a(6, late), a(6), false, "passed open passed open"},
		{"nothing in either", a(6, late), a(6, late), false, "failed failed passed failed"},
		{"nothing in new at half peak", a(6), a(6, half), false, "passed failed passed passed"},
		{"nothing in new at half peak, once", a(6), a(6, in(2, half)), false, "passed open passed passed"},
		{"nothing in four rounds of new", a(6), a(6, in(1, late), in(2, late), in(3, late), in(4, late)), false,
			"failed open passed open"},
		{"one round", a(1), a(1), false, "open open open open"},
		{"one round, nothing in new", a(1), a(1, late), false, "failed failed open failed"},
		{"each request of new failed", a(6), a(6, refused), false, "failed failed refused failed"},
		{"each request of old failed", a(6, refused), a(6), false, "refused refused refused refused"},
		{"not comparable", a(6), a(6).with(limits), false, "refused refused refused refused"},
		{"nothing in new, not comparable", a(6), a(6, late).with(limits), false, "refused refused refused refused"},
		{"nothing in new, not comparable, by force", a(6), a(6, late).with(limits), true, "failed failed passed failed"},
	} {
		var got []string
		for _, g := range compared(t, c.before, c.after, Options{Force: c.force}).CheckGates(gates) {
			got = append(got, string(g.Outcome))
		}
		testenv.Check(t, strings.Join(got, " ") == c.want, "%s: %s, want %s", c.name, strings.Join(got, " "), c.want)
	}
}

// The median latency and errors are compared for conditions only, and errors also of what they
// exclude.
func TestResult_CheckGates_OnlyGated(t *testing.T) {
	gates := testenv.Must(ParseGates("p50>+10%,errors>+100%"))(t)
	p50 := func(d time.Duration) change {
		return func(l *bench.TrialResult) {
			for i := range l.Steps {
				l.Steps[i].Load.Latency.P50 = d + time.Duration(l.Trial.Round)
			}
		}
	}
	a := func(changes ...change) raw {
		return of(trials("a", 6, usual(), append([]change{p50(time.Millisecond)}, changes...)...))
	}
	checks := func(l *bench.TrialResult) { l.Checks = []bench.CheckResult{{Name: "x", Status: bench.CheckFailed}} }
	for _, c := range []struct {
		name          string
		before, after raw
		want          string
	}{
		{"no errors", a(), a(), "passed: 0.0% (0.0% to 0.0%); passed: 0 → 0: no errors in old and new"},
		{"slower", a(), a(p50(2 * time.Millisecond)), "failed: +100.0% (+100.0% to +100.0%); passed: 0 → 0: no errors in old and new"},
		{"first errors", a(), a(failing(3, 10)), "passed: 0.0% (0.0% to 0.0%); failed: 0 → <0.01%: no errors in old"},
		{"errors once", a(), a(in(2, failing(3, 10))), "passed: 0.0% (0.0% to 0.0%); unsure: 0 → 0: no errors in old and 5 of 6 rounds of new: not certainly beyond the limit"},
		{"twice as many", a(failing(3, 10)), a(failing(3, 18)), "passed: 0.0% (0.0% to 0.0%); passed: +80.0% (+77.7% to +82.4%)"},
		{"too many", a(), a(failing(1, 1e6), failing(2, 1e6), failing(3, 1e6)), "refused: new failed at least 90.8% of its requests in every step; first: timeout; failed: 0 → 88.9%: no errors in old"},
		{"failed checks", a(), a(failing(3, 10), checks), "refused: new failed 6 of 6 checks; first: : x; refused: new failed 6 of 6 checks; first: : x"},
	} {
		var got []string
		for _, g := range compared(t, c.before, c.after, Options{}).CheckGates(gates) {
			got = append(got, string(g.Outcome)+": "+g.Why)
		}
		testenv.Equal(t, strings.Join(got, "; "), c.want, c.name)
	}
}

func FuzzParseGates(f *testing.F) {
	for _, seed := range []string{"throughput<-5%,p99>+10%", "p99>+0.0%", "memory>+99.99%", "cpu>+\x00%", ",,,", "throughput<-.%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		gates, err := ParseGates(text)
		if err != nil {
			return
		}
		for _, g := range gates {
			again, err := ParseGates(g.String())
			testenv.Need(t, err == nil && len(again) == 1 && again[0].Measure == g.Measure && again[0].Change-g.Change <= 1e-12 && g.Change-again[0].Change <= 1e-12,
				"%q became %q: %+v, %v", text, g.String(), again, err)
		}
	})
}
