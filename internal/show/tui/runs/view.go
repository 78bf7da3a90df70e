package runs

import (
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// View implements ui.Page.
func (r *Runs) View() string {
	w, h := r.size.Width, r.size.Height-1
	if len(r.list.shown) == 0 {
		return r.title() + "\n\n" + strings.Join(ui.Wrap(r.nothing(), w), "\n")
	}
	runs, between := 4, ui.Block{}
	if r.size.Class == ui.Full {
		runs, between = 5, ui.Text(5, "")
	}
	list, preview := r.grid.Block(r.theme, 1, runs), r.preview(w)
	if list.Least+preview.Least <= h { // then it is whole before there are more runs
		list.Most = max(list.Least, min(list.Most, h-preview.Most-between.Least))
	}
	var marked ui.Block
	if e := r.list.find(r.list.marked); e != nil {
		marked = ui.Text(4, fit.Cut(fmt.Sprintf(" ◉ marked: %s %s. c compares it with the run under the cursor.",
			strings.TrimSpace(when(e)), nameOf(e)), w))
	}
	view := ui.Stack(w, h, list, between, preview, marked)
	return r.title() + "\n" + view // the title has the rows that were drawn
}

func (r *Runs) title() string {
	w, roots := r.size.Width, outside(r.options.Roots)
	left, right := " "+r.theme.Title.S("past runs"), " /: no filter "
	switch from, to, n := r.grid.Range(); {
	case !r.listed:
	case to < n || from > 1:
		left += fmt.Sprintf("   %d to %d of %d", from, to, n)
	default:
		left += fmt.Sprintf("   %d", n)
	}
	if r.list.left > 0 {
		left += fmt.Sprintf(", %s more not listed", units.Count(int64(r.list.left)))
	}
	if r.size.Class != ui.Column && roots != "" {
		left += " in " + ui.Words(roots, w/4)
	}
	if words := r.filter.View(w / 4); r.Typing() {
		right = " " + r.theme.Key.S("/") + words + " "
		left = fit.Cut(left, max(0, w-fit.Width(right)))
	} else if words != "" {
		right = " /: " + words + " "
	}
	if fit.Width(left)+fit.Width(right) > w {
		right = ""
	}
	return ui.Ends(left, right, w)
}

// nothing says why there is no run.
func (r *Runs) nothing() string {
	switch roots := outside(r.options.Roots); {
	case !r.listed:
		return " looking for runs in " + roots + " …"
	case len(r.list.entries) > 0:
		return " No match; esc clears the filter."
	default:
		return " No runs in " + roots + " yet. Runs write their results there; 'locbench tui DIR' looks in another folder."
	}
}
