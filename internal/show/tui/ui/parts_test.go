package ui

import (
	"testing"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// An error rate that is an estimate has a "~".
func TestValueCellOfAnEstimate(t *testing.T) {
	var l Look
	m := measure.Get(measure.ErrorRate)
	testenv.Contains(t, ValueCell(&l, m, measure.Result{Known: true, Value: 0.026, Estimate: true}, "2.6%"), "~2.6%")
	testenv.Contains(t, ValueCell(&l, m, measure.Result{Known: true, Value: 0.026}, "2.6%"), "!~")
}
