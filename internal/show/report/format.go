package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

const missing = units.Missing

// nbsp is a space that keeps a number and its unit on one line.
const nbsp = "\u00a0"

// significant prints x with three significant digits and thousands separators. From 1,000 on it
// keeps every whole digit: "11,234".
func significant(x float64) string {
	switch {
	case !finite(x):
		return missing
	case x < 0:
		return "−" + significant(-x)
	case x == 0:
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(x)))
	if decimals > 9 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	if decimals > 0 {
		// 9.996 rounds to 10.00, which has one digit too many.
		scale := math.Pow10(decimals)
		if r := math.Round(x*scale) / scale; int(math.Floor(math.Log10(r))) > int(math.Floor(math.Log10(x))) {
			decimals--
		}
	}
	return thousands(strconv.FormatFloat(x, 'f', max(decimals, 0), 64))
}

func count(n int64) string { return strings.Replace(units.Count(n), "-", "−", 1) }

// thousands puts commas into a number without a sign.
func thousands(s string) string {
	whole, fraction, dot := strings.Cut(s, ".")
	var b strings.Builder
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	if dot {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// duration prints d in the unit that suits it: "850 ns", "170 µs", "1.23 ms", "2.41 s", "3m20s".
func duration(d time.Duration) string {
	switch {
	case d == 0:
		return "0" + nbsp + "s"
	case d.Abs() >= 2*time.Minute:
		return d.Round(time.Second).String()
	}
	return strings.NewReplacer("-", "−", " ", nbsp).Replace(units.Duration(d))
}

// mebibytes prints a size: "123 MiB", "3.20 KiB".
func mebibytes(n int64) string {
	switch {
	case n < 1<<10 && n > -1<<10:
		return count(n) + nbsp + "B"
	case n < 1<<20:
		return significant(float64(n)/(1<<10)) + nbsp + "KiB"
	case n < 1<<30:
		return significant(float64(n)/(1<<20)) + nbsp + "MiB"
	}
	return significant(float64(n)/(1<<30)) + nbsp + "GiB"
}

func percent(ratio float64) string {
	if ratio == 0 {
		return "0%"
	}
	return significant(ratio*100) + "%"
}

// dollars prints a cost: "$0.0227", "under $0.001".
func dollars(x float64) string { return cost(x, "under ") }

// shortDollars prints a cost for a narrow cell: "$0.0227", "< $0.001".
func shortDollars(x float64) string { return cost(x, "<"+nbsp) }

func cost(x float64, below string) string {
	switch {
	case !finite(x):
		return missing
	case x > 0 && x < 0.001:
		return below + "$0.001"
	case x > 0 && x < 0.9995:
		return "$" + significant(x)
	}
	return "$" + thousands(strconv.FormatFloat(x, 'f', 2, 64))
}

// plain prints a number of a profile with all its digits.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// instant prints a moment to the second, with its zone.
func instant(t time.Time) string {
	if t.IsZero() {
		return missing
	}
	return t.Format("2006-01-02 15:04:05 MST")
}

// Limits of text from outside, in bytes.
const (
	maxName = 120  // labels and names
	maxText = 2000 // details, log lines, notes
)

// cleanName bounds a label from outside and strips its control characters. Escaping is the work of
// pageWriter.put and the Markdown writer.
func cleanName(s string) string { return safe.Line(s, maxName) }

// cleanText bounds a longer text from outside and strips its control characters and line ends.
func cleanText(s string) string { return safe.Line(s, maxText) }

func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}
