package report

import (
	"maps"
	"math"
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

// Rounds returns the number of the contender's columns.
func (c contender) Rounds() int { return len(c.of.Results) }

// Color returns the class of the contender's color in style.css.
func (c contender) Color() int { return c.Index % colors }

// colors is the number of colors in style.css. Further contenders repeat them with other dashes.
const colors = table.Colors

type column struct {
	Contender int
	Label     string
	Round     int
	trial     *bench.TrialResult
	steps     []*bench.StepResult // by row; nil where the step was not run
}

// Color returns the class of the contender's color in style.css.
func (c column) Color() int { return c.Contender % colors }

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
	var l layout
	steps := map[int]bench.Step{}
	for _, trial := range a.Trials {
		for _, s := range trial.Steps {
			steps[s.Index] = s.Step
		}
	}
	for i, s := range a.Run.Profile.Steps {
		steps[i] = s
	}
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

	for n, of := range a.Ordered() {
		who := contender{Index: n, Label: cleanName(of.Label), About: about(of), of: of}
		l.contenders = append(l.contenders, who)
		for i := range of.Results {
			trial := &of.Results[i]
			c := column{Contender: n, Label: who.Label, Round: trial.Trial.Round, trial: trial,
				steps: make([]*bench.StepResult, len(l.rows))}
			for j := range trial.Steps {
				row, _ := slices.BinarySearch(l.indices, trial.Steps[j].Index)
				c.steps[row] = &trial.Steps[j]
			}
			l.columns = append(l.columns, c)
		}
	}
	return l
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

func (l layout) axis() string {
	if oneRequestSteps(l) != nil {
		return "request"
	}
	names := map[string]bool{}
	for _, r := range l.rows {
		switch {
		case r.step.Connections > 0:
			names["connections"] = true
		case r.step.Rate > 0:
			names["scheduled requests/s"] = true
		case r.step.Arrivals != nil:
			names["users"] = true
		default:
			names["steps"] = true
		}
	}
	for name := range names {
		if len(names) == 1 {
			return name
		}
	}
	return "steps"
}

// warmUp returns the number of warm-up rows before the first measured one.
func (l layout) warmUp() int {
	if n := slices.IndexFunc(l.rows, func(r row) bool { return !r.WarmUp }); n >= 0 {
		return n
	}
	return len(l.rows)
}

func about(c analysis.Contender) string {
	s := c.Results[0].Service
	join := func(a, separator, b string) string { return a + when(a != "" && b != "", separator) + b }
	made := join(join(s.Language, " ", s.LanguageVersion), ", ", join(s.Framework, " ", s.Version))
	return cleanName(join(c.Under(), "; ", made))
}

// positions returns the places of the rows on a logarithmic axis of connections, rates or users.
// The warm-up steps come before them, evenly spaced. It returns nil if the measured steps are not
// of one kind or do not grow: then the rows are evenly spaced.
func (l layout) positions() []float64 {
	w := l.warmUp()
	if len(l.rows)-w < 2 {
		return nil
	}
	at := make([]float64, len(l.rows))
	for i := w; i < len(at); i++ {
		s := l.rows[i].step
		switch first := l.rows[w].step; {
		case l.rows[i].WarmUp:
			return nil
		case first.Connections > 0:
			at[i] = float64(s.Connections)
		case first.Rate > 0:
			at[i] = s.Rate
		case first.Arrivals != nil && s.Arrivals != nil:
			at[i] = float64(s.Arrivals.Users)
		}
		if !finite(at[i]) || at[i] <= 0 || i > w && at[i] <= at[i-1] {
			return nil
		}
	}
	// The warm-up steps have the average spacing of the others, at most that of 2 and 4.
	gap := math.Min(2, math.Pow(at[len(at)-1]/at[w], 1/float64(len(at)-w-1)))
	for i := w - 1; i >= 0; i-- {
		at[i] = at[i+1] / gap
	}
	return at
}
