package profile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/figures/measure"
)

const (
	maxText       = 500 // bytes of conditions: enough for one per metric
	maxThroughput = 1e9 // more than any one machine serves

	example = "write conditions such as p99<50ms,errors<0.1%"
)

// metrics returns the names of all metrics, as a list for an error.
func metrics() string {
	text := ""
	for _, m := range measure.All() {
		if m.ConditionName != "" && m.ConditionName != string(Throughput) {
			text += m.ConditionName + ", "
		}
	}
	return text + "errors and throughput"
}

// ParseConditions reads conditions separated by commas, such as "p99<50ms,errors<0.1%". Blanks are
// allowed around the parts of a condition. The error names the first mistake and a remedy.
func ParseConditions(text string) (Conditions, error) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return nil, fmt.Errorf("condition longer than %d bytes or not UTF-8; %s", maxText, example)
	}
	var all Conditions
	for part := range strings.SplitSeq(text, ",") {
		c, err := condition(strings.TrimSpace(part))
		if err == nil && slices.ContainsFunc(all, func(other Condition) bool { return other.Metric == c.Metric }) {
			err = fmt.Errorf("%s given twice", c.Metric)
		}
		if err != nil {
			return nil, fmt.Errorf("condition %q: %w", text, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// parts are the metric, the sign and the value of a condition.
var parts = regexp.MustCompile(`(?s)^([^<>=]*?)\s*([<>=]+)\s*(.*)$`)

// condition reads one condition.
func condition(text string) (c Condition, err error) {
	found := parts.FindStringSubmatch(text)
	switch {
	case text == "":
		return c, errors.New("a condition is missing; " + example)
	case found == nil:
		return c, fmt.Errorf("%q: expected measure, sign and value, such as p99<50ms", text)
	}
	c.Metric, c.Op = Metric(found[1]), found[2]
	if _, known := measure.ByConditionName(string(c.Metric)); !known && c.Metric != Errors {
		return c, fmt.Errorf("no measure %q; choose one of %s", c.Metric, metrics())
	}
	want := "<"
	if c.Metric == Throughput {
		want = ">"
	}
	if c.Op != want && c.Op != want+"=" {
		return c, fmt.Errorf("%s does not take %q; write %[1]s%[3]s or %[1]s%[3]s=", c.Metric, c.Op, want)
	}
	hint := ""
	if c.Limit, hint = c.read(found[3]); hint != "" {
		return c, fmt.Errorf("invalid value %q for %s; %s", found[3], c.Metric, hint)
	}
	return c, nil
}

// read reads the value of the condition; hint is the remedy for a wrong one, else "".
func (c Condition) read(value string) (v float64, hint string) {
	switch c.Metric {
	case Errors:
		digits, percent := strings.CutSuffix(value, "%")
		v, ok := positive(strings.TrimRight(digits, " "))
		switch {
		case !ok || !percent || v > 100:
			return 0, "write a share from 0% to 100%, such as 0.1%"
		case v == 0 && c.Op == "<":
			return 0, "must be above 0%; for no errors write errors<=0%"
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
