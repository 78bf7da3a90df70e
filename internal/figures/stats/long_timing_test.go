//go:build acceptance && timing

package stats

import "testing"

// The simulations of the plain suite, with as many cases as show a rule that errs a little too often.

func TestNoiseIsNotSoldAsADifferenceLong(t *testing.T) { claimsOfNoise(t, 1500, 75) }
func TestTenPercentAreFoundLong(t *testing.T)          { findsTenPercent(t, 600) }
func TestMoreRoundsTellLong(t *testing.T)              { moreRoundsTell(t, 400) }
func TestNoiseHasOneTierLong(t *testing.T)             { tiersOfNoise(t, 600) }
func TestNoiseHasNoChangePointLong(t *testing.T)       { changesInNoise(t, 120, 12) }
