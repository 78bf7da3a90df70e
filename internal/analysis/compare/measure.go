package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Measures returns the names of all measures that contenders are compared by.
func Measures() (all []string) {
	for _, m := range measure.View(measure.Compared) {
		all = append(all, string(m.ID))
	}
	return all
}

// Titles returns the titles of these measures: "peak throughput, … and CPU per request".
func Titles() string {
	var all []string
	for _, m := range measure.View(measure.Compared) {
		all = append(all, long(m.Measure))
	}
	return enumerated(all)
}

// long returns the title of a measure with its step, for places that do not show it.
func long(m measure.Measure) string { return cmp.Or(m.Comparison.Long, m.Comparison.Title) }

func enumerated(all []string) string {
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// Row is one measure of a contender on both sides.
type Row struct {
	Measure        measure.ID `json:"measure"`
	Unit           string     `json:"unit"`
	HigherIsBetter bool       `json:"higher_is_better"`
	At             string     `json:"at,omitempty"` // the step, as text
	Old            Side       `json:"old"`
	New            Side       `json:"new"`
	// new to old; nil with too few rounds, or a value of 0, which the ranks of P decide
	Ratio         *stats.Ratio  `json:"ratio,omitempty"`
	P             *float64      `json:"p,omitempty"`
	PHolm         *float64      `json:"p_holm,omitempty"`
	Verdict       stats.Verdict `json:"verdict"`
	More          int           `json:"more_rounds,omitempty"` // estimate of the rounds per side to add for a verdict
	Sentence      string        `json:"sentence"`
	Paired        bool          `json:"paired,omitempty"`      // the sides were interleaved: rounds are compared in pairs
	BelowFloor    bool          `json:"below_floor,omitempty"` // the change is below the noise floor
	Warnings      []SideWarning `json:"warnings,omitempty"`
	NotComparable string        `json:"not_comparable,omitempty"` // why there is no verdict

	changed    string  // the change in words; "": not known
	silent     [2]bool // nothing succeeded in any round of the side, where the measure is compared
	unanswered bool    // NotComparable has no other reason than rounds without a response
}

// Side is the sample of one side.
type Side struct {
	Rounds []float64 `json:"rounds"` // value of each round
	Median *float64  `json:"median,omitempty"`
	Value  *float64  `json:"value,omitempty"` // as in tables: of latency over all requests of the rounds, of memory the highest
	Low    *float64  `json:"low,omitempty"`   // 95% CI of the median; needs six rounds
	High   *float64  `json:"high,omitempty"`
}

func side(rounds []float64, shown measure.Result) Side {
	v, s := stats.NewValue(rounds), Side{Rounds: rounds}
	if v.Known() {
		s.Median, s.Value = &v.Median, &v.Median
		if shown.Known {
			s.Value = &shown.Value
		}
	}
	if v.Interval != nil {
		s.Low, s.High = &v.Interval.Low, &v.Interval.High
	}
	return s
}

// Text returns the value in a unit; "–" if it is not known.
func (s Side) Text(u measure.Unit) string {
	if s.Value == nil {
		return units.Missing
	}
	return u.Text(*s.Value)
}

// rows compares all measures of one contender, which are one family.
func rows(couple analysis.Couple, o Options) []Row {
	var all []Row
	var family []stats.Pair
	var of []int // rows that are tested: those with values on both sides
	needs := 0
	for _, m := range slices.Concat(measure.View(measure.Compared), ofNeeds(couple)) {
		r, pair := newRow(couple, m.Measure, o)
		_, known := r.known()
		if (m.Comparison.Apart || m.Comparison.Own) && len(r.Old.Rounds)+len(r.New.Rounds) == 0 {
			continue
		}
		switch why := couple.Shared(m.NeedName()); {
		case !known:
		case m.Comparison.Apart, why != "":
			c := o.Rule.Compare([]stats.Pair{pair})[0]
			r.Ratio, r.changed = c.Ratio, c.Change()
			r.Sentence = joined(": ", joined(", ", "no verdict", why), r.changed)
		case m.Comparison.Own:
			r.decide(o.Rule.Compare([]stats.Pair{pair})[0])
		default:
			of, family = append(of, len(all)), append(family, pair)
			if m.NeedName() != "" {
				needs++
			}
			for i, rounds := range [][]float64{pair.Old, pair.New} {
				for _, w := range stats.RoundWarnings(rounds) {
					r.Warnings = append(r.Warnings, SideWarning{sides[i], w})
				}
			}
		}
		all = append(all, r)
	}
	for i := range family {
		family[i].Weight = analysis.WeightOf(measure.Get(all[of[i]].Measure), needs)
	}
	for i, c := range o.Rule.Compare(family) {
		all[of[i]].decide(c)
	}
	return all
}

// newRow returns the row of a measure without a verdict, and the pair that is tested for it.
func newRow(couple analysis.Couple, m measure.Measure, o Options) (Row, stats.Pair) {
	old, fresh, at, leftOut := couple.Samples(m)
	shown := couple.Values(m)
	r := Row{Measure: m.ID, Unit: m.Unit.String(), HigherIsBetter: m.Higher, At: at, Old: side(old, shown[0]), New: side(fresh, shown[1]),
		Paired: couple.Paired && stats.SameLength(old, fresh)}
	if m.Contender(couple.A.Contender).AtLeast || m.Contender(couple.B.Contender).AtLeast {
		r.Warnings = append(r.Warnings, sideWarning("", bench.WarnEstimate, "%s", m.Comparison.Guess))
	}
	for i, c := range []analysis.Contender{couple.A, couple.B} {
		if step := c.StepOf(m, couple.Ref); step.Drifting > 0 {
			words := step.DriftWords()
			if _, enough := step.Steady(); leftOut {
				words += ", left out"
			} else if enough {
				words += ", compared all the same"
			}
			r.Warnings = append(r.Warnings, sideWarning(sides[i], bench.WarnDrifting, "%s", words))
		}
	}
	r.Sentence, _ = r.known()
	return r, stats.Pair{Measure: string(m.ID), HigherIsBetter: m.Higher, Old: old, New: fresh, Paired: r.Paired,
		Floor: o.Floor.Of(m.ID), Within: m.Comparison.Near, With: couple.OtherPairs(m.ID),
		Words: stats.Words{Text: m.Unit.Text, Zero: m.Comparison.Zero}}
}

// known reports whether both sides have values, or which has none.
func (r Row) known() (why string, ok bool) {
	switch old, fresh := len(r.Old.Rounds), len(r.New.Rounds); {
	case old+fresh == 0:
		return "not measured", false
	case old == 0:
		return "no data in old", false
	case fresh == 0:
		return "no data in new", false
	}
	return "", true
}

// ofNeeds returns the measures of needs that are compared, of those that any side has.
func ofNeeds(couple analysis.Couple) (all []measure.Shown) {
	for _, name := range measure.Needs(slices.Concat(couple.A.Steps, couple.B.Steps)) {
		all = append(all, measure.Shown{Measure: measure.CPUOfNeed(name)})
	}
	return all
}

// decide sets the verdict of the row.
func (r *Row) decide(c stats.Comparison) {
	r.Verdict, r.More, r.Sentence, r.changed = c.Verdict, c.More, c.Sentence(), c.Change()
	if c.Test != nil {
		r.Ratio, r.P, r.PHolm, r.BelowFloor = c.Ratio, &c.Test.P, &c.Adjusted, c.BelowFloor()
	}
}

// Change returns "+8.3% (+6.1% to +10.2%)" or, where a value is 0, "19.0/s → 0/s: nothing succeeded
// in new"; "" if it is not known.
func (r Row) Change() string { return r.changed }

// check removes the verdict and keeps the change, if there is a reason: the sides differ, or one
// would be in no tier of a run, to which force does not apply where it is excluded.
func (r *Row) check(couple analysis.Couple, excluded, differ string, force bool) {
	alone, m := "", measure.Get(r.Measure)
	if differ == "" || force {
		r.silent = couple.Silent(m)
	}
	if excluded == "" {
		why := couple.Outside(m)
		r.unanswered = differ == "" && why == couple.Unanswered(m)
		alone = ofSides(": ", [2]string{safe.Line(why[0], 200), safe.Line(why[1], 200)})
	}
	reason := joined(", ", differ, alone)
	if force {
		reason = ""
	}
	if reason = joined(", ", excluded, reason); reason == "" {
		return
	}
	r.NotComparable, r.Verdict, r.More = reason, stats.Inconclusive, 0
	if r.Sentence = joined(": ", "not comparable", r.changed); reason == alone {
		r.Sentence = "not comparable: " + alone
	}
}

// open returns the inconclusive rows.
func open(rows []Row) (all []analysis.Open) {
	for _, r := range rows {
		own := measure.Get(r.Measure).Comparison.Own // a freeze is seen without a verdict
		if r.Verdict == stats.Inconclusive && r.NotComparable == "" && r.P != nil && !own && r.silent != [2]bool{true, true} {
			all = append(all, analysis.OpenOf(r.Measure, r.Old.Rounds, r.New.Rounds, r.More, r.Ratio))
		}
	}
	return all
}

// ParseMeasure parses the name of a measure.
func ParseMeasure(text string) (measure.ID, error) {
	for _, m := range measure.View(measure.Compared) {
		if string(m.ID) == text {
			return m.ID, nil
		}
	}
	return "", fmt.Errorf("no measure %q; choose one of %s", text, enumerated(Measures()))
}

// FloorSchema is the version of the file format of Floor.
const FloorSchema = 1

// Floor is the noise floor of a machine, from an A/A test: the alternating rounds of one contender,
// compared with each other.
type Floor struct {
	Schema      int            `json:"schema"`
	Contender   string         `json:"contender"`
	Rounds      int            `json:"rounds"`           // per side
	Made        time.Time      `json:"made"`             // start of the run
	Machine     bench.Machine  `json:"machine"`          // machine that was measured
	Profile     string         `json:"profile"`          // name of the profile
	ProfileHash string         `json:"profile_hash"`     // see ProfileHash
	Engine      bench.Engine   `json:"engine,omitempty"` // load engine that was chosen; "": auto
	Measures    []MeasureFloor `json:"measures"`
	// number of measures with a significant difference, all of them false positives
	FalsePositives int `json:"false_positives"`
}

// MeasureFloor is the noise of one measure.
type MeasureFloor struct {
	Measure measure.ID   `json:"measure"`
	Ratio   *stats.Ratio `json:"ratio,omitempty"` // second side to first, ideally 1; nil: not measured
	// distance from 1 to the farther end of the CI, as a change: .04 is 4%
	Floor   float64       `json:"floor,omitempty"`
	Verdict stats.Verdict `json:"verdict"`
}

// falsePositive reports whether the sides differ, although nothing changed.
func (m MeasureFloor) falsePositive() bool {
	return m.Verdict == stats.Better || m.Verdict == stats.Worse
}

// Largest returns the largest noise floor of all measures.
func (f Floor) Largest() (largest float64) {
	for _, m := range f.Measures {
		largest = max(largest, m.Floor)
	}
	return largest
}

// Of returns the noise floor of one measure; 0 if it is not known, or f is nil.
func (f *Floor) Of(m measure.ID) float64 {
	if f != nil {
		for _, known := range f.Measures {
			if known.Measure == m && known.Floor > 0 && !math.IsInf(known.Floor, 0) {
				return known.Floor
			}
		}
	}
	return 0
}

// Fits reports whether f was measured on the machine of a run with the same load and engine.
func (f Floor) Fits(r bench.Run) bool {
	a, b := f.Machine, r.Machine
	return f.Schema == FloorSchema && f.ProfileHash == ProfileHash(r.Profile) && f.Engine == r.Engine &&
		a.CPUModel == b.CPUModel && a.CPUs == b.CPUs && a.MemoryBytes == b.MemoryBytes && a.OS == b.OS && a.Arch == b.Arch
}

// farEnd returns the distance from 1 to the farther end of the CI, as a change: .04 is 4%.
func farEnd(r stats.Ratio) float64 {
	return math.Expm1(max(math.Abs(math.Log(r.Low)), math.Abs(math.Log(r.High))))
}

// NoiseFloor compares the alternating rounds of one contender with each other. Every difference is
// noise, so smaller differences between contenders are not significant.
func NoiseFloor(s Set) (Floor, error) {
	all, err := s.contenders()
	if err != nil {
		return Floor{}, err
	}
	if len(all) != 1 {
		return Floor{}, errors.New("several contenders in these results: name one")
	}
	label, run, n := all[0].Label, s.Run.Run, 0
	var halves [2][]bench.TrialResult
	for _, trial := range all[0].Results {
		if trial.State == bench.TrialComplete {
			halves[n%2] = append(halves[n%2], trial)
			n++
		}
	}
	if need := 2 * stats.MinInterval; n < need {
		return Floor{}, fmt.Errorf("%s has %d complete rounds, needs %d (half per side)", label, n, need)
	}
	f := Floor{
		Schema: FloorSchema, Contender: label, Rounds: n / 2, Made: run.Started, Machine: run.Machine,
		Profile: run.Profile.Name, ProfileHash: ProfileHash(run.Profile), Engine: run.Engine,
	}
	before, after := analysis.Of(run, halves[0]), analysis.Of(run, halves[1])
	for _, row := range Pair(before.Contenders[0], after.Contenders[0], nil, Options{}).Rows {
		if measure.Get(row.Measure).Comparison.Apart {
			continue
		}
		m := MeasureFloor{Measure: row.Measure, Ratio: row.Ratio, Verdict: row.Verdict}
		if row.Ratio != nil {
			m.Floor = farEnd(*row.Ratio)
		}
		if m.falsePositive() {
			f.FalsePositives++
		}
		f.Measures = append(f.Measures, m)
	}
	return f, nil
}

// Words returns the noise floor of each measure and its source: "throughput 2.1%, p99 8.0%
// (go-nethttp vs itself, 6 rounds per side, 2026-11-21 08:00)".
func (f Floor) Words() string {
	var parts []string
	for _, m := range f.Measures {
		if m.Floor > 0 {
			parts = append(parts, fmt.Sprintf("%s %.1f%%", safe.Line(string(m.Measure), 40), 100*m.Floor))
		}
	}
	return fmt.Sprintf("%s (%s vs itself, %s per side, %s)", strings.Join(parts, ", "),
		safe.Line(f.Contender, 100), units.Plural(f.Rounds, "round"), f.Made.Format("2006-01-02 15:04"))
}

// Text writes the noise floor as text.
func (f Floor) Text(w io.Writer) error {
	t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: "2nd vs 1st"}, {Title: "floor", Left: true}}}
	for _, m := range f.Measures {
		row := []string{string(m.Measure), "not measured", ""}
		if m.Ratio != nil {
			row[1], row[2] = m.Ratio.Words(), fmt.Sprintf("%.1f%%", 100*m.Floor)
		}
		if m.falsePositive() {
			row[2] += ", false positive"
		}
		t.Add(row...)
	}
	text := fmt.Sprintf("%s vs itself, %d rounds per side, alternating\n%s"+
		"With %d rounds of this load, this machine cannot show smaller changes. 'locbench compare' applies this\n"+
		"floor to results next to it (same machine and load); elsewhere use: locbench compare --floor %.1f%%\n",
		safe.Line(f.Contender, 200), f.Rounds, t.Text(0), f.Rounds, math.Ceil(1000*f.Largest())/10)
	if f.FalsePositives > 0 {
		text += fmt.Sprintf("%d of %d measures differ although nothing changed: this machine is too noisy. "+
			"Stop other work and calibrate again.\n", f.FalsePositives, len(f.Measures))
	}
	_, err := io.WriteString(w, text)
	return err
}
