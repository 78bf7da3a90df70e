package bench

import (
	"fmt"
	"testing"
)

func TestTrendString(t *testing.T) {
	for change, want := range map[float64]string{
		.031: "rose by 3.1%", .12: "rose by 13%", 1: "rose by 200%", 1.7: "rose over 10×", 2.5: "rose over 10×",
		-.031: "fell by 3.1%", -.12: "fell by 11%", -1: "fell by 67%", -1.7: "fell over 90%", -2.5: "fell over 90%",
	} {
		t.Run(fmt.Sprint(change), func(t *testing.T) {
			if got := (Trend{Change: change}).String(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
