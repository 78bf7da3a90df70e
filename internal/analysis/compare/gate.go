package compare

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
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
			return nil, fmt.Errorf("%q: %s given twice", part, measure.Get(g.Measure).Key())
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// gateForm is a need and its measure, or a measure; whether a lower or a higher value fails; and a
// percentage.
var gateForm = regexp.MustCompile(`^(?:([a-z0-9][a-z0-9_-]*)\s+([a-z0-9-]+)|([a-z0-9-]*))\s*(<\s*-|>\s*\+)\s*([0-9.]+)\s*%$`)

func parseGate(part string) (g Gate, err error) {
	m := gateForm.FindStringSubmatch(part)
	if m == nil {
		return g, fmt.Errorf("%q: expected a change such as %s", part, Gates())
	}
	name := joined(" ", m[1], m[2], m[3])
	found := measure.CPUOfNeed(m[1])
	if all := measure.Gated(); m[1] == "" {
		if i := slices.IndexFunc(all, func(m measure.Shown) bool { return m.Key() == name }); i >= 0 {
			found = all[i].Measure
		}
	}
	v, err := strconv.ParseFloat(m[5], 64)
	switch lower := m[4][0] == '<'; {
	case found.ID == "" || found.Key() != name:
		return g, fmt.Errorf("%q: no measure %q; expected a change such as %s", part, name, Gates())
	case lower != found.Higher:
		return g, fmt.Errorf("%q is an improvement; expected a change such as %s", part, Gates())
	case err != nil || v >= 100*maxChange || lower && v >= 100:
		return g, fmt.Errorf("%q: %s%% is not possible; expected a change such as %s", part, m[5], Gates())
	case lower:
		v = -v
	}
	return Gate{found.ID, v / 100}, nil
}

// Gates returns an example of a gate for each measure: "throughput<-5%, p99>+10%".
func Gates() string {
	var all []string
	for _, g := range GateTable() {
		all = append(all, g[0])
	}
	return strings.Join(all, ", ")
}

// GateTable returns an example of a gate for each measure, and what it compares.
func GateTable() (all [][2]string) {
	add := func(m measure.Measure) {
		change := 0.1
		if m.Higher {
			change = -0.05
		}
		all = append(all, [2]string{Gate{m.ID, change}.String(), m.Comparison.What})
	}
	for _, m := range measure.Gated() {
		add(m.Measure)
	}
	add(measure.CPUOfNeed("db"))
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
	return fmt.Sprintf("%s%s%s%%", measure.Get(g.Measure).Key(), sign, strconv.FormatFloat(math.Abs(g.Change)*100, 'f', -1, 64))
}

// Outcome is the result of a gate for one contender.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"  // the CI excludes all changes that are not allowed
	Unsure  Outcome = "unsure"  // the CI includes the limit, or the change is below the noise floor: not certain
	Open    Outcome = "open"    // cannot be decided: too few rounds, or no values to compare
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
// CI of the ratio is beyond the allowed change, or if nothing succeeded on the new side.
func (r Result) CheckGates(gates []Gate) (all []GateResult) {
	for _, c := range r.Contenders {
		for _, g := range gates {
			outcome, why := g.check(c.row(g.Measure))
			all = append(all, GateResult{c.New, g.String(), outcome, why, c.excluded})
		}
	}
	return all
}

// row returns the row of a measure, also of one that is compared only for gates.
func (c Contender) row(id measure.ID) Row {
	if i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Measure == id }); i >= 0 {
		return c.Rows[i]
	}
	return c.more(measure.Get(id))
}

func (g Gate) check(row Row) (Outcome, string) {
	switch {
	case row.silent[1]:
		return Failed, cmp.Or(row.changed, "nothing succeeded in new")
	case row.unanswered && row.NotComparable != "":
		return Open, row.NotComparable
	case row.NotComparable != "":
		return Refused, row.NotComparable
	case row.P == nil:
		return Open, row.Sentence
	case row.Ratio == nil:
		return g.checkRanks(row)
	}
	limit, low, high := 1+g.Change, row.Ratio.Low, row.Ratio.High
	if g.higher() {
		low, high, limit = -high, -low, -limit
	}
	switch {
	case low > limit && row.BelowFloor:
		return Unsure, row.changed + ": below the noise floor"
	case low > limit:
		return Failed, row.changed
	case high <= limit:
		return Passed, row.changed
	}
	return Unsure, row.changed + ": the CI includes the limit"
}

// checkRanks is check where a value is 0. There is no CI of the ratio, but its test: of the limit.
func (g Gate) checkRanks(row Row) (Outcome, string) {
	if !g.higher() && stats.AllZero(row.New.Rounds) {
		return Passed, row.changed
	}
	pair := stats.Pair{Old: row.Old.Rounds, New: row.New.Rounds, Paired: row.Paired}
	beyond := stats.Rule{}.Beyond(pair, 1+g.Change)
	if g.higher() {
		beyond = -beyond
	}
	switch {
	case beyond > 0 && row.BelowFloor:
		return Unsure, row.changed + ": below the noise floor"
	case beyond > 0:
		return Failed, row.changed
	case beyond < 0:
		return Passed, row.changed
	}
	return Unsure, row.changed + ": not certainly beyond the limit"
}
