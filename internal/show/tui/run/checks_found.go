package run

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// checksFound is the checks of a run. Texts are from outside.
type checksFound struct {
	contenders []string // labels, in the order of the profile
	groups     []*checksGroup
	count      checksCount
}

// checksGroup is the checks of a group, the failed first.
type checksGroup struct {
	name  string
	items []*checksItem
	by    map[int]*checksCount // by contender
	count checksCount
}

// checksItem is a check.
type checksItem struct {
	name  string
	by    map[int]*checksOutcome // by contender
	count checksCount            // of contenders
}

// checksOutcome is the worst result of a contender over its rounds.
type checksOutcome struct {
	bench.CheckResult
	rounds []string // in which it failed
	of     int
}

// checksCount counts outcomes.
type checksCount struct{ failed, passed, skipped int }

func (n *checksCount) add(status bench.CheckStatus) {
	switch status {
	case bench.CheckFailed:
		n.failed++
	case bench.CheckSkipped:
		n.skipped++
	default:
		n.passed++
	}
}

// text returns the counts that are not 0.
func (n *checksCount) text(t *ui.Theme) string {
	var all []string
	add := func(sign string, n int) {
		if n > 0 {
			all = append(all, sign+" "+units.Count(int64(n)))
		}
	}
	add(t.Bad.S(t.Glyph.Cross), n.failed)
	add(t.Good.S(t.Glyph.Check), n.passed)
	add(t.Faint.S(t.Glyph.Skip), n.skipped)
	return strings.Join(all, "  ")
}

// checksIn finds the checks in a run: groups with a failure first, and in each the failed checks.
func checksIn(s *fold.State) (f checksFound) {
	for _, trial := range s.Trials {
		if label := trial.Result.Trial.Label(); !slices.Contains(f.contenders, label) {
			f.contenders = append(f.contenders, label)
		}
	}
	place := func(label string) int { return ui.MarkOf(s.Run, label, len(s.Run.Profile.Contenders)) }
	slices.SortStableFunc(f.contenders, func(a, b string) int { return place(a) - place(b) })
	number, groups, items := map[string]int{}, map[string]*checksGroup{}, map[[2]string]*checksItem{}
	for i, label := range f.contenders {
		number[label] = i
	}
	for _, trial := range s.Trials {
		for _, c := range trial.Result.Checks {
			g, i := groups[c.Group], items[[2]string{c.Group, c.Name}]
			if g == nil {
				g = &checksGroup{name: c.Group, by: map[int]*checksCount{}}
				groups[c.Group], f.groups = g, append(f.groups, g)
			}
			if i == nil {
				i = &checksItem{name: c.Name, by: map[int]*checksOutcome{}}
				items[[2]string{c.Group, c.Name}], g.items = i, append(g.items, i)
			}
			i.add(number[trial.Result.Trial.Label()], c, trial.Result.Trial.Round)
		}
	}
	for _, g := range f.groups {
		for _, i := range g.items {
			for n, o := range i.by {
				if g.by[n] == nil {
					g.by[n] = &checksCount{}
				}
				for _, count := range []*checksCount{&i.count, g.by[n], &g.count, &f.count} {
					count.add(o.Status)
				}
			}
		}
		slices.SortStableFunc(g.items, func(a, b *checksItem) int { return cmp.Compare(min(1, b.count.failed), min(1, a.count.failed)) })
	}
	slices.SortStableFunc(f.groups, func(a, b *checksGroup) int { return cmp.Compare(min(1, b.count.failed), min(1, a.count.failed)) })
	return f
}

// add adds a result of contender n.
func (i *checksItem) add(n int, c bench.CheckResult, round int) {
	o := i.by[n]
	if o == nil {
		o = &checksOutcome{}
		i.by[n] = o
	}
	o.of++
	failed := c.Status == bench.CheckFailed
	if failed || len(o.rounds) == 0 {
		o.CheckResult = c
	}
	if failed {
		o.rounds = append(o.rounds, strconv.Itoa(round))
	}
}

// differs reports whether contenders have different outcomes or values.
func (i *checksItem) differs() bool {
	var other *checksOutcome
	for _, o := range i.by {
		if other != nil && (o.Status != other.Status || o.Value != other.Value) {
			return true
		}
		other = o
	}
	return false
}

// text is the outcome in words, with how long it took.
func (o *checksOutcome) text() string {
	text := string(o.Status)
	for _, part := range []string{said(o.Value), said(o.Detail)} {
		if part != "" {
			text += ": " + part
		}
	}
	if o.Took > 0 {
		text += ", after " + units.Duration(o.Took)
	}
	if len(o.rounds) > 0 && o.of > 1 {
		text += fmt.Sprintf(" (in %d of %d rounds: %s)", len(o.rounds), o.of, strings.Join(o.rounds, ", "))
	}
	return text
}
