//go:build acceptance && timing

package compare

import "testing"

// The simulations of the plain suite, with as many cases as show a rule that errs a little too often.

func TestFalseAndTrueClaimsLong(t *testing.T) { claims(t, 300) }
func TestGatesAndNoiseLong(t *testing.T)      { gatesInNoise(t, 200) }
