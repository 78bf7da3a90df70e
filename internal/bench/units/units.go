// Package units formats numbers for people: three significant digits, a fitting unit, and separated
// thousands. Numbers stay exact until they are printed here.
package units

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration formats a time with three significant digits: "6.21 ms", "348 µs", "12.3 s".
func Duration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	if d < 0 {
		return "-" + Duration(max(-d, -(d+1))) // the smallest duration has no positive counterpart
	}
	if d < time.Microsecond {
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	}
	if d < 999500*time.Nanosecond {
		return three(float64(d)/1e3) + " µs"
	}
	if d < 999500*time.Microsecond {
		return three(float64(d)/1e6) + " ms"
	}
	if d < 10*time.Minute {
		return three(d.Seconds()) + " s"
	}
	return d.Round(time.Second).String()
}

func three(v float64) string {
	if v < 9.995 {
		return fmt.Sprintf("%.2f", v)
	}
	if v < 99.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Bytes formats a size in binary units: "512 MiB".
func Bytes(n int64) string {
	const unit = 1024
	if n < unit {
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
	return three(v) + " " + suffix
}

// Rate formats a number per second: "12,345", "87.4".
func Rate(v float64) string {
	if v < 99.95 {
		return three(v)
	}
	return Count(int64(v + 0.5))
}

// Count formats a number with separated thousands: "14,945".
func Count(n int64) string {
	s := fmt.Sprint(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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

// Ratio formats a share with three significant digits: "0.123%".
func Ratio(share float64) string {
	switch p := 100 * share; {
	case p > 0 && p < 0.01:
		return "under 0.01%"
	case p < 100 && p > 99.9:
		return "over 99.9%"
	default:
		return fmt.Sprintf("%.3g%%", p)
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
