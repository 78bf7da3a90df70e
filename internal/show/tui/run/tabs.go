package run

import (
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
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

func (r *Run) key(msg tea.KeyPressMsg) tea.Cmd {
	tab := r.tabs[r.at]
	switch k := ui.KeyOf(msg); k {
	case ui.Digits:
		r.at = min(ui.DigitOf(msg), len(r.tabs)) - 1
	case ui.NextTab:
		r.at = (r.at + 1) % len(r.tabs)
	case ui.PrevTab:
		r.at = (r.at + len(r.tabs) - 1) % len(r.tabs)
	case ui.TrialBefore, ui.TrialAfter:
		r.choose(map[ui.Key]int{ui.TrialBefore: -1, ui.TrialAfter: 1}[k])
		return r.tell()
	case ui.Current:
		r.shown = nil
		return r.tell()
	case ui.Esc:
		return r.escape(tab)
	case ui.Leave:
		return questions{r}.leave()
	case ui.Copy:
		return r.copyCommand()
	case ui.Pause, ui.Stop, ui.Detach:
		if r.steers() {
			return r.steer(k)
		}
	case ui.Report:
		return r.report()
	default:
		if result, ok := tab.(*Result); ok && result.end != nil && !result.text.Update(msg) {
			return r.way(k)
		} else if !ok || result.end == nil {
			return tab.Update(msg)
		}
	}
	return nil
}

// escape closes what is open in the tab, the charts over time after the end, or the page.
func (r *Run) escape(tab page) tea.Cmd {
	if tab.Escape() {
		return nil
	}
	if r.onCharts() {
		r.at = 0
		return nil
	}
	return questions{r}.leave()
}

// Keys implements ui.Page.
func (r *Run) Keys() ui.Keys {
	const most = 6
	r.refresh()
	keys := r.tabs[r.at].Keys()
	var here []key.Binding
	if r.steers() {
		pause := "pause"
		if r.pausing() {
			pause = "resume"
		}
		here = []key.Binding{ui.Hint(pause, ui.Pause), ui.Hint("", ui.Stop)}
		if r.at == 0 {
			keys.Short = append(here, keys.Short...)
		} else {
			keys.Short = append(keys.Short, here...)
		}
		here = append(here, ui.Hint("", ui.Detach))
	}
	if !r.onResult() {
		here = append(here, ui.Hint("report so far", ui.Report))
	}
	if r.onCharts() {
		keys.Short = append(keys.Short, ui.Hint("result", ui.Esc))
	}
	here = append(here, ui.Hint("", ui.Copy), ui.Hint("trial before, after", ui.TrialBefore, ui.TrialAfter), ui.Hint("", ui.Current),
		ui.Hint("page", ui.Digits), ui.Hint("next page", ui.NextTab, ui.PrevTab), ui.Hint("", ui.Esc), ui.Hint("", ui.Leave))
	keys.Groups = append(keys.Groups, ui.Group{Title: "this run", Keys: here})
	if len(keys.Short) < most {
		keys.Short = append(keys.Short, ui.Hint("next", ui.NextTab))
	}
	keys.Short = keys.Short[:min(len(keys.Short), most)]
	return keys
}
