//go:build acceptance && timing

package compare

import "testing"

// The simulations of the plain suite, with enough cases to find a rule that errs slightly too
// often.

func TestFalsePositivesOfFlatPeaksLong(t *testing.T) { flatPeaks(t, 250) }
func TestFalseAndTruePositivesLong(t *testing.T)     { positives(t, 300) }
