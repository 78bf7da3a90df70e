package stats

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// reference is the output of testdata/reference.py and reference.R.
type reference struct {
	Pairs []struct {
		Name          string    `json:"name"`
		X             []float64 `json:"x"`
		Y             []float64 `json:"y"`
		MedianX       float64   `json:"median_x"`
		MedianY       float64   `json:"median_y"`
		IntervalX     *interval `json:"interval_x"`
		IntervalY     *interval `json:"interval_y"`
		U             float64   `json:"u"`
		PExact        *float64  `json:"p_exact"`
		PAsymptotic   *float64  `json:"p_asymptotic"`
		Ratio         float64   `json:"ratio"`
		RatioInterval *interval `json:"ratio_interval"`
		ZY            []float64 `json:"z_y"`
	} `json:"pairs"`
	Holm []struct {
		P        []float64 `json:"p"`
		Adjusted []float64 `json:"adjusted"`
	} `json:"holm"`
	Changes []struct {
		X         []float64 `json:"x"`
		Statistic float64   `json:"statistic"`
		At        int       `json:"at"`
	} `json:"changes"`
	Trends []struct {
		X []float64 `json:"x"`
		S int       `json:"s"`
		P float64   `json:"p"`
	} `json:"trends"`
	Critical []struct {
		N int     `json:"n"`
		Z float64 `json:"z"`
	} `json:"critical"`
}

type interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

func read[T any](t *testing.T, file string) (v T) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// near reports whether a and b are equal to 1e-9, relative for large values.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// relative reports whether a and b are equal to a relative 1e-9.
func relative(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func TestAgainstSciPy(t *testing.T) {
	ref := read[reference](t, "reference.json")
	exact, intervals, asymptotic, tied, small, outlying := 0, 0, 0, 0, 0, 0
	for _, r := range ref.Pairs {
		for _, side := range []struct {
			xs     []float64
			median float64
			want   *interval
		}{{r.X, r.MedianX, r.IntervalX}, {r.Y, r.MedianY, r.IntervalY}} {
			if got, _ := Median(side.xs); !relative(got, side.median) {
				t.Errorf("%s: median %g, want %g", r.Name, got, side.median)
			}
			got, ok := MedianInterval(side.xs, 0.95)
			if ok != (side.want != nil) {
				t.Errorf("%s: an interval of the median: %t", r.Name, ok)
			} else if ok && (got.Low != side.want.Low || got.High != side.want.High || !near(got.Confidence, side.want.Confidence)) {
				t.Errorf("%s: interval %+v, want %+v", r.Name, got, side.want)
			}
		}
		if min(len(r.X), len(r.Y)) <= MinInterval {
			small++
		}
		if slices.ContainsFunc(r.ZY, func(z float64) bool { return math.Abs(z) > 3.5 }) {
			outlying++
		}
		test, err := MannWhitney(r.X, r.Y)
		if err != nil || test.U != r.U {
			t.Errorf("%s: U %g, want %g, %v", r.Name, test.U, r.U, err)
		}
		if r.PExact != nil {
			exact++
			if test.Ties {
				tied++
			}
			if !test.Exact || !relative(test.P, *r.PExact) {
				t.Errorf("%s: exact p %.12g, want %.12g", r.Name, test.P, *r.PExact)
			}
		}
		_, ties := doubledRanks(append(append([]float64{}, r.X...), r.Y...))
		n, m := float64(len(r.X)), float64(len(r.Y))
		if p := normalP(r.U, n*m/2, varianceOfU(n, m, ties)); r.PAsymptotic != nil {
			asymptotic++
			if !relative(p, *r.PAsymptotic) {
				t.Errorf("%s: approximated p %.12g, want %.12g", r.Name, p, *r.PAsymptotic)
			}
		}
		got, err := RatioOf(r.X, r.Y, 0.95)
		if few := 2*math.Exp(-logChoose(len(r.X)+len(r.Y), len(r.X))) > 0.05; few != (err != nil) {
			t.Errorf("%s: ratio: %v", r.Name, err)
		}
		if err == nil && !relative(got.Estimate, r.Ratio) {
			t.Errorf("%s: ratio %.12g, want %.12g", r.Name, got.Estimate, r.Ratio)
		}
		if want := r.RatioInterval; want != nil {
			intervals++
			if !relative(got.Interval.Low, want.Low) || !relative(got.Interval.High, want.High) {
				t.Errorf("%s: interval %.12g to %.12g, want %.12g to %.12g", r.Name, got.Interval.Low, got.Interval.High, want.Low, want.High)
			}
		}
		limit := threshold(len(r.Y))
		if len(r.Y) >= MinOutlierValues && r.ZY != nil {
			var want []int
			for i, z := range r.ZY {
				if math.Abs(z) > limit {
					want = append(want, i)
				}
			}
			outliers := Outliers(r.Y)
			if len(outliers) != len(want) {
				t.Errorf("%s: outliers %+v, want %v", r.Name, outliers, want)
			}
			for i := range min(len(want), len(outliers)) {
				if o := outliers[i]; o.Index != want[i] || math.Abs(o.Score-r.ZY[o.Index]) > 1e-6*math.Abs(o.Score) {
					t.Errorf("%s: outlier %+v, want index %d, score %g", r.Name, o, want[i], r.ZY[want[i]])
				}
			}
		}
	}
	t.Logf("%d data sets, %d small, %d with an outlier: %d exact p (%d with ties), %d approximated, %d intervals of a ratio", len(ref.Pairs), small, outlying, exact, tied, asymptotic, intervals)
	if len(ref.Pairs) < 50 || small < 25 || outlying < 10 || exact < 50 || tied < 12 || intervals < 50 || asymptotic < 50 {
		t.Error("too few data sets")
	}
	for _, r := range ref.Holm {
		for i, got := range Holm(r.P) {
			if !near(got, r.Adjusted[i]) {
				t.Errorf("Holm of %v: %g, want %g", r.P, got, r.Adjusted[i])
			}
		}
	}
	if len(ref.Trends) < 30 {
		t.Errorf("%d trends", len(ref.Trends))
	}
	for _, r := range ref.Trends {
		if s, p := Trend(r.X); s != r.S || !near(p, r.P) {
			t.Errorf("trend of %v: %d, p %.12g, want %d, %.12g", r.X, s, p, r.S, r.P)
		}
	}
	for _, r := range ref.Changes {
		ranks, _ := doubledRanks(r.X)
		if got, at := largestShift(ranks); !near(got, r.Statistic) || at != r.At {
			t.Errorf("change in %v: %g at %d, want %g at %d", r.X, got, at, r.Statistic, r.At)
		}
	}
}

// R is exact without ties only.
func TestAgainstR(t *testing.T) {
	type rPair struct {
		Name                    string
		U, P                    float64
		Ratio, Low, High, Level *float64
	}
	r := read[struct {
		Pairs []rPair
		Holm  []struct{ P, Adjusted []float64 }
	}](t, "reference-r.json")
	data := map[string][2][]float64{}
	for _, p := range read[reference](t, "reference.json").Pairs {
		data[p.Name] = [2][]float64{p.X, p.Y}
	}
	if len(r.Pairs) < 40 {
		t.Fatalf("%d data sets", len(r.Pairs))
	}
	for _, want := range r.Pairs {
		x, y := data[want.Name][0], data[want.Name][1]
		// R's limit is 50 values per sample, the one here is for both together.
		test, err := MannWhitney(x, y)
		if err != nil || test.U != want.U || test.Exact && !near(test.P, want.P) {
			t.Errorf("%s: U %g, p %.12g, want %g, %.12g, %v", want.Name, test.U, test.P, want.U, want.P, err)
		}
		if want.Ratio == nil || !test.Exact {
			continue
		}
		got, err := RatioOf(x, y, 0.95)
		if err != nil || !relative(got.Estimate, *want.Ratio) || !relative(got.Interval.Low, *want.Low) || !relative(got.Interval.High, *want.High) {
			t.Errorf("%s: %+v, want %.12g, %.12g to %.12g, %v", want.Name, got, *want.Ratio, *want.Low, *want.High, err)
		}
	}
	for _, want := range r.Holm {
		for i, got := range Holm(want.P) {
			if !near(got, want.Adjusted[i]) {
				t.Errorf("Holm of %v: %g, want %g", want.P, got, want.Adjusted[i])
			}
		}
	}
}

// The table of critical scores is that of the simulation, rounded up.
func TestThresholdsAreThoseOfTheSimulation(t *testing.T) {
	simulated := read[reference](t, "reference.json").Critical
	if len(simulated) != len(critical) {
		t.Fatalf("%d sizes, want %d", len(critical), len(simulated))
	}
	for _, want := range simulated {
		if z := threshold(want.N); z < want.Z-0.02 || z > want.Z+0.12 {
			t.Errorf("%d values: threshold %g, simulated %g", want.N, z, want.Z)
		}
	}
	if z := threshold(40); z != 4.7 {
		t.Errorf("between two sizes: %g", z)
	}
	if z := threshold(400); z != 4.3 {
		t.Errorf("beyond the table: %g", z)
	}
}
