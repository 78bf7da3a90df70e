package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

func TestParseGates(t *testing.T) {
	gates, err := ParseGates("throughput<-5%, p99 > +10% ,memory>+2.5%,cpu>+150%,start-up>+0%")
	want := []Gate{{measure.Throughput, -0.05}, {measure.P99Half, 0.1}, {measure.MemoryPeak, 0.025}, {measure.CPURequest, 1.5}, {measure.StartUp, 0}}
	if err != nil || !slices.Equal(gates, want) {
		t.Fatalf("%+v, %v, want %+v", gates, err, want)
	}
	if _, err := ParseGates(strings.Repeat(" ", 492) + "p99>+10%"); err != nil {
		t.Errorf("500 bytes: %v", err)
	}
	if got, want := Gates(), "throughput<-5%, p99>+10%, start-up>+10%, time-to-peak>+10%, memory>+10%, cpu>+10%"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := gates[0].String() + " " + gates[2].String(); got != "throughput<-5% memory>+2.5%" {
		t.Errorf("%q", got)
	}
	for text, what := range map[string]string{
		"": "expected a change such as", "throughput": "expected a change such as", "<-5%": `no measure ""`, "speed<-5%": `no measure "speed"; expected a change such as throughput<-5%, p99>+10%, start-up`,
		"throughput>+5%": "is an improvement; expected a change such as throughput<-5%", "p99<-5%": "is an improvement",
		"throughput<5%": `"throughput<5%": expected`, "throughput<-5": "expected", "throughput<-%": "expected", "throughput<--5%": "expected",
		"throughput<-100%": "100% is not possible", "p99>+10000%": "10000% is not possible", "p99>+10001%": "is not possible", "p99>+1e3%": "expected", "p99>+1.2.3%": "is not possible",
		"p99>+NaN%": "expected", "p99>+10%,": "expected a change such as", "p99>+10%,p99>+5%": "twice", "p99>=+10%": "expected",
		strings.Repeat(" ", 493) + "p99>+10%": "longer than 500 bytes", "cpu>+.%": "is not possible", "p99>+\xff%": "longer than 500 bytes",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := ParseGates(text); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%q: %v, want %q in it", text, err, what)
			}
		})
	}
}

// A gate fails if the whole CI is beyond the change, and passes if the whole CI is within.
func TestGate_Check(t *testing.T) {
	const hair = 1e-9
	refused := Row{NotComparable: "other limits", Ratio: &stats.Ratio{Estimate: 2, Interval: stats.Interval{Low: 2, High: 2}}}
	ci := func(low, high float64) Row {
		return Row{Ratio: &stats.Ratio{Estimate: (low + high) / 2, Interval: stats.Interval{Low: low, High: high}}}
	}
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
		{"up to the limit", -.25, ci(.7, .75), Open, "−27.5% (−30.0% to −25.0%): the CI includes the limit"},
		{"on both sides of the limit", -.25, ci(.7, .8), Open, "−25.0% (−30.0% to −20.0%): the CI includes the limit"},
		{"from below the limit", -.25, ci(.75-hair, .8), Open, "−22.5% (−25.0% to −20.0%): the CI includes the limit"},
		{"from the limit", -.25, ci(.75, .8), Passed, "−22.5% (−25.0% to −20.0%)"},
		{"exactly the limit", -.25, ci(.75, .75), Passed, "−25.0% (−25.0% to −25.0%)"},
		{"more", -.25, ci(1.25, 1.5), Passed, "+37.5% (+25.0% to +50.0%)"},
		{"below the noise floor", -.25, below, Open, "−35.0% (−40.0% to −30.0%): below the noise floor"},
		{"below the noise floor up to the limit", -.25, from, Open, "−27.5% (−30.0% to −25.0%): the CI includes the limit"},
		{"slower than allowed", .25, ci(1.25+hair, 1.5), Failed, "+37.5% (+25.0% to +50.0%)"},
		{"from the limit on", .25, ci(1.25, 1.5), Open, "+37.5% (+25.0% to +50.0%): the CI includes the limit"},
		{"above the limit", .25, ci(1, 1.25+hair), Open, "+12.5% (0.0% to +25.0%): the CI includes the limit"},
		{"slower up to the limit", .25, ci(1, 1.25), Passed, "+12.5% (0.0% to +25.0%)"},
		{"too few rounds", .25, Row{Sentence: "inconclusive"}, Open, "inconclusive"},
		{"not comparable", .25, refused, Refused, "other limits"},
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
			if got := r.CheckGates([]Gate{{Measure: "none"}, g}); !slices.Equal(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
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
			if err != nil || len(again) != 1 || again[0].Measure != g.Measure || again[0].Change-g.Change > 1e-12 || g.Change-again[0].Change > 1e-12 {
				t.Fatalf("%q became %q: %+v, %v", text, g.String(), again, err)
			}
		}
	})
}
