package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

func TestParseGates(t *testing.T) {
	gates, err := ParseGates("throughput<-5%, p99 > +10% ,memory>+2.5%,cpu>+150%,start-up>+0%")
	want := []Gate{{measure.Throughput, -0.05}, {measure.P99Half, 0.1}, {measure.MemoryPeak, 0.025}, {measure.CPURequest, 1.5}, {measure.StartUp, 0}}
	if err != nil || len(gates) != len(want) {
		t.Fatalf("%+v, %v", gates, err)
	}
	for i, g := range gates {
		if g != want[i] {
			t.Errorf("%+v, want %+v", g, want[i])
		}
	}
	if got := gates[0].String() + " " + gates[2].String(); got != "throughput<-5% memory>+2.5%" {
		t.Errorf("%q", got)
	}
	for text, what := range map[string]string{
		"": "expected a change such as", "throughput": "expected a change such as", "speed<-5%": `choose one of throughput, p99, start-up, time-to-peak, memory, cpu`,
		"throughput>+5%": "is an improvement; expected a change such as throughput<-5%", "p99<-5%": "is an improvement; expected a change such as p99>+10%",
		"throughput<5%": `"5%" is not a change`, "throughput<-5": `"-5" is not a change`, "throughput<-%": "is not a change", "throughput<--5%": "is not a change",
		"throughput<-100%": "is not within", "p99>+10001%": "is not within", "p99>+1e3%": "is not a change", "p99>+1.2.3%": "is not within",
		"p99>+NaN%": "is not a change", "p99>+10%,": "expected a change such as", "p99>+10%,p99>+5%": "twice", "p99>=+10%": "is not a change",
		strings.Repeat("p99>+10%,", 100): "longer than 500 bytes", "p99>+\xff%": "longer than 500 bytes",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := ParseGates(text); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%q: %v, want %q in it", text, err, what)
			}
		})
	}
}

func TestCheckGate(t *testing.T) {
	ratio := func(low, high float64) Row {
		return Row{Ratio: &stats.Ratio{Estimate: (low + high) / 2, Interval: stats.Interval{Low: low, High: high}}}
	}
	for _, test := range []struct {
		name string
		gate Gate
		row  Row
		want Outcome
	}{
		{"certainly less than allowed", Gate{measure.Throughput, -0.05}, ratio(0.88, 0.94), Failed},
		{"probably less than allowed", Gate{measure.Throughput, -0.05}, ratio(0.88, 0.96), Open},
		{"certainly less, but allowed", Gate{measure.Throughput, -0.05}, ratio(0.96, 0.98), Passed},
		{"exactly the allowed change", Gate{measure.Throughput, -0.5}, ratio(0.5, 0.5), Passed},
		{"more", Gate{measure.Throughput, -0.05}, ratio(1.1, 1.2), Passed},
		{"certainly slower than allowed", Gate{measure.P99Half, 0.1}, ratio(1.11, 1.3), Failed},
		{"probably slower than allowed", Gate{measure.P99Half, 0.1}, ratio(1.0, 1.3), Open},
		{"certainly slower, but allowed", Gate{measure.P99Half, 0.1}, ratio(1.05, 1.09), Passed},
		{"faster", Gate{measure.P99Half, 0.1}, ratio(0.5, 0.6), Passed},
		{"below the floor", Gate{measure.P99Half, 0.01}, Row{BelowFloor: true, Ratio: &stats.Ratio{Estimate: 1.03, Interval: stats.Interval{Low: 1.02, High: 1.04}}}, Open},
		{"too few rounds", Gate{measure.P99Half, 0.1}, Row{Sentence: "inconclusive"}, Open},
		{"not comparable", Gate{measure.P99Half, 0.1}, Row{NotComparable: "other limits", Ratio: &stats.Ratio{Estimate: 2, Interval: stats.Interval{Low: 2, High: 2}}}, Refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, why := test.gate.check(test.row); got != test.want || why == "" {
				t.Errorf("%s: %s (%s), want %s", test.name, got, why, test.want)
			}
		})
	}
}

// In A/A tests a gate of 0% fails at most as often as the 2.5% of its CI, and one of 5% never; 10%
// less throughput fails.
func TestGatesAndNoise(t *testing.T) { gatesInNoise(t, 50) }

func gatesInNoise(t *testing.T, runs int) {
	slower := usual()
	slower.peak /= 1.1
	rng := rand.New(rand.NewPCG(6, 6))
	strict, five, found := 0, 0, 0
	for range runs {
		before := raw{Run: run(), Trials: trials(rng, "a", 6, usual())}
		failed := func(after values, g Gate) bool {
			r := compared(t, before, raw{Run: run(), Trials: trials(rng, "a", 6, after)}, Options{})
			return r.CheckGates([]Gate{g})[0].Outcome == Failed
		}
		if failed(usual(), Gate{measure.Throughput, 0}) {
			strict++
		}
		if failed(usual(), Gate{measure.Throughput, -0.05}) {
			five++
		}
		if failed(slower, Gate{measure.Throughput, -0.05}) {
			found++
		}
	}
	t.Logf("0%%: %d, 5%%: %d, slowed by 10%%: %d of %d", strict, five, found, runs)
	if strict > runs*6/100 || five > 0 || found < runs*9/10 {
		t.Errorf("0%%: %d, 5%%: %d, slowed by 10%%: %d of %d", strict, five, found, runs)
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
