package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The data sets have reference values from testdata/signed.R.
func TestPairsAgainstR(t *testing.T) {
	ref := read[struct {
		Pairs []struct {
			Name        string
			X, Y        []float64
			V, P        float64
			Exact, Tied bool
			Zeros       int // pairs of equal values
			Outliers    int
			Ratio       *float64
			Interval    *interval
		}
	}](t, "signed-r.json")
	exact, tied, zeros, both, small, outlying, approximated, intervals, wide := 0, 0, 0, 0, 0, 0, 0, 0, 0
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, r := range ref.Pairs {
		n := len(r.X)
		count(&exact, r.Exact)
		count(&tied, r.Tied)
		count(&zeros, r.Zeros > 0)
		count(&both, r.Tied && r.Zeros > 0)
		count(&small, n < MinInterval)
		count(&outlying, r.Outliers > 0 && (strings.HasPrefix(r.Name, "outliers") || strings.HasPrefix(r.Name, "Cauchy")))
		count(&approximated, !r.Exact)
		test, err := SignedRank(r.X, r.Y)
		want := Test{U: r.V, P: r.P, Exact: r.Exact, Ties: r.Tied || r.Zeros > 0, Paired: true}
		if !relative(test.P, want.P) {
			t.Errorf("%s: p %.12g, want %.12g", r.Name, test.P, want.P)
		}
		if test.P = want.P; err != nil || test != want {
			t.Errorf("%s: %+v, want %+v, %v", r.Name, test, want, err)
		}
		got, err := PairedRatio(r.X, r.Y, 0.95)
		if r.Ratio == nil {
			var need NeedRounds
			if !errors.As(err, &need) || need != (NeedRounds{n, 6}) {
				t.Errorf("%s: %+v, %v", r.Name, got, err)
			}
			continue
		}
		count(&intervals, n <= ExactLimit)
		count(&wide, n > ExactLimit)
		if err != nil || !relative(got.Estimate, *r.Ratio) {
			t.Errorf("%s: ratio %.12g, want %.12g, %v", r.Name, got.Estimate, *r.Ratio, err)
		}
		if in := got.Interval; !relative(in.Low, r.Interval.Low) || !relative(in.High, r.Interval.High) || !relative(in.Confidence, r.Interval.Confidence) {
			t.Errorf("%s: interval %+v, want %+v", r.Name, in, *r.Interval)
		}
	}
	t.Logf("%d data sets: %d exact p, %d approximated, %d with ties, %d with zeros, %d with both, %d small, %d with outliers; %d intervals, and %d approximated", len(ref.Pairs), exact, approximated, tied, zeros, both, small, outlying, intervals, wide)
	if len(ref.Pairs) < 55 || exact < 50 || approximated < 6 || tied < 20 || zeros < 15 || both < 6 || small < 10 || outlying < 8 || intervals < 50 || wide < 6 {
		t.Error("too few data sets")
	}
}

// signed returns pairs with these ratios, or their inverse if the bit in signs is 0.
func signed(sizes []float64, signs int) (x, y []float64) {
	for i, size := range sizes {
		x, y = append(x, 1), append(y, size)
		if signs&(1<<i) == 0 {
			x[i], y[i] = y[i], x[i]
		}
	}
	return x, y
}

// Without a difference all signs are equally likely: at most a share α of them has a p value of at
// most α, even with ties and zeros. Without these, the CI excludes 1 exactly as often as its
// confidence says.
func TestSignedRankKeepsItsLevel(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []float64
		least float64 // p value
	}{
		{"all differ", []float64{1.01, 1.02, 1.03, 1.05, 1.08, 1.13, 1.21, 1.34}, 2.0 / 256},
		{"ties", []float64{2, 2, 2, 4, 4, 8, 8, 16}, 2.0 / 256},
		{"all tied", []float64{2, 2, 2, 2, 2, 2, 2, 2}, 2.0 / 256},
		{"zeros", []float64{1, 1, 1.03, 1.05, 1.08, 1.13, 1.21, 1.34}, 2.0 / 64},
		{"ties and zeros", []float64{1, 2, 2, 4, 4, 4, 8, 16}, 2.0 / 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			const ways = 256
			var p []float64
			for signs := range ways {
				x, y := signed(c.sizes, signs)
				test, err := SignedRank(x, y)
				if err != nil || !test.Exact {
					t.Fatal(test, err)
				}
				p = append(p, test.P)
			}
			slices.Sort(p)
			for i := range p {
				if i+1 < ways && p[i+1] == p[i] {
					continue // count them all
				}
				if share := float64(i+1) / ways; share > p[i]+1e-12 {
					t.Errorf("%s: p is at most %g in %g of all cases", c.name, p[i], share)
				}
			}
			if p[0] != c.least {
				t.Errorf("%s: p is %g at its smallest, want %g", c.name, p[0], c.least)
			}
			for _, confidence := range []float64{0.5, 0.8, 0.9, 0.95, 0.99} {
				out, reached := 0, 0.0
				for signs := range ways {
					x, y := signed(c.sizes, signs)
					r, err := PairedRatio(x, y, confidence)
					if err != nil {
						t.Fatal(err)
					}
					if reached = r.Interval.Confidence; !r.Interval.Holds(1) {
						out++
					}
				}
				share := float64(out) / ways
				if reached < confidence || share > 1-reached+1e-12 || c.name == "all differ" && !near(share, 1-reached) {
					t.Errorf("%s: %g of the intervals leave 1 out, of confidence %g (%g)", c.name, share, reached, confidence)
				}
			}
		})
	}
}

// Laws that hold for all pairs.
func TestLawsOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 25))
	got := 0
	for i := range 600 {
		n := 1 + rng.IntN(14)
		if i%40 == 0 {
			n = 55 + rng.IntN(12)
		}
		machine := rounds(rng, n, 10, 0.5)
		x, y := slices.Clone(machine), slices.Clone(machine)
		for i := range n {
			x[i] *= math.Exp(0.05 * rng.NormFloat64())
			y[i] *= math.Exp(0.05*rng.NormFloat64() + 0.02)
		}
		tied := rng.IntN(3) == 0
		if tied { // powers of two against 1: their logarithms are ties, and 1 is a zero
			for i := range n {
				x[i], y[i] = 1, math.Ldexp(1, rng.IntN(7)-3)
			}
		}
		there, err := SignedRank(x, y)
		back, err2 := SignedRank(y, x)
		differ := 0
		for i := range n {
			if x[i] != y[i] {
				differ++
			}
		}
		if err != nil || err2 != nil || there.U+back.U != float64(differ*(differ+1))/2 || !near(there.P, back.P) || !(there.P > 0 && there.P <= 1) {
			t.Fatalf("%v, %v: %+v, %+v", x, y, there, back)
		}
		if there.Exact != (differ <= ExactLimit) || !tied && there.Ties {
			t.Fatalf("%v, %v: %+v", x, y, there)
		}
		// Neither the order of the pairs nor a common factor of both sides matters.
		order, scaledX, scaledY := rng.Perm(n), make([]float64, n), make([]float64, n)
		for i, k := range order {
			common := math.Exp(2 * rng.NormFloat64())
			if tied {
				common = float64(1 + rng.IntN(99)) // exact, so ties stay ties
			}
			scaledX[i], scaledY[i] = x[k]*common, y[k]*common
		}
		if again, err := SignedRank(scaledX, scaledY); err != nil || again != there {
			t.Fatalf("%v, %v: %+v, then %+v", x, y, there, again)
		}
		for _, confidence := range []float64{0.5, 0.8, 0.9, 0.95, 0.99} {
			r, err := PairedRatio(x, y, confidence)
			if err != nil {
				var need NeedRounds
				if !errors.As(err, &need) || need.Have != n || need.Need <= n {
					t.Fatal(err)
				}
				if k, _ := signedRank(need.Need, confidence); k == 0 {
					t.Fatalf("%d pairs are not enough for %g", need.Need, confidence)
				}
				if k, _ := signedRank(need.Need-1, confidence); k > 0 {
					t.Fatalf("%d pairs are more than %g takes", need.Need, confidence)
				}
				continue
			}
			got++
			in := r.Interval
			if !in.Holds(r.Estimate) || in.Confidence < confidence {
				t.Fatalf("%v, %v: %+v", x, y, r)
			}
			q, err := PairedRatio(y, x, confidence)
			if err != nil || !near(q.Estimate*r.Estimate, 1) || !near(q.Interval.Low*in.High, 1) || !near(q.Interval.High*in.Low, 1) {
				t.Fatalf("%v, %v: %+v against %+v", x, y, r, q)
			}
			s, err := PairedRatio(scaledX, scaledY, confidence)
			if err != nil || !relative(s.Estimate, r.Estimate) || !relative(s.Interval.Low, in.Low) || !relative(s.Interval.High, in.High) {
				t.Fatalf("%v, %v: %+v, then %+v", x, y, r, s)
			}
			if wider, err := PairedRatio(x, y, (1+confidence)/2); err == nil && !in.Within(wider.Interval.Low, wider.Interval.High) {
				t.Fatalf("%v, %v: %g is wider than %g", x, y, confidence, (1+confidence)/2)
			}
			// Without ties the test and the interval agree.
			if !there.Ties && n <= ExactLimit && (there.P <= 1-in.Confidence+1e-12) == in.Holds(1) {
				t.Fatalf("%v, %v: p %g, interval %+v", x, y, there.P, in)
			}
		}
	}
	if got < 1500 {
		t.Errorf("%d intervals", got)
	}
}

// At the limit, the approximation is close to the exact test.
func TestTheSignedApproximationIsClose(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 27))
	for range 20 {
		x, y := rounds(rng, 61, 10, 0.1), rounds(rng, 61, 10.3, 0.1)
		approximated, _ := SignedRank(x, y)
		sizes, above := make([]float64, 61), 0
		for i := range x {
			sizes[i] = math.Abs(math.Log(y[i] / x[i]))
		}
		ranks, _ := doubledRanks(sizes)
		for i, r := range ranks {
			if y[i] > x[i] {
				above += r
			}
		}
		if p := twoSided(subsetSums(ranks), above); approximated.Exact || math.Abs(p-approximated.P) > 0.005 {
			t.Errorf("p %g, approximated %+v", p, approximated)
		}
	}
	k, reached := signedRank(ExactLimit, 0.95)
	beyond, _ := signedRank(ExactLimit+1, 0.95)
	if reached < 0.95 || beyond < k || beyond > k+30 {
		t.Errorf("ranks %d (%g) and %d", k, reached, beyond)
	}
}

// 11 to 10, 110 to 100 and 10 to 11 are ties, although their logarithms are rounded differently.
func TestTiesOfPairsInAnyUnit(t *testing.T) {
	for _, times := range [][]float64{{1, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 3, 5, 7, 10, 100, 1000}, {0x1p-30, 1e9, 3, 6, 9, 12, 13, 14}} {
		for down := range len(times) + 1 { // number of swapped pairs
			var x, y []float64
			for i, f := range times {
				a, b := 10*f, 11*f
				if i < down {
					a, b = b, a
				}
				x, y = append(x, a), append(y, b)
			}
			up := len(times) - down
			test, err := SignedRank(x, y)
			if want := 4.5 * float64(up); err != nil || test.U != want || !test.Ties {
				t.Errorf("%v, %v: %+v, want U %g, %v", x, y, test, want, err)
			}
			// The share of the eight signs.
			ways := []float64{1, 8, 28, 56, 70, 56, 28, 8, 1}
			tail := 0.0
			for _, w := range ways[:min(up, down)+1] {
				tail += w / 256
			}
			if want := min(1, 2*tail); !near(test.P, want) {
				t.Errorf("%v, %v: p %g, want %g", x, y, test.P, want)
			}
			r, err := PairedRatio(x, y, 0.95)
			if err != nil || r.Interval.Holds(1) != (up > 0 && down > 0) {
				t.Errorf("%v, %v: %+v, %v", x, y, r, err)
			}
		}
	}
}

// Neighboring values differ, although their logarithms are equal.
func TestPairsOfNeighbors(t *testing.T) {
	x, y := []float64{1, 2 - 0x1p-52, 10, 1000, 1e9, 1e-9}, make([]float64, 6)
	for i := range x {
		y[i] = math.Nextafter(x[i], math.Inf(1))
	}
	up, err := SignedRank(x, y)
	down, err2 := SignedRank(y, x)
	if err != nil || err2 != nil || up.U != 21 || down.U != 0 || up.P != 2.0/64 || down.P != up.P {
		t.Errorf("%+v, from the other side %+v", up, down)
	}
}

func TestErrorsOfPairs(t *testing.T) {
	six := []float64{1, 2, 3, 4, 5, 6}
	both := func(x, y []float64) []error {
		_, err := SignedRank(x, y)
		_, err2 := PairedRatio(x, y, 0.95)
		return []error{err, err2}
	}
	for _, errs := range [][]error{both(six, six[:5]), both(six[:5], six), both(nil, six)} {
		for _, err := range errs {
			var need NeedRounds
			if err == nil || errors.As(err, &need) {
				t.Errorf("no pairs: %v", err)
			}
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -2, 1e-200, 1e200} {
		with := slices.Clone(six)
		with[3] = v
		for _, err := range append(both(six, with), both(with, six)...) {
			var bad BadValue
			if !errors.As(err, &bad) || bad.Index != 3 || bad.Value != v && !math.IsNaN(v) {
				t.Errorf("%g: %v", v, err)
			}
		}
	}
	long := make([]float64, MaxRounds+1)
	for i := range long {
		long[i] = 1
	}
	for _, err := range both(long, long) {
		if err == nil {
			t.Error("no bound")
		}
	}
	for _, c := range []struct {
		n          int
		confidence float64
		need       int
	}{{0, 0.95, 6}, {1, 0.95, 6}, {5, 0.95, 6}, {4, 0.9, 5}, {6, 0.99, 8}, {7, 0.99, 8}} {
		_, err := PairedRatio(six[:min(c.n, 6)], six[:min(c.n, 6)], c.confidence)
		if c.n > 6 {
			_, err = PairedRatio(long[:c.n], long[:c.n], c.confidence)
		}
		var need NeedRounds
		if !errors.As(err, &need) || need != (NeedRounds{c.n, c.need}) {
			t.Errorf("%d pairs, %g: %v", c.n, c.confidence, err)
		}
	}
	if _, err := PairedRatio(six, six, 0.95); err != nil {
		t.Error(err)
	}
	var need NeedRounds
	if _, err := SignedRank(nil, nil); !errors.As(err, &need) || need != (NeedRounds{0, 1}) {
		t.Errorf("nothing: %v", err)
	}
	for _, confidence := range []float64{0, 1, -1, 2, math.NaN()} {
		if _, err := PairedRatio(six, six, confidence); err == nil {
			t.Errorf("confidence %g", confidence)
		}
	}
}
