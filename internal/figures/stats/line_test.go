package stats

import (
	"math"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The critical values are those of printed tables of Student's t.
func TestStudent(t *testing.T) {
	for _, row := range []struct {
		freedom int
		t, p    float64
	}{
		{1, 12.706, .05}, {2, 4.303, .05}, {3, 5.841, .01}, {4, 2.776, .05}, {5, 4.032, .01}, {8, 3.355, .01},
		{10, 2.228, .05}, {15, 1.753, .10},
		{30, 2.042, .05}, {30, .683, .50}, {120, 2.617, .01},
	} {
		for _, sign := range []float64{1, -1} {
			if p := studentP(sign*row.t, row.freedom); math.Abs(p-row.p) > row.p*.002 {
				t.Errorf("t %g with %d degrees of freedom: p %.5f, want %g", sign*row.t, row.freedom, p, row.p)
			}
		}
	}
}

func TestFitLine(t *testing.T) {
	l, ok := FitLine([]float64{90, 95, 100, 105, 110})
	if !ok || math.Abs(l.Slope-.05) > 1e-12 || l.Error > 1e-12 || math.Abs(l.Change()-.25) > 1e-12 || l.P() > 1e-9 {
		t.Errorf("%+v, %v", l, ok)
	}
	if l, ok := FitLine([]float64{7, 7, 7}); !ok || l.Slope != 0 || l.P() != 1 {
		t.Errorf("values that are the same: %+v, %v", l, ok)
	}
	// By hand: the mean is 2, the slope .75; the values are −.25, +.5 and −.25 from the line.
	l, _ = FitLine([]float64{1, 2.5, 2.5})
	testenv.Check(t, math.Abs(l.Slope-.375) <= 1e-12 && math.Abs(l.Error-.25*math.Sqrt(3)/2) <= 1e-12, "%+v", l)
	for _, bad := range [][]float64{nil, {1, 2}, {1, 0, 2}, {1, math.NaN(), 2}, {1, math.Inf(1), 2}, {-1, 1, 1}} {
		l, ok := FitLine(bad)
		testenv.Check(t, !ok, "%v: %+v", bad, l)
	}
}
