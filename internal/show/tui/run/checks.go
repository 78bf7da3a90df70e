package run

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Checks is the outcome of each check, the failures first. Of several rounds, the worst counts.
type Checks struct {
	tab
	only int // 1: failed checks only
	head string
	text ui.Scroll
	made madeOf // what head and text were made of
}

// checked is a check, with its outcome for each contender. Texts are from outside.
type checked struct {
	group, name string
	of          []*outcome // in the order of the profile
	failed      int        // 1: for one of them at least
}

// outcome is the worst result of a contender over its rounds.
type outcome struct {
	bench.CheckResult
	contender string
	rounds    []string // in which it failed
	runs      int
}

// newChecks makes the tab.
func newChecks() page { return &Checks{tab: newTab("Checks"), text: ui.NewScroll()} }

// Update implements ui.Page.
func (c *Checks) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		c.StateMsg = msg
		return nil
	}
	press, _ := msg.(tea.KeyPressMsg)
	if ui.KeyOf(press) == ui.View {
		c.only = 1 - c.only
		c.text.GotoTop()
	}
	c.text.Update(msg)
	return nil
}

// count implements page.
func (c *Checks) count(t *ui.Theme) string {
	passed, failed := 0, 0
	for _, trial := range c.State.Trials {
		p, f, _ := trial.Checks()
		passed, failed = passed+p, failed+f
	}
	switch {
	case failed > 0:
		return t.Glyph.Cross + units.Count(int64(failed))
	case passed > 0:
		return t.Glyph.Check + units.Count(int64(passed))
	}
	return ""
}

// checksIn returns the checks of a run: groups with a failure first, and in each the failed checks.
func checksIn(s *fold.State) (all []*checked) {
	at, groups, failed := map[[2]string]*checked{}, map[string]int{}, map[string]int{}
	for _, trial := range s.Trials {
		for _, r := range trial.Result.Checks {
			c := at[[2]string{r.Group, r.Name}]
			if c == nil {
				c = &checked{group: r.Group, name: r.Name}
				at[[2]string{r.Group, r.Name}], all = c, append(all, c)
			}
			if _, known := groups[r.Group]; !known {
				groups[r.Group] = len(groups)
			}
			c.add(trial.Result.Trial, r)
			failed[r.Group] = max(failed[r.Group], c.failed)
		}
	}
	place := func(o *outcome) int { return ui.MarkOf(s.Run, o.contender, len(s.Run.Profile.Contenders)) }
	for _, c := range all {
		slices.SortStableFunc(c.of, func(a, b *outcome) int { return place(a) - place(b) })
	}
	slices.SortStableFunc(all, func(a, b *checked) int {
		return cmp.Or(failed[b.group]-failed[a.group], groups[a.group]-groups[b.group], b.failed-a.failed)
	})
	return all
}

// add adds the result of a trial.
func (c *checked) add(trial bench.Trial, r bench.CheckResult) {
	i := slices.IndexFunc(c.of, func(o *outcome) bool { return o.contender == trial.Label() })
	if i < 0 {
		i, c.of = len(c.of), append(c.of, &outcome{contender: trial.Label()})
	}
	o, failed := c.of[i], r.Status == bench.CheckFailed
	o.runs++
	if failed || len(o.rounds) == 0 {
		o.CheckResult = r
	}
	if failed {
		c.failed, o.rounds = 1, append(o.rounds, strconv.Itoa(trial.Round))
	}
}

// text is the outcome in words, with how long it took.
func (o *outcome) text() string {
	text := string(o.Status)
	for _, part := range []string{said(o.Value), said(o.Detail)} {
		if part != "" {
			text += ": " + part
		}
	}
	if o.Took > 0 {
		text += ", after " + units.Duration(o.Took)
	}
	if len(o.rounds) > 0 && o.runs > 1 {
		text += fmt.Sprintf(" (in %d of %d rounds: %s)", len(o.rounds), o.runs, strings.Join(o.rounds, ", "))
	}
	return text
}

// fill makes the text again if what it is made of has changed.
func (c *Checks) fill() {
	of := madeOf{c.State, c.State.Version, c.only, c.theme, c.size}
	if of == c.made {
		return
	}
	c.made = of
	var lines []string
	group, count, failures := "", map[bench.CheckStatus]int64{}, problems(c.State)
	for _, check := range checksIn(c.State) {
		for _, o := range check.of {
			count[o.Status]++
		}
		if check.failed < c.only {
			continue
		}
		if len(lines) == 0 || group != check.group {
			group = check.group
			lines = append(lines, " "+c.theme.Title.S(said(group)))
		}
		lines = append(lines, c.lines(check, failures)...)
	}
	switch {
	case len(lines) > 0:
	case c.only > 0:
		lines = []string{" ✓ no check failed"}
	default:
		lines = []string{" no checks run yet"}
	}
	c.text.SetContentLines(lines)
	c.head = fmt.Sprintf(" %s  %d passed, %d failed, %d skipped", c.theme.Title.S("checks"),
		count[bench.CheckPassed]+count[bench.CheckInfo], count[bench.CheckFailed], count[bench.CheckSkipped])
}

// lines is a check in a line; if it failed, or its outcomes differ, with what each contender gave, and
// with what a failure means and what to do.
func (c *Checks) lines(check *checked, failures []problem) []string {
	t, worst, differ, request := c.theme, check.of[0], false, check.of[0].Request
	var rows []ui.Row
	for _, o := range check.of {
		if len(o.rounds) > 0 && len(worst.rounds) == 0 {
			worst = o
		}
		differ = differ || o.Status != check.of[0].Status || o.Value != check.of[0].Value
		if o.Request != request { // one for each contender: the outcome names it
			request = ""
		}
		rows = append(rows, ui.Row{Name: said(o.contender), Text: o.text()})
	}
	sign := map[bench.CheckStatus]string{bench.CheckFailed: t.Bad.S(t.Glyph.Cross), bench.CheckSkipped: t.Faint.S(t.Glyph.Skip),
		bench.CheckInfo: t.Faint.S(t.Glyph.Dot), bench.CheckPassed: t.Good.S(t.Glyph.Check)}[worst.Status]
	head, name := "   "+sign+" ", said(check.name)
	if check.failed == 0 && !differ {
		if worst.Value != "" {
			name += ": " + said(worst.Value)
		}
		return ui.Hang(head, name, c.size.Width, ui.Paint{})
	}
	if check.failed > 0 {
		if request != "" {
			rows = slices.Insert(rows, 0, ui.Row{Name: "request", Text: said(request)})
		}
		effect := "excluded from the comparison; --accept-failed-checks compares anyway"
		if c.State.Run.AcceptFailedChecks {
			effect = "compared anyway: --accept-failed-checks"
		}
		rows = append(rows, ui.Row{Name: "effect", Text: effect})
		if i := slices.IndexFunc(failures, func(p problem) bool { return p.contender == said(worst.contender) }); i >= 0 {
			rows = append(rows, ui.Row{Name: "remedy", Text: failures[i].remedy}) // none if failed checks are accepted
		}
	}
	lines := ui.Hang(head, name, c.size.Width, t.Strong)
	for _, line := range t.Rows(rows, max(4, c.size.Width-3)) {
		lines = append(lines, "   "+line)
	}
	return lines
}

// View implements ui.Page.
func (c *Checks) View() string {
	c.fill()
	right := ""
	if c.only > 0 {
		right = "failed only"
	}
	draw := func(w, h int) string { return c.text.Draw(c.theme, w, h) }
	return c.stack(ui.Text(1, c.theme.Rule(c.head, right, c.size.Width)), ui.Block{Priority: 2, Least: 3, Most: ui.Rest, Draw: draw})
}

// Keys implements ui.Page.
func (c *Checks) Keys() ui.Keys {
	short := []key.Binding{ui.Hint("scroll", ui.Up, ui.Down), ui.Hint([]string{"failed", "all"}[c.only], ui.View)}
	all := append(slices.Clone(short), ui.Hint("a page", ui.PageUp, ui.PageDown), ui.Hint("first, last line", ui.First, ui.Last))
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "checks", Keys: all}}, Legend: []string{
		"✓ passed   ✗ failed   ○ skipped   · information",
	}}
}
