package slo

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"locbench/internal/measure"
)

const (
	maxText       = 500 // bytes of an objective: the longest sensible one has a condition for each metric
	maxThroughput = 1e9 // beyond anything that one machine serves

	example = "write for example p99<50ms,errors<0.1%"
)

// metrics are all of them, as they are offered to whoever writes another.
func metrics() string {
	text := ""
	for _, m := range measure.All() {
		if m.Objective != "" && m.Objective != string(Throughput) {
			text += m.Objective + ", "
		}
	}
	return text + "errors and throughput"
}

// Parse reads conditions divided by commas, such as "p99<50ms,errors<0.1%". Blanks around the parts
// of a condition are allowed. The error is about the first mistake, with its column and a remedy.
func Parse(text string) (Objective, error) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return nil, fmt.Errorf("the objective is not a text of at most %d bytes; %s", maxText, example)
	}
	var all Objective
	start := 0
	for part := range strings.SplitSeq(text, ",") {
		c, at, what, hint := condition(part)
		if what == "" && slices.ContainsFunc(all, func(other Condition) bool { return other.Metric == c.Metric }) {
			at, what, hint = lead(part), "a second condition for "+string(c.Metric), "write one for each"
		}
		if what != "" {
			column := utf8.RuneCountInString(text[:start+at]) + 1
			return nil, fmt.Errorf("objective %q, column %d: %s; %s", text, column, what, hint)
		}
		all = append(all, c)
		start += len(part) + 1
	}
	return all, nil
}

// parts are the metric, the sign and the value of a condition.
var parts = regexp.MustCompile(`(?s)^\s*([^<>=]*?)\s*([<>=]+)\s*(.*?)\s*$`)

// lead is the number of bytes of blanks at the beginning.
func lead(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// condition reads one. Of a mistake it says at which byte it is, what is wrong, and what would be
// right; what is "" without one.
func condition(text string) (c Condition, at int, what, hint string) {
	found := parts.FindStringSubmatchIndex(text)
	if found == nil {
		if strings.TrimSpace(text) == "" {
			return c, lead(text), "a condition is missing", example
		}
		return c, lead(text), fmt.Sprintf("%q compares nothing", strings.TrimSpace(text)),
			"write a measure, a sign and a value, such as p99<50ms"
	}
	c.Metric, c.Op = Metric(text[found[2]:found[3]]), text[found[4]:found[5]]
	if _, known := measure.ByObjective(string(c.Metric)); !known && c.Metric != Errors {
		return c, found[2], fmt.Sprintf("there is no measure %q", c.Metric), "there are " + metrics()
	}
	want := "<"
	if c.Metric == Throughput {
		want = ">"
	}
	if c.Op != want && c.Op != want+"=" {
		return c, found[4], fmt.Sprintf("%s cannot be compared by %q", c.Metric, c.Op),
			fmt.Sprintf("write %s%s or %[1]s%s=", c.Metric, want, want)
	}
	value := text[found[6]:found[7]]
	if c.Limit, hint = c.read(value); hint != "" {
		return c, found[6], fmt.Sprintf("%q is not a value for %s", value, c.Metric), hint
	}
	return c, 0, "", ""
}

// read reads the value; hint says what would be right and is "" when it is.
func (c Condition) read(value string) (v float64, hint string) {
	switch c.Metric {
	case Errors:
		digits, percent := strings.CutSuffix(value, "%")
		v, ok := positive(strings.TrimRight(digits, " "))
		switch {
		case !ok || !percent || v > 100:
			return 0, "write a share from 0% to 100%, such as 0.1%"
		case v == 0 && c.Op == "<":
			return 0, "no share is below 0%: write errors<=0% for none at all"
		}
		return v / 100, ""
	case Throughput:
		v, ok := positive(strings.TrimRight(strings.TrimSuffix(value, "/s"), " "))
		if !ok || v > maxThroughput {
			return 0, "write successes per second, such as 1000/s"
		}
		return v, ""
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > time.Hour {
		return 0, "write a time with its unit, above 0 and up to 1h, such as 50ms"
	}
	return float64(d), ""
}

// positive reads a plain decimal number that is not negative.
func positive(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}
