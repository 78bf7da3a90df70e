package run

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// page is a tab.
type page interface {
	ui.Page
	Escape() bool           // closes what is open in it; false: there was nothing
	count(*ui.Theme) string // next to its name
}

// tab is what tabs have in common.
type tab struct {
	StateMsg
	name  string
	full  bool // what is selected fills the page
	size  ui.Size
	theme *ui.Theme
}

func newTab(name string) tab { return tab{name: name, StateMsg: StateMsg{State: &fold.State{}}} }

// Init implements ui.Page.
func (t *tab) Init() tea.Cmd { return nil }

// SetSize implements ui.Page.
func (t *tab) SetSize(size ui.Size, theme *ui.Theme) { t.size, t.theme = size, theme }

// Typing implements ui.Page.
func (t *tab) Typing() bool { return false }

// Title implements ui.Page.
func (t *tab) Title() string { return t.name }

// Escape closes the full page.
func (t *tab) Escape() bool {
	was := t.full
	t.full = false
	return was
}

func (*tab) count(*ui.Theme) string { return "" }

// stack draws blocks on the whole page.
func (t *tab) stack(blocks ...ui.Block) string {
	return ui.Stack(t.size.Width, t.size.Height, blocks...)
}

// madeOf is what the lines of a tab are made of: they are made again when it changes.
type madeOf struct {
	state   *fold.State
	version uint64
	view    int
	theme   *ui.Theme
	size    ui.Size
}

// tabLine is the row of tabs: their names with counts, without, or only the name of the one in sight.
func (r *Run) tabLine(w int) (line string) {
	for level := range 3 {
		x := 0
		line = ""
		for i, tab := range r.tabs {
			name := strconv.Itoa(i + 1)
			if level < 2 || i == r.at {
				name += " " + tab.Title()
			}
			if count := tab.count(r.theme); level == 0 && count != "" {
				name += " " + count
			}
			name = " " + name + " "
			paint := r.theme.Text
			if i == r.at {
				name, paint = r.theme.Glyph.Cursor+name[1:], r.theme.Select
			}
			x += fit.Width(name)
			line += paint.S(name)
		}
		if x <= w {
			break
		}
	}
	return fit.Cut(line, w)
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
