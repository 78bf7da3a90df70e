package units

import (
	"math"
	"testing"
	"time"
)

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"0": Duration(0), "999 ns": Duration(999), "1.00 µs": Duration(1000), "348 µs": Duration(348 * time.Microsecond),
		"6.21 ms": Duration(6210 * time.Microsecond), "1.00 s": Duration(999600 * time.Microsecond), "12.3 s": Duration(12340 * time.Millisecond),
		"10m0s": Duration(10 * time.Minute), "-2562047h47m16.854775807s": Duration(math.MinInt64), "512 MiB": Bytes(512 << 20), "1.50 KiB": Bytes(1536), "17 B": Bytes(17),
		"12,346": Rate(12345.6), "87.4": Rate(87.44), "1,000": Count(1000), "-1,000": Count(-1000), "999": Count(999), "14,945": Count(14945),
		"2m40s": Approx(160 * time.Second), "14s": Approx(14 * time.Second), "0.3s": Length(300 * time.Millisecond), "2.5s": Length(2500 * time.Millisecond), "3s": Length(3 * time.Second), "2m30s": Length(150 * time.Second),
		"1 CPU": CPUs(1), "1.5 CPUs": CPUs(1.5), "0.5 CPUs": CPUs(.5), "2 CPUs": CPUs(2), "3h12m": Approx(192 * time.Minute),
	} {
		t.Run(want, func(t *testing.T) {
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
