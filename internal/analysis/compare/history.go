package compare

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/text/safe"
)

// historyAlpha is the share of series without a change in which chance marks one.
const historyAlpha = 0.05

// LeastForChange is the least number of comparable results in a row that can show a change.
const LeastForChange = 6

// History collects the figures of many runs. The zero value is ready.
type History struct {
	points map[string][]Point // by label
	ids    map[string]string  // run to folder
}

// Point is one contender in one run.
type Point struct {
	Folder   string    `json:"folder"`
	Run      string    `json:"run"`
	Started  time.Time `json:"started"`
	Rounds   int       `json:"rounds"` // complete ones; the figures are of these
	Left     int       `json:"left_out,omitempty"`
	Excluded string    `json:"excluded,omitempty"` // why it takes part in no claim
	// Break is what makes it not comparable with the point before; "" when nothing on record does.
	Break  string   `json:"not_comparable_with_previous,omitempty"`
	Values []PointValue `json:"measures"`

	run    bench.Run
	trials []bench.TrialResult // what was started, without figures
	at     bench.Step          // half peak, if it is the first of its segment
	steps  []figureAt
}

// PointValue is one measure of a point.
type PointValue struct {
	Measure measure.ID `json:"measure"`
	Unit    string     `json:"unit"`
	At      string     `json:"at,omitempty"`  // at which step
	Out     string     `json:"out,omitempty"` // why no change is looked for here: the step was not in a steady state
	Side               // rounds, and their median with its interval
}

// Change is a place where the level of a measure changed.
type Change struct {
	Measure measure.ID `json:"measure"`
	At      int        `json:"at"` // index of the first point of the new level
	Before  float64    `json:"before"`
	After   float64    `json:"after"` // medians of the points between the neighbouring changes or breaks
	P       float64    `json:"p"`
	// Since are what else is on record as different between this point and the one before: perhaps
	// the reason.
	Since []Difference `json:"since,omitempty"`
}

// Series is a contender over all runs, in the order of time.
type Series struct {
	Contender string   `json:"contender"`
	Points    []Point  `json:"points"`
	Changes   []Change `json:"changes,omitempty"`
}

// figureAt is a measure at any step that half peak may turn out to be.
type figureAt struct {
	PointValue
	step bench.Step
}

func newPointValue(m measure.Measure, at, out string, values []float64) PointValue {
	return PointValue{Measure: m.ID, Unit: m.Unit.String(), At: at, Out: out, Side: side(stats.NewValue(values))}
}

// Add takes one results folder. skipped says why it, or some contender of it, adds nothing.
func (h *History) Add(folder string, run bench.Run, trials []bench.TrialResult) (skipped []string) {
	if h.points == nil {
		h.points, h.ids = map[string][]Point{}, map[string]string{}
	}
	if run.Search != "" {
		return []string{"capacity search"}
	}
	if other, twice := h.ids[run.ID]; twice && run.ID != "" {
		return []string{"same run as " + other}
	}
	h.ids[run.ID] = folder
	var complete []bench.TrialResult
	seen, whole := map[string]int{}, map[string]int{}
	var labels []string
	for _, trial := range trials {
		label := trial.Trial.Label()
		if seen[label]++; seen[label] == 1 {
			labels = append(labels, label)
		}
		if trial.State == bench.TrialComplete {
			whole[label]++
			complete = append(complete, trial)
		}
	}
	if len(labels) == 0 {
		return []string{"no trial has begun"}
	}
	for _, label := range labels {
		if whole[label] == 0 {
			skipped = append(skipped, label+": no complete round")
		}
	}
	for _, c := range analysis.Of(run, complete).Contenders {
		p := Point{Folder: folder, Run: run.ID, Started: run.Started, Rounds: whole[c.Label],
			Left: seen[c.Label] - whole[c.Label], run: run}
		p.measure(c)
		h.points[c.Label] = append(h.points[c.Label], p)
	}
	return skipped
}

// measure takes the figures of a contender.
func (p *Point) measure(c analysis.Contender) {
	for _, trial := range c.Results {
		p.trials = append(p.trials, bench.TrialResult{Trial: trial.Trial, Service: trial.Service, Instance: trial.Instance})
	}
	if c.Excluded != nil {
		p.Excluded = safe.Line(c.Excluded.String(), 400)
	}
	for _, shown := range measure.View(measure.Compared) {
		m := shown.Measure
		values, _, at := analysis.Samples(m, c, c)
		if m.Comparison.At == measure.AtHalf {
			p.at, _, _ = c.Half()
			for _, s := range c.Steps {
				if !s.Step.WarmUp {
					f := newPointValue(m, s.Step.Name, cmp.Or(p.Excluded, s.DriftWords()), c.At(m, s.Step))
					p.steps = append(p.steps, figureAt{f, s.Step})
				}
			}
		}
		p.Values = append(p.Values, newPointValue(m, at, cmp.Or(p.Excluded, c.StepOf(m, p.at).DriftWords()), values))
	}
}

// Labels returns those of all contenders that were added.
func (h *History) Labels() []string {
	return slices.Sorted(maps.Keys(h.points))
}

// Courses puts the points of each label in the order of time, with breaks and changes of level. No
// labels are all contenders, no measures all of these.
func (h *History) Courses(labels []string, measures []measure.ID) ([]Series, error) {
	if len(labels) == 0 {
		labels = h.Labels()
	}
	var all []Series
	for _, label := range labels {
		points, ok := h.points[label]
		if !ok {
			return nil, fmt.Errorf("no contender %q in these results; choose one of %s", label, list(h.Labels()))
		}
		c := Series{Contender: label, Points: slices.Clone(points)}
		slices.SortStableFunc(c.Points, func(a, b Point) int {
			return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Folder, b.Folder))
		})
		for i := range c.Points {
			p := &c.Points[i]
			p.Values = slices.DeleteFunc(slices.Clone(p.Values), func(f PointValue) bool {
				return len(measures) > 0 && !slices.Contains(measures, f.Measure) ||
					len(measures) == 0 && unknown(f.Measure, points)
			})
			if i > 0 {
				was := c.Points[i-1]
				p.Break = breaking(was.differences(*p), 40) // a list of steps is not named
			}
		}
		for from, to := range c.segments() {
			if err := c.findChanges(from, to); err != nil {
				return nil, err
			}
		}
		slices.SortStableFunc(c.Changes, func(a, b Change) int { return a.At - b.At })
		all = append(all, c)
	}
	return all, nil
}

// segments returns those of comparable points: the first of each, and the one after its last.
func (c *Series) segments() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from := 0
		for to := 1; to <= len(c.Points); to++ {
			if to == len(c.Points) || c.Points[to].Break != "" {
				if !yield(from, to) {
					return
				}
				from = to
			}
		}
	}
}

// unknown reports whether a measure that only explains others is in none of the points.
func unknown(id measure.ID, points []Point) bool {
	return measure.Get(id).Comparison.Apart && !slices.ContainsFunc(points, func(p Point) bool {
		return slices.ContainsFunc(p.Values, func(f PointValue) bool { return f.Measure == id && f.Median != nil })
	})
}

// differences returns those to a later point.
func (p Point) differences(next Point) []Difference {
	return append(Differences(p.run, next.run), TrialDifferences(p.trials, next.trials)...)
}

// findChanges searches comparable points for changes, at the step that is half peak of the
// first.
func (c *Series) findChanges(from, to int) error {
	points := c.Points[from:to]
	for i := range points {
		for j := range points[i].Values {
			if f := &points[i].Values[j]; measure.Get(f.Measure).Comparison.At == measure.AtHalf {
				*f = points[i].figure(f.Measure, points[0].at)
			}
		}
	}
	for k, f := range points[0].Values {
		var series []float64
		var index []int // of the points that have a value
		for i, p := range points {
			if m := p.Values[k].Median; m != nil && p.Values[k].Out == "" {
				series, index = append(series, *m), append(index, from+i)
			}
		}
		found, err := stats.ChangePoints(series, historyAlpha)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", f.Measure, c.Contender, err)
		}
		for _, x := range found {
			at := index[x.At]
			was := c.Points[index[x.At-1]]
			c.Changes = append(c.Changes, Change{Measure: f.Measure, At: at, Before: x.Before, After: x.After, P: x.P,
				Since: gravestFirst(was.differences(c.Points[at]))})
		}
	}
	return nil
}

// figure returns a measure at a step.
func (p Point) figure(of measure.ID, step bench.Step) PointValue {
	f := newPointValue(measure.Get(of), step.Name, "", nil)
	for _, s := range p.steps {
		if s.Measure == of && s.step.Same(step) {
			f.Side, f.Out = s.Side, s.Out
		}
	}
	return f
}

// ParseMeasure reads the name of a measure.
func ParseMeasure(text string) (measure.ID, error) {
	if slices.Contains(Measures(), text) {
		return measure.ID(text), nil
	}
	return "", fmt.Errorf("no measure %q; choose one of %s", text, enumerated(Measures()))
}
