package stats

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// 11 to 10, 110 to 100 and 10 to 11 are ties, although their logarithms are rounded differently.
func TestSignedRank_Ties(t *testing.T) {
	for _, times := range [][]float64{{1, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 3, 5, 7, 10, 100, 1000},
		{0x1p-30, 1e9, 3, 6, 9, 12, 13, 14}} {
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
			want := min(1, 2*tail)
			testenv.Check(t, near(test.P, want), "%v, %v: p %g, want %g", x, y, test.P, want)
			r, err := PairedRatio(x, y, 0.95)
			testenv.Check(t, err == nil && r.Interval.Holds(1) == (up > 0 && down > 0), "%v, %v: %+v, %v", x, y, r, err)
		}
	}
}

// Pairs with a 0 have the highest ranks, which are equal; two zeros are an equal pair.
func TestSignedRank_Zeros(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		u, p float64
	}{
		{"all down to 0", []float64{19, 18, 19, 20, 21, 22}, make([]float64, 6), 0, 2. / 64},
		{"all up from 0", make([]float64, 6), []float64{19, 18, 19, 20, 21, 22}, 21, 2. / 64},
		{"nothing", make([]float64, 6), make([]float64, 6), 0, 1},
		{"two of four down to 0", []float64{10, 10, 10, 10}, []float64{11, 12, 0, 0}, 3, 8. / 16},
		{"one equal", []float64{0, 10, 10}, []float64{0, 0, 11}, 1, 1},
	} {
		got, err := SignedRank(c.x, c.y)
		testenv.Check(t, err == nil && got.U == c.u && near(got.P, c.p) && got.Exact,
			"%s: %+v, %v; want U %g, p %g", c.name, got, err, c.u, c.p)
	}
}
