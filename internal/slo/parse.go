package slo

import (
	"fmt"
	"math"
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

// Error tells where in a text the mistake is, and what would be right.
type Error struct {
	Text   string // the whole objective
	Column int    // of the mistake, in characters from 1
	What   string
	Hint   string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("objective %q, column %d: %s", e.Text, e.Column, e.What)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Parse reads conditions divided by commas, such as "p99<50ms,errors<0.1%". Blanks around the parts
// of a condition are allowed. The error is an *Error and is about the first mistake.
func Parse(text string) (Objective, error) {
	p := parser{text: text}
	if len(text) > maxText || !utf8.ValidString(text) {
		p.text = "…"
		return nil, p.fail(0, fmt.Sprintf("it is no text of at most %d bytes", maxText), "write for example p99<50ms,errors<0.1%")
	}
	if strings.TrimSpace(text) == "" {
		return nil, p.fail(0, "it is empty", "write for example p99<50ms,errors<0.1%")
	}
	var all Objective
	for at := 0; ; {
		part, rest, more := strings.Cut(text[at:], ",")
		c, err := p.condition(at, part)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other Condition) bool { return other.Metric == c.Metric }) {
			return nil, p.fail(at+lead(part), string(c.Metric)+" is here again", "say one condition for each")
		}
		all = append(all, c)
		if !more {
			return all, nil
		}
		at = len(text) - len(rest)
	}
}

type parser struct{ text string }

// fail makes the error about what begins at that byte.
func (p parser) fail(at int, what, hint string) error {
	return &Error{Text: p.text, Column: utf8.RuneCountInString(p.text[:min(at, len(p.text))]) + 1, What: what, Hint: hint}
}

// lead is the number of bytes of blanks at the beginning.
func lead(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// condition reads one, which begins at byte at of the text.
func (p parser) condition(at int, part string) (Condition, error) {
	at += lead(part)
	part = strings.TrimSpace(part)
	if part == "" {
		return Condition{}, p.fail(at, "a condition is missing", "write for example p99<50ms, or remove the comma")
	}
	sign := strings.IndexAny(part, "<>=")
	if sign < 0 {
		return Condition{}, p.fail(at, fmt.Sprintf("%q compares nothing", part), "write a measure, a sign and a value, such as p99<50ms")
	}
	c := Condition{Metric: Metric(strings.TrimSpace(part[:sign]))}
	if _, known := measure.ByObjective(string(c.Metric)); !known && c.Metric != Errors {
		return c, p.fail(at, fmt.Sprintf("there is no measure %q", c.Metric), "there are "+metrics())
	}
	end := sign + len(part[sign:]) - len(strings.TrimLeft(part[sign:], "<>="))
	c.Op = Op(part[sign:end])
	want := Less
	if c.Metric == Throughput {
		want = Greater
	}
	if c.Op != want && c.Op != want+"=" {
		return c, p.fail(at+sign, fmt.Sprintf("%s cannot be compared by %q", c.Metric, c.Op), fmt.Sprintf("write %s%s or %s%s=", c.Metric, want, c.Metric, want))
	}
	at += end + lead(part[end:])
	value := strings.TrimSpace(part[end:])
	var hint string
	if c.Limit, hint = c.limit(value); hint != "" {
		return c, p.fail(at, fmt.Sprintf("%q is no value for %s", value, c.Metric), hint)
	}
	return c, nil
}

// limit reads the value; hint says what would be right and is empty when it is.
func (c Condition) limit(value string) (v float64, hint string) {
	switch c.Metric {
	case Errors:
		hint = "write a share from 0% to 100%, such as 0.1%"
		digits, ok := strings.CutSuffix(value, "%")
		v, ok2 := positive(strings.TrimRight(digits, " "))
		switch {
		case !ok || !ok2 || v > 100:
			return 0, hint
		case v == 0 && c.Op == Less:
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
	return v, err == nil && !math.IsInf(v, 0)
}
