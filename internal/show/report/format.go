package report

import (
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

const missing = units.Missing

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
// page.html and the Markdown writer.
func cleanName(s string) string { return safe.Line(s, maxName) }

// cleanText bounds a longer text from outside and strips its control characters and line ends.
func cleanText(s string) string { return safe.Line(s, maxText) }

func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}
