package run

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

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
