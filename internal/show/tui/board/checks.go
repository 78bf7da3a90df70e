package board

import (
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) checksPage(w, h int) []string {
	if v.trial == nil {
		return []string{v.l.Title.S("checks"), "no contender started yet"}
	}
	all := v.trial.Result.Checks
	title := v.titleOf("checks") + ": " + v.outcomes(", 0 failed")
	if v.b.failed {
		title += v.l.Accent.S("  failed only")
	}
	sorted := v.sorted(all)
	p := &v.b.pages[checks]
	body := p.show(len(sorted), h-1, false, func(i int) []string {
		return v.check(sorted[i], i == 0 || groupOf(sorted[i-1]) != groupOf(sorted[i]), w)
	})
	switch {
	case len(all) == 0:
		body = []string{v.l.Faint.S("no checks run yet")}
	case len(sorted) == 0:
		body = []string{v.l.Good.S(v.l.Glyph.Check + " none failed")}
	}
	return append([]string{v.justify(w, title, v.position(p, len(sorted)), "")}, body...)
}

func (v *view) titleOf(page string) string {
	r := v.trial.Result.Trial
	return v.l.Title.S(page) + "  " + v.out(r.Label(), nameBytes) + ", round " + itoa(r.Round)
}

// outcomes counts the checks of the trial; none is the text for no failed ones.
func (v *view) outcomes(none string) string {
	passed, failed, skipped := v.trial.Checks()
	text := units.Count(int64(passed)) + " passed"
	if failed > 0 {
		none = ", " + v.l.Bad.S(v.l.Glyph.Cross+" "+itoa(failed)+" failed")
	}
	if text += none; skipped > 0 {
		text += ", " + itoa(skipped) + " skipped"
	}
	return text
}

// groupOf returns the heading of a check.
func groupOf(c *bench.CheckResult) string {
	if c.Status == bench.CheckFailed {
		return "failed"
	}
	return c.Group
}

func (v *view) sorted(all []bench.CheckResult) []*bench.CheckResult {
	var out []*bench.CheckResult
	first := map[string]int{}
	for i := range all {
		if _, seen := first[all[i].Group]; !seen {
			first[all[i].Group] = i + 1
		}
		if !v.b.failed || all[i].Status == bench.CheckFailed {
			out = append(out, &all[i])
		}
	}
	rank := func(c *bench.CheckResult) int {
		if c.Status == bench.CheckFailed {
			return 0
		}
		return first[c.Group]
	}
	slices.SortStableFunc(out, func(a, b *bench.CheckResult) int { return rank(a) - rank(b) })
	return out
}

func (v *view) check(c *bench.CheckResult, heading bool, w int) []string {
	var out []string
	if heading {
		out = append(out, v.l.Strong.S(v.out(groupOf(c), nameBytes)))
	}
	mark, paint := v.l.Glyph.Check, v.l.Good
	switch c.Status {
	case bench.CheckFailed:
		mark, paint = v.l.Glyph.Cross, v.l.Bad
	case bench.CheckSkipped:
		mark, paint = v.l.Glyph.Skip, v.l.Faint
	case bench.CheckInfo:
		mark, paint = v.l.Glyph.Dot, ui.Paint{}
	}
	name := v.out(c.Name, 120)
	if c.Status == bench.CheckFailed {
		name = v.out(c.Group, nameBytes) + ": " + name
	}
	right := v.out(c.Value, 80)
	if c.Took > 0 && w >= 70 {
		right += "  " + v.l.Faint.S(v.l.Right(v.duration(c.Took), 8))
	}
	out = append(out, v.justify(w, " "+paint.S(v.l.Fit(mark, 2))+" "+name, right, ""))
	if c.Status == bench.CheckFailed || c.Status == bench.CheckSkipped {
		for _, text := range []string{c.Request, c.Detail} {
			for _, line := range v.l.Wrap(v.out(text, textBytes), max(10, w-6), 4) {
				if line != "" {
					out = append(out, "      "+v.l.Faint.S(line))
				}
			}
		}
	}
	return out
}
