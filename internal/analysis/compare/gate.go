package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/figures/measure"
)

// Gate is a change that is not allowed: "throughput<-5%" fails if throughput is over 5% lower.
type Gate struct {
	Measure measure.ID
	Change  float64 // −0.05 is 5% less; smaller values fail if higher is better, else larger values
}

// The maximum length of a text of gates in bytes, and the largest change.
const (
	maxText   = 500
	maxChange = 100 // 10,000%
)

// ParseGates parses "throughput<-5%,p99>+10%". The error is about the first mistake.
func ParseGates(text string) ([]Gate, error) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return nil, fmt.Errorf("longer than %d bytes; expected changes such as throughput<-5%%,p99>+10%%", maxText)
	}
	var gates []Gate
	for part := range strings.SplitSeq(text, ",") {
		g, err := parseGate(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(gates, func(other Gate) bool { return other.Measure == g.Measure }) {
			return nil, fmt.Errorf("%q: %s given twice", part, g.Measure)
		}
		gates = append(gates, g)
	}
	return gates, nil
}

func parseGate(part string) (g Gate, err error) {
	at := strings.IndexAny(part, "<>")
	if at < 0 {
		return g, fmt.Errorf("%q: expected a change such as throughput<-5%% or p99>+10%%", part)
	}
	g.Measure = measure.ID(strings.TrimSpace(part[:at]))
	if !slices.Contains(gated(), string(g.Measure)) {
		return g, fmt.Errorf("%q: no measure %q; choose one of %s", part, g.Measure, strings.Join(gated(), ", "))
	}
	op, sign, most := ">", "+", float64(maxChange)
	if g.higher() {
		op, sign, most = "<", "-", 1
	}
	if part[at:at+1] != op {
		return g, fmt.Errorf("%q is an improvement; expected a change such as %s", part, g.example())
	}
	value := strings.TrimSpace(part[at+1:])
	digits, percent := strings.CutSuffix(value, "%")
	digits, signed := strings.CutPrefix(strings.TrimSpace(digits), sign)
	v, err := strconv.ParseFloat(digits, 64)
	if !percent || !signed || err != nil || strings.Trim(digits, "0123456789.") != "" || v/100 >= most {
		return g, fmt.Errorf("%q: %q is not a change within 0%% and %s%g%%; expected a change such as %s", part, value, sign,
			100*most, g.example())
	}
	if g.Change = v / 100; g.higher() {
		g.Change = -g.Change
	}
	return g, nil
}

// example returns an example of a gate for the same measure.
func (g Gate) example() string {
	if g.Change = 0.1; g.higher() {
		g.Change = -0.05
	}
	return g.String()
}

// Gates returns an example of a gate for each measure: "throughput<-5%, p99>+10%".
func Gates() string {
	var all []string
	for _, id := range gated() {
		all = append(all, Gate{Measure: measure.ID(id)}.example())
	}
	return strings.Join(all, ", ")
}

// gated returns the names of the measures that may have a gate.
func gated() (all []string) {
	for _, m := range measure.Tested() {
		all = append(all, string(m.ID))
	}
	return all
}

// higher reports whether a higher value is better.
func (g Gate) higher() bool { return measure.Get(g.Measure).Higher }

// String returns the form that ParseGates parses.
func (g Gate) String() string {
	sign := ">+"
	if g.higher() {
		sign = "<-"
	}
	return fmt.Sprintf("%s%s%s%%", g.Measure, sign, strconv.FormatFloat(math.Abs(g.Change)*100, 'f', -1, 64))
}

// Outcome is the result of a gate for one contender.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"  // the CI excludes all changes that are not allowed
	Open    Outcome = "open"    // the CI includes the limit, or there is no CI
	Failed  Outcome = "failed"  // the CI excludes all changes that are allowed
	Refused Outcome = "refused" // the two sides are not comparable
)

// GateResult is the result of one gate for one contender.
type GateResult struct {
	Contender string  `json:"contender"`
	Gate      string  `json:"gate"`
	Outcome   Outcome `json:"outcome"`
	Why       string  `json:"why"`
	Excluded  bool    `json:"-"` // refused because a side is excluded, to which --force does not apply
}

// CheckGates applies the gates to every contender of both sides. A gate fails only if the whole 95%
// CI of the ratio is beyond the allowed change.
func (r Result) CheckGates(gates []Gate) (all []GateResult) {
	for _, c := range r.Contenders {
		for _, g := range gates {
			for _, row := range c.Rows {
				if row.Measure == g.Measure {
					outcome, why := g.check(row)
					all = append(all, GateResult{c.New, g.String(), outcome, why, c.excluded})
				}
			}
		}
	}
	return all
}

func (g Gate) check(row Row) (Outcome, string) {
	switch {
	case row.NotComparable != "":
		return Refused, row.NotComparable
	case row.Ratio == nil:
		return Open, row.Sentence
	}
	limit, low, high := 1+g.Change, row.Ratio.Low, row.Ratio.High
	if g.higher() {
		low, high, limit = -high, -low, -limit
	}
	switch {
	case low > limit && row.BelowFloor:
		return Open, row.change() + ": below the noise floor"
	case low > limit:
		return Failed, row.change()
	case high <= limit:
		return Passed, row.change()
	}
	return Open, row.change() + ": the CI includes the limit"
}
