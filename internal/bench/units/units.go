// Package units formats numbers for people: three significant digits, a fitting unit, and separated
// thousands. Numbers stay exact until they are printed here.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration formats a time with three significant digits: "6.21 ms", "348 µs", "12.3 s"; in full
// seconds from two minutes on: "3m20s".
func Duration(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < 0:
		return "−" + Duration(max(-d, -(d+1))) // the smallest duration has no positive counterpart
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < 999500*time.Nanosecond:
		return Number(float64(d)/1e3) + " µs"
	case d < 999500*time.Microsecond:
		return Number(float64(d)/1e6) + " ms"
	case d < 2*time.Minute:
		return Number(d.Seconds()) + " s"
	}
	return d.Round(time.Second).String()
}

// Number formats a number with three significant digits, or all whole ones: "0.0123", "9.87",
// "12,345"; "–" if it is not finite.
func Number(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return Missing
	case x < 0:
		return "−" + Number(-x)
	case x == 0:
		return "0"
	case x >= 99.95:
		return thousands(strconv.FormatFloat(x, 'f', 0, 64))
	}
	decimals := 2 - int(math.Floor(math.Log10(x)))
	if decimals > 9 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	scale := math.Pow10(decimals)
	if math.Round(x*scale) >= 1000 { // 9.996 rounds to 10.00, which has one digit too many
		decimals--
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// thousands puts commas into the digits of a whole number.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Bytes formats a size in binary units: "512 MiB".
func Bytes(n int64) string {
	const unit = 1024
	switch {
	case n < 0:
		return "−" + Bytes(max(-n, -(n+1)))
	case n < unit:
		return fmt.Sprintf("%d B", n)
	}
	v, suffix := float64(n)/unit, "KiB"
	for _, s := range []string{"MiB", "GiB", "TiB"} {
		if v < unit {
			break
		}
		v, suffix = v/unit, s
	}
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d %s", int64(v), suffix)
	}
	return Number(v) + " " + suffix
}

// Count formats a number with separated thousands: "14,945".
func Count(n int64) string {
	if n < 0 {
		return "-" + thousands(strconv.FormatUint(uint64(-n), 10)) // no count of ours is negative
	}
	return thousands(strconv.FormatInt(n, 10))
}

// Approx formats a time in whole seconds, or minutes from one hour on: "14s", "2m40s", "3h12m".
func Approx(d time.Duration) string {
	if d >= time.Hour {
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	d = d.Round(time.Second)
	if d >= time.Minute {
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// Length formats a planned time: as Approx, but below 10 s with three significant digits, to avoid
// "0s": 300 ms is "0.3s".
func Length(d time.Duration) string {
	if d <= 0 || d >= 10*time.Second {
		return Approx(d)
	}
	return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + "s"
}

// Exact formats a time in full, as in profiles: "1m", not "1m0s".
func Exact(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// CPUs formats a number of CPUs: "1.5 CPUs", "1 CPU".
func CPUs(n float64) string {
	text := strconv.FormatFloat(n, 'g', 4, 64) + " CPU"
	if n != 1 {
		text += "s"
	}
	return text
}

// Missing is printed for a value that was not measured, never 0.
const Missing = "–"

// Percent formats a share without decimals: "25%".
func Percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// Tenths formats a share, with one decimal below 10%: "2.5%", "25%", "<0.1%".
func Tenths(share float64) string {
	switch p := share * 100; {
	case p != 0 && p < 0.095:
		return "<0.1%"
	case p < 9.95:
		return fmt.Sprintf("%.1f%%", p)
	}
	return Percent(share)
}

// Share formats a measured share with three significant digits: "0.123%", "25.3%"; "0" is none.
func Share(share float64) string {
	switch p := 100 * share; {
	case p == 0:
		return "0"
	case p > 0 && p < 0.01:
		return "<0.01%"
	case p < 100 && p > 99.9:
		return ">99.9%"
	default:
		return Number(p) + "%"
	}
}

// Dollars formats a price: "$0.44", "$15.06", "$0.023"; "<$0.001" below that.
func Dollars(x float64) string {
	switch {
	case x != 0 && x < 0.001:
		return "<$0.001"
	case x != 0 && x < 0.0995:
		return fmt.Sprintf("$%.2g", x)
	case x < 999.995:
		return fmt.Sprintf("$%.2f", x)
	}
	return "$" + Count(int64(x+0.5))
}

// Plural formats a number of things: "1 trial", "3 trials", "1,200 trials", "2 processes".
func Plural[T int | int64](n T, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return Count(int64(n)) + " " + noun
}
