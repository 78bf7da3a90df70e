package report

import (
	"maps"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// layout is the order in which everything is shown: contenders as in the profile, their rounds side
// by side, steps as they ran. Tables and charts share it: column 3 is the same trial everywhere.
type layout struct {
	run        *analysis.Run
	all        []analysis.Contender
	contenders []contender
	columns    []column
	rows       []row
	indices    []int // index of the step in each row
}

// contender is one selection of the run.
type contender struct {
	Index int    // decides its color
	Label string // cleaned
	About string // "Go 1.26, net/http 1.26"
	of    analysis.Contender
}

// colors is the number of colors in style.css. Further contenders repeat them with other dashes.
const colors = table.Colors

type column struct {
	Contender int
	Label     string
	Round     int
	trial     *bench.TrialResult
	steps     []*bench.StepResult // by row; nil where the step was not run
}

// Name returns the name of the trial in bars and tables: the stem of its file.
func (c column) Name() string { return cleanName(c.trial.Trial.String()) }

type row struct {
	Label  string // a short name, for an axis: "w3", "64"
	Title  string // "warm-up 3, 1 connection"
	WarmUp bool
	step   bench.Step
}

// newLayout lays a run out. The rows are the steps of the profile and any others that a trial ran.
func newLayout(a *analysis.Run) layout {
	l, steps := layout{run: a}, a.Steps()
	l.indices = slices.Sorted(maps.Keys(steps))
	warm := 0
	for _, i := range l.indices {
		if steps[i].WarmUp {
			warm++
		}
		l.rows = append(l.rows, newRow(steps[i], warm))
	}

	// Steps that send different requests are labeled with the request.
	for _, i := range oneRequestSteps(l) {
		l.rows[i].Label = safe.Line(l.rows[i].step.Request, 16)
	}

	l.all = a.Ordered()
	for n, of := range l.all {
		who := contender{Index: n, Label: cleanName(of.Label), About: about(of), of: of}
		l.contenders = append(l.contenders, who)
		for i := range of.Results {
			trial := &of.Results[i]
			c := column{Contender: n, Label: who.Label, Round: trial.Trial.Round, trial: trial,
				steps: make([]*bench.StepResult, len(l.rows))}
			for j := range trial.Steps {
				c.steps[l.row(trial.Steps[j].Index)] = &trial.Steps[j]
			}
			l.columns = append(l.columns, c)
		}
	}
	return l
}

// row returns the row of the step with an index.
func (l layout) row(index int) int {
	row, _ := slices.BinarySearch(l.indices, index)
	return row
}

func newRow(s bench.Step, warm int) row {
	r := row{WarmUp: s.WarmUp, step: s}
	s.WarmUp = false
	r.Label, r.Title = safe.Line(s.Short(), 16), cleanName(s.Words())
	if r.WarmUp {
		r.Label = "w" + strconv.Itoa(warm)
		r.Title = "warm-up " + strconv.Itoa(warm) + ", " + r.Title
	}
	return r
}

// load returns how much load a step has, and what it is given in.
func (r row) load() (at float64, kind string) {
	switch s := r.step; {
	case s.Connections > 0:
		return float64(s.Connections), "connections"
	case s.Rate > 0:
		return s.Rate, "scheduled requests/s"
	case s.Arrivals != nil:
		return float64(s.Arrivals.Users), "users"
	}
	return 0, "steps"
}

// axis returns the name of the axis of all steps.
func (l layout) axis() string {
	if oneRequestSteps(l) != nil {
		return "request"
	}
	name := "steps"
	for i, r := range l.rows {
		_, kind := r.load()
		if i > 0 && kind != name {
			return "steps"
		}
		name = kind
	}
	return name
}

func about(c analysis.Contender) string {
	s := c.Results[0].Service
	join := func(a, separator, b string) string { return a + when(a != "" && b != "", separator) + b }
	made := join(join(s.Language, " ", s.LanguageVersion), ", ", join(s.Framework, " ", s.Version))
	return cleanName(join(c.Under(), "; ", made))
}

// places returns where the steps are on an axis: at their connections, rates or users if these grow
// from one measured step to the next, else side by side.
func (l layout) places() (at []float64, grow bool) {
	at, grow = make([]float64, len(l.rows)), true
	before := ""
	for i, r := range l.rows {
		var kind string
		if at[i], kind = r.load(); r.WarmUp {
			continue
		}
		grow = grow && at[i] > 0 && finite(at[i]) && (before == "" || at[i] > at[i-1] && kind == before)
		before = kind
	}
	if grow {
		return at, true
	}
	for i := range at {
		at[i] = float64(i)
	}
	return at, false
}

// ticks returns the labels of the measured steps at their places.
func (l layout) ticks(at []float64) (all []mark) {
	for i, r := range l.rows {
		if !r.WarmUp {
			all = append(all, mark{Text: r.Label, At: number(at[i])})
		}
	}
	return all
}

// oneRequestSteps returns the rows of measured steps that each send one request of the mix; nil if
// they do not send at least two different ones.
func oneRequestSteps(l layout) (steps []int) {
	names := map[string]bool{}
	for i, r := range l.rows {
		if r.step.Request != "" && !r.WarmUp {
			steps = append(steps, i)
			names[r.step.Request] = true
		}
	}
	if len(names) < 2 {
		return nil
	}
	return steps
}
