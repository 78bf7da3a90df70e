//go:build acceptance && timing

package stats

import "testing"

// The simulations of the plain suite, with enough cases to find a rule that errs slightly too
// often.

func TestNoiseIsNotSignificantLong(t *testing.T)  { falsePositives(t, 1500, 75) }
func TestTenPercentAreFoundLong(t *testing.T)     { findsTenPercent(t, 600) }
func TestMoreRoundsGiveVerdictsLong(t *testing.T) { moreRoundsGiveVerdicts(t, 400) }
func TestNoiseHasOneTierLong(t *testing.T)        { tiersOfNoise(t, 600) }
func TestNoiseHasNoChangePointLong(t *testing.T)  { changesInNoise(t, 120, 12) }
