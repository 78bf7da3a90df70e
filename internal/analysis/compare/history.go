package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// History collects the results of many runs. The zero value is ready to use.
type History struct {
	points map[string][]Point // points by label of the contender
	ids    map[string]string  // folder by ID of the run
}

// Point is one contender in one run.
type Point struct {
	Folder   string    `json:"folder"`
	Run      string    `json:"run"`
	Started  time.Time `json:"started"`
	Rounds   int       `json:"rounds"` // complete rounds, which the values are of
	Left     int       `json:"left_out,omitempty"`
	Excluded string    `json:"excluded,omitempty"` // why the contender is excluded
	// Break is why the point is not comparable with the one before; "" if it is.
	Break  string       `json:"not_comparable_with_previous,omitempty"`
	Values []PointValue `json:"measures"`

	run    bench.Run
	trials []bench.TrialResult // instances, without results
	at     bench.Step          // step at half peak, which counts if the point is the first of its segment
	steps  []valueAt
}

// PointValue is one measure of a point.
type PointValue struct {
	Measure measure.ID `json:"measure"`
	Unit    string     `json:"unit"`
	At      string     `json:"at,omitempty"`  // name of the step
	Out     string     `json:"out,omitempty"` // why the value is excluded, or its drift
	Side               // rounds, and their median with its CI
}

// Series is a contender over all runs, in order of time.
type Series struct {
	Contender string  `json:"contender"`
	Points    []Point `json:"points"`
}

// valueAt is a measure at a step that may be the one at half peak.
type valueAt struct {
	PointValue
	step bench.Step
}

func newPointValue(m measure.Measure, at, out string, values []float64) PointValue {
	return PointValue{Measure: m.ID, Unit: m.Unit.String(), At: at, Out: out, Side: side(stats.NewValue(values))}
}

// Add adds one results folder. skipped says why the folder, or a contender of it, was skipped.
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
	seen, done := map[string]int{}, map[string]int{}
	var labels []string
	for _, trial := range trials {
		label := trial.Trial.Label()
		if seen[label]++; seen[label] == 1 {
			labels = append(labels, label)
		}
		if trial.State == bench.TrialComplete {
			done[label]++
			complete = append(complete, trial)
		}
	}
	if len(labels) == 0 {
		return []string{"no trial started"}
	}
	for _, label := range labels {
		if done[label] == 0 {
			skipped = append(skipped, label+": no complete round")
		}
	}
	for _, c := range analysis.Of(run, complete).Contenders {
		p := Point{Folder: folder, Run: run.ID, Started: run.Started, Rounds: done[c.Label],
			Left: seen[c.Label] - done[c.Label], run: run}
		p.measure(c)
		h.points[c.Label] = append(h.points[c.Label], p)
	}
	return skipped
}

// measure adds the values of a contender.
func (p *Point) measure(c analysis.Contender) {
	for _, trial := range c.Results {
		p.trials = append(p.trials, bench.TrialResult{Trial: trial.Trial, Service: trial.Service, Instance: trial.Instance})
	}
	if c.Excluded != nil {
		p.Excluded = safe.Line(c.Excluded.String(), 400)
	}
	for _, shown := range measure.View(measure.Compared) {
		m := shown.Measure
		values, _, at := analysis.Samples(m, c, c, c)
		if m.Comparison.At == measure.AtHalf {
			p.at, _, _ = c.Half()
			for _, s := range c.Steps {
				if !s.Step.WarmUp {
					f := newPointValue(m, s.Step.Name, cmp.Or(p.Excluded, s.DriftWords()), c.At(m, s.Step))
					p.steps = append(p.steps, valueAt{f, s.Step})
				}
			}
		}
		p.Values = append(p.Values, newPointValue(m, at, cmp.Or(p.Excluded, c.StepOf(m, c).DriftWords()), values))
	}
}

// Labels returns the labels of all contenders that were added.
func (h *History) Labels() []string {
	return slices.Sorted(maps.Keys(h.points))
}

// Series returns the points of each contender in order of time, with breaks.
// Without labels it returns all contenders, without measures all measures.
func (h *History) Series(labels []string, measures []measure.ID) ([]Series, error) {
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
				p.Break = breaking(was.differences(*p), 40) // without long lists of steps
			}
		}
		c.sameSteps()
		all = append(all, c)
	}
	return all, nil
}

// unknown reports whether a measure without a verdict has no value in any point.
func unknown(id measure.ID, points []Point) bool {
	return measure.Get(id).Comparison.Apart && !slices.ContainsFunc(points, func(p Point) bool {
		return slices.ContainsFunc(p.Values, func(f PointValue) bool { return f.Measure == id && f.Median != nil })
	})
}

// differences returns the differences to a later point.
func (p Point) differences(next Point) []Difference {
	return append(Differences(p.run, next.run), TrialDifferences(p.trials, next.trials)...)
}

// sameSteps takes the values at half peak of all comparable points at one step, that of the first.
func (c *Series) sameSteps() {
	var at bench.Step
	for i, p := range c.Points {
		if i == 0 || p.Break != "" {
			at = p.at
		}
		for k, f := range p.Values {
			if measure.Get(f.Measure).Comparison.At == measure.AtHalf {
				p.Values[k] = p.value(f.Measure, at)
			}
		}
	}
}

// value returns a measure at a step.
func (p Point) value(of measure.ID, step bench.Step) PointValue {
	f := newPointValue(measure.Get(of), step.Name, "", nil)
	for _, s := range p.steps {
		if s.Measure == of && s.step.Same(step) {
			f.Side, f.Out = s.Side, s.Out
		}
	}
	return f
}

// ParseMeasure parses the name of a measure.
func ParseMeasure(text string) (measure.ID, error) {
	if slices.Contains(Measures(), text) {
		return measure.ID(text), nil
	}
	return "", fmt.Errorf("no measure %q; choose one of %s", text, enumerated(Measures()))
}
