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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Metric is what a condition limits, such as "p99", "mean" or "max": measure has the table.
type Metric string

// Metrics other than latencies.
const (
	// Errors is the share of the scheduled or sent requests without success, dropped ones included.
	Errors     Metric = "errors"
	Throughput Metric = "throughput" // successes per second
)

// Condition is one comparison.
type Condition struct {
	Metric Metric
	Op     string  // "<", "<=", ">" or ">="
	Limit  float64 // latencies: ns; errors: a share from 0 to 1; throughput: successes per second
}

// Conditions are in the order of their text, with each metric at most once.
type Conditions []Condition

// String returns the form that ParseConditions reads.
func (cs Conditions) String() string {
	texts := make([]string, len(cs))
	for i, c := range cs {
		texts[i] = c.String()
	}
	return strings.Join(texts, ",")
}

// String returns the form that ParseConditions reads: "p99<50ms".
func (c Condition) String() string { return string(c.Metric) + c.limit() }

func (c Condition) limit() string {
	switch c.Metric {
	case Errors:
		return c.Op + decimal(100*c.Limit, 9) + "%"
	case Throughput:
		return c.Op + decimal(c.Limit, 9) + "/s"
	}
	return c.Op + time.Duration(c.Limit).String()
}

// show returns a measured value for people, with three or four digits: "50ms", "0.1%", "1250/s".
func (c Condition) show(value float64) string {
	switch c.Metric {
	case Errors:
		return decimal(100*value, 3) + "%"
	case Throughput:
		return decimal(value, 4) + "/s"
	}
	d, unit := time.Duration(value), time.Duration(1)
	for d.Abs() >= 10_000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}

// decimal returns v with at most n significant digits, which also hides the error of 100 × 0.001.
func decimal(v float64, n int) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// value returns the measured value; ok is false without one, such as a latency without a success.
func (c Condition) value(l bench.Load) (v float64, ok bool) {
	if c.Metric == Errors {
		return l.ErrorRateWithDropped(), l.Ended()+l.Dropped > 0
	}
	m, _ := measure.ByConditionName(string(c.Metric)) // ParseConditions accepts only these
	return m.Of(bench.StepResult{Load: l})
}

// check returns the result of the condition; it is not passed without a measured value.
func (c Condition) check(l bench.Load) bench.ThresholdResult {
	r := bench.ThresholdResult{Condition: c.String()}
	v, ok := c.value(l)
	if !ok {
		r.Text = string(c.Metric) + " is unknown: no success"
		return r
	}
	r.Value = &v
	switch c.Op {
	case "<":
		r.Passed = v < c.Limit
	case "<=":
		r.Passed = v <= c.Limit
	case ">":
		r.Passed = v > c.Limit
	case ">=":
		r.Passed = v >= c.Limit
	}
	not := "not "
	if r.Passed {
		not = ""
	}
	r.Text = string(c.Metric) + " is " + c.show(v) + ", " + not + c.limit()
	return r
}

// Check returns the result of each condition for a step with this load.
func (cs Conditions) Check(l bench.Load) (all []bench.ThresholdResult) {
	for _, c := range cs {
		all = append(all, c.check(l))
	}
	return all
}

// Missed returns a text for each condition that the load missed: "p99 is 71.2ms, not <50ms".
func (cs Conditions) Missed(l bench.Load) (texts []string) {
	for _, r := range cs.Check(l) {
		if !r.Passed {
			texts = append(texts, r.Text)
		}
	}
	return texts
}

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

const thresholdHint = "write a condition such as `p99<50ms,errors<0.1%`, optionally with `from_step=3`, `stop=trial` " +
	"or `stop=run`; or a map with condition, from_step, stop"

// scopes are the values of `stop`; true means the trial, so other contenders are still measured.
var scopes = map[string]bench.Scope{
	"false": "", "true": bench.ScopeTrial, "trial": bench.ScopeTrial, "run": bench.ScopeRun,
}

// readThreshold reads a short text as in thresholdHint, or a map.
func readThreshold(v strictyaml.Value, t *bench.Threshold) {
	switch v.Kind() {
	case strictyaml.Map:
		if !v.Struct(t) {
			return
		}
		t.Stop = scopes[string(t.Stop)]
		if all, err := ParseConditions(t.Condition); err == nil {
			t.Condition = all.String()
		}
	case strictyaml.Scalar:
		text, _ := v.Text()
		parsed, err := ParseThreshold(text)
		if err != nil {
			v.Mistake(err.Error(), "")
		}
		*t = parsed
	default:
		v.Wrong(thresholdHint)
	}
}

// thresholdOption matches an option after the condition in the short form.
var thresholdOption = regexp.MustCompile(`^([a-z_]+)=(.*)$`)

// ParseThreshold reads the short form of profiles and options: "p99<50ms from_step=3 stop=trial".
func ParseThreshold(text string) (t bench.Threshold, err error) {
	words := strings.Fields(text)
	stops := false
	for ; len(words) > 0; words = words[:len(words)-1] {
		option := thresholdOption.FindStringSubmatch(words[len(words)-1])
		if option == nil {
			break
		}
		key, value := option[1], option[2]
		n, err := strconv.Atoi(value)
		scope, known := scopes[value]
		switch {
		case key == "from_step" && t.FromStep == 0 && err == nil && n >= 1 && n <= maxSteps:
			t.FromStep = n
		case key == "stop" && known && !stops:
			t.Stop, stops = scope, true
		default:
			return t, fmt.Errorf("threshold %.60q: unexpected %.60s; options are from_step (1 to %d) and "+
				"stop=trial (or true) or stop=run", text, option[0], maxSteps)
		}
	}
	conditions, err := ParseConditions(strings.Join(words, " "))
	if err != nil {
		return t, fmt.Errorf("threshold %.60q: %w", text, err)
	}
	t.Condition = conditions.String()
	return t, nil
}

func (r *rules) thresholds(p *bench.Profile) {
	for i, t := range p.Thresholds {
		at := fmt.Sprintf("thresholds[%d]", i)
		if _, err := ParseConditions(t.Condition); err != nil {
			r.when(true, at+".condition", err.Error(), "")
		}
		r.bounds(at+".", &t)
		n := len(p.Steps)
		exists := t.FromStep >= 0 && t.FromStep <= n
		r.when(n > 0 && !exists, at, fmt.Sprintf("from_step is %d; there are only %d steps", t.FromStep, n),
			"write the number of a step, counting warm-ups, or leave it out")
		measured := func(s bench.Step) bool { return !s.WarmUp }
		r.when(n > 0 && exists && !slices.ContainsFunc(p.Steps[max(t.FromStep-1, 0):], measured), at,
			"it checks no step", "only warm-ups follow: write a smaller `from_step`")
	}
}
