package ui

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/figures/measure"
)

// An error rate that is an estimate has a "~".
func TestValueCellOfAnEstimate(t *testing.T) {
	var l Look
	m := measure.Get(measure.ErrorRate)
	if got := ValueCell(&l, m, measure.Result{Known: true, Value: 0.026, Estimate: true}, "2.6%"); !strings.Contains(got, "~2.6%") {
		t.Errorf("%q", got)
	}
	if got := ValueCell(&l, m, measure.Result{Known: true, Value: 0.026}, "2.6%"); strings.Contains(got, "~") {
		t.Errorf("%q", got)
	}
}
