//go:build acceptance && faults && linux

package load

import "testing"

// TestInterruptedTenThousandTimes is TestInterruptedWritesNowhere with each loop 10,000 times.
func TestInterruptedTenThousandTimes(t *testing.T) { interrupt(t, 10_000) }
