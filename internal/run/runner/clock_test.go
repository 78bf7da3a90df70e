package runner

import (
	"testing"
	"time"
)

// A clock that is set is reported once, with the amount and the sign; a small correction is not.
func TestClockMoved(t *testing.T) {
	for was, want := range map[time.Duration]time.Duration{
		0: 0, 400 * time.Millisecond: 0, -400 * time.Millisecond: 0, // less than clockStep
		3 * time.Second: -3 * time.Second, -time.Hour: time.Hour,
	} {
		c := &clock{began: time.Now(), off: was}
		if got, set := c.moved(); got.Round(time.Millisecond) != want || set != (want != 0) {
			t.Errorf("off by %v: moved by %v (%v), want %v", was, got, set, want)
		}
		if again, set := c.moved(); set {
			t.Errorf("off by %v: reported again, %v", was, again)
		}
	}
}
