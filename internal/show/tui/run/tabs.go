package run

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/text/fit"
)

// heads is where the names of the tabs are, for clicks.
type heads struct {
	line int
	ends []int // cells; one after the last of each
}

// tabLine is the row of tabs: their names with counts, without, or only the name of the one in sight.
func (r *Run) tabLine(w int) (line string) {
	for level := range 3 {
		x := 0
		line, r.heads.ends = "", r.heads.ends[:0]
		for i, tab := range r.tabs {
			name := strconv.Itoa(i + 1)
			if level < 2 || i == r.at {
				name += " " + tab.Title()
			}
			if count := r.count(i); level == 0 && count != "" {
				name += " " + count
			}
			name = " " + name + " "
			paint := r.theme.Text
			if i == r.at {
				name, paint = r.theme.Glyph.Cursor+name[1:], r.theme.Select
			}
			x += fit.Width(name)
			line, r.heads.ends = line+paint.S(name), append(r.heads.ends, x)
		}
		if x <= w {
			break
		}
	}
	return fit.Cut(line, w)
}

// count is what is next to the name of a tab.
func (r *Run) count(tab int) string {
	s, trial, g := &r.state, r.trial(), r.theme.Glyph
	switch tab {
	case 1:
		if trial == nil || len(trial.Steps) == 0 {
			return ""
		}
		if n := len(s.Run.Profile.Steps); n > 0 && s.Run.Search == "" {
			return fmt.Sprintf("%d/%d", len(trial.Steps), n)
		}
		return strconv.Itoa(len(trial.Steps))
	case 2:
		if n := len(s.Run.Profile.Contenders); n > 0 {
			return strconv.Itoa(n)
		}
	case 3:
		passed, failed := 0, 0
		for _, t := range s.Trials {
			p, f, _ := t.Checks()
			passed, failed = passed+p, failed+f
		}
		switch {
		case failed > 0:
			return r.theme.Glyph.Cross + units.Count(int64(failed))
		case passed > 0:
			return g.Check + units.Count(int64(passed))
		}
	case 4:
		text := ""
		if s.Errors > 0 {
			text = g.Cross + units.Count(int64(s.Errors)) + " "
		}
		if s.Warnings > 0 {
			text += "!" + units.Count(int64(s.Warnings))
		}
		return text
	}
	return ""
}

// click goes to the tab under the mouse; false: there is none.
func (r *Run) click(x, y int) bool {
	if y != r.heads.line || r.size.Height < leastTabs {
		return false
	}
	i := slices.IndexFunc(r.heads.ends, func(end int) bool { return x < end })
	if i >= 0 {
		r.at = i
	}
	return i >= 0
}

// trial returns the trial that is shown: the chosen one, else the running one.
func (r *Run) trial() *fold.Trial {
	if r.shown != nil {
		if t := r.state.Trial(*r.shown); t != nil {
			return t
		}
	}
	return r.state.Current
}

func begun(t *fold.Trial) bool {
	return t.Result.State != bench.TrialPending && t.Result.State != ""
}

// choose shows the next trial that has begun, or the one before.
func (r *Run) choose(by int) {
	all := r.state.Trials
	at := slices.Index(all, r.trial())
	for i := at + by; at >= 0 && i >= 0 && i < len(all); i += by {
		if begun(all[i]) {
			r.shown = nil
			if all[i] != r.state.Current {
				r.shown = new(all[i].Result.Trial)
			}
			return
		}
	}
}
