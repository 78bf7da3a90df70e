package units

import (
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

const (
	us, ms, sec = time.Microsecond, time.Millisecond, time.Second
	least       = time.Duration(math.MinInt64)
)

// Each number is at a boundary between two forms, or a hair below it.
func TestUnits(t *testing.T) {
	for _, table := range []map[string]string{
		{ // times
			"0": Duration(0), "999 ns": Duration(999), "1.00 µs": Duration(us), "9.99 µs": Duration(9994),
			"10.0 µs": Duration(9996), "99.9 µs": Duration(99_949), "100 µs": Duration(99_950), "−5 ns": Duration(-5),
			"999 µs": Duration(999_499), "1.00 ms": Duration(999_500), "6.21 ms": Duration(6210 * us),
			"999 ms": Duration(999_499 * us), "1.00 s": Duration(999_500 * us), "120 s": Duration(2*time.Minute - 1),
			"2m0s": Duration(2 * time.Minute), "3m20s": Duration(200*sec + 400*ms), "−2562047h47m16.854775807s": Duration(least),
		},
		{ // sizes, rates and numbers
			"0 B": Bytes(0), "1023 B": Bytes(1023), "1 KiB": Bytes(1024), "1.50 KiB": Bytes(1536), "1 MiB": Bytes(1 << 20),
			"512 MiB": Bytes(512 << 20), "1.00 GiB": Bytes(1<<30 + 1), "3 TiB": Bytes(3 << 40), "2048 TiB": Bytes(2 << 50),
			"−1.50 KiB": Bytes(-1536), "12,346": Number(12345.6), "12,345": Number(12345.4), "99.9": Number(99.94), "100": Number(99.95),
			"0": Number(0), "9.99": Number(9.994), "10.0": Number(9.996), "0.500": Number(.5), "1.00": Number(.9996),
			"0.00123": Number(.00123), "1.23e-09": Number(1.234e-9), "−2.50": Number(-2.5), "–": Number(math.NaN()), "1,000": Number(999.5),
			"999": Count(999), "-999": Count(-999), "-1,000": Count(-1000), "1,234,567": Count(1234567),
		},
		{ // planned times
			"59s": Approx(59*sec + 499*ms), "1m00s": Approx(59*sec + 500*ms), "2m40s": Approx(160 * sec),
			"60m00s": Approx(time.Hour - ms), "1h00m": Approx(time.Hour), "3h12m": Approx(192*time.Minute + 29*sec),
			"0s": Length(-300 * ms), "0.3s": Length(300 * ms), "2.5s": Length(2500 * ms), "3s": Length(3 * sec),
			"10s": Length(10*sec + 400*ms), "1m": Exact(time.Minute), "1m30s": Exact(90 * sec), "1h": Exact(time.Hour),
			"1h20m": Exact(80 * time.Minute), "1.5s": Exact(1500 * ms),
		},
		{ // shares
			"25%": Percent(.254), "0.0%": Tenths(0), "<0.1%": Tenths(.000949), "0.1%": Tenths(.00095), "9.9%": Tenths(.0994),
			"10%": Tenths(math.Nextafter(.0995, 0)), "0": Share(0), "<0.01%": Share(.000099), "0.0100%": Share(.0001), "0.123%": Share(.00123), "25.4%": Share(.254),
			"99.9%": Share(.999), ">99.9%": Share(.9991), "100%": Share(1),
		},
		{ // prices
			"$0.00": Dollars(0), "<$0.001": Dollars(.00099), "$0.001": Dollars(.001), "$0.023": Dollars(.0227), "$0.099": Dollars(.0994),
			"$0.10": Dollars(.0996), "$15.06": Dollars(15.06), "$1,235": Dollars(1234.6),
		},
		{ // things
			"1 CPU": CPUs(1), "1.5 CPUs": CPUs(1.5), "0.5 CPUs": CPUs(.5), "1 trial": Plural(1, "trial"),
			"0 trials": Plural(0, "trial"), "1,200 trials": Plural(int64(1200), "trial"), "2 processes": Plural(2, "process"),
		},
	} {
		for want, got := range table {
			t.Run(want, func(t *testing.T) {
				testenv.Check(t, got == want, "%q, want %q", got, want)
			})
		}
	}
}
