package tui

import (
	"strings"

	bubbles "charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// help is the page of all keys, over another page.
type help struct {
	title string
	keys  ui.Keys
	text  ui.Scroll
}

// newHelp adds the keys that work everywhere.
func newHelp(title string, keys ui.Keys) *help {
	everywhere := ui.Group{Title: "everywhere", Keys: []key.Binding{
		ui.Hint("these keys", ui.Help), ui.Hint("", ui.Interrupt), ui.Hint("", ui.Suspend), ui.Hint("", ui.Redraw),
	}}
	keys.Groups = append(keys.Groups[:len(keys.Groups):len(keys.Groups)], everywhere)
	return &help{title: title, keys: keys, text: ui.NewScroll()}
}

// helped scrolls the help, or closes it.
func (a *App) helped(msg tea.KeyPressMsg) {
	if !a.help.text.Update(msg) {
		a.help = nil
	}
}

// view draws the help in a box within a page.
func (p *help) view(t *ui.Theme, size ui.Size) []string {
	columns, margin := min(int(size.Class)+1, len(p.keys.Groups)), 4
	if size.Class == ui.Column {
		margin = 0
	}
	w := size.Width - 2*margin - 4
	lines := p.lines(t, w, columns)
	p.text.SetContentLines(lines)
	shown := strings.Split(p.text.Draw(t, w, min(len(lines), max(1, size.Height-3))), "\n")
	word := "any key closes"
	if p.text.Where() != "" {
		word = "other keys close"
	}
	return t.Box("keys: "+p.title, append(shown, t.Faint.S(fit.Cut(word, w))), size.Width-2*margin)
}

// lines lays the groups out in columns, each group in the shortest column so far.
func (p *help) lines(t *ui.Theme, w, columns int) []string {
	wide := (w - 2*(columns-1)) / columns
	stacks := make([][]string, columns)
	for _, g := range p.keys.Groups {
		at := 0
		for i := range stacks {
			if len(stacks[i]) < len(stacks[at]) {
				at = i
			}
		}
		if len(stacks[at]) > 0 {
			stacks[at] = append(stacks[at], "")
		}
		stacks[at] = append(stacks[at], t.Title.S(strings.ToUpper(g.Title)))
		stacks[at] = append(stacks[at], group(t, g.Keys, wide)...)
	}
	var parts []string
	high := 0
	for _, s := range stacks {
		high = max(high, len(s))
	}
	for i, s := range stacks {
		if i > 0 {
			parts = append(parts, "  ")
		}
		parts = append(parts, strings.Join(ui.Exact(s, wide, high), "\n"))
	}
	lines := strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, parts...), "\n")
	for _, note := range p.keys.Legend {
		lines = append(append(lines, ""), ui.Wrap(note, w)...)
	}
	return lines
}

// group draws keys with bubbles' help, which cuts what is too wide: longer words continue as a key
// without a name.
func group(t *ui.Theme, keys []key.Binding, w int) []string {
	names := 0
	for _, b := range keys {
		names = max(names, fit.Width(b.Help().Key))
	}
	var all []key.Binding
	for _, b := range keys {
		name := b.Help().Key
		for _, words := range ui.Wrap(b.Help().Desc, max(8, w-names-2)) {
			all = append(all, key.NewBinding(key.WithKeys(b.Keys()...), key.WithHelp(name, " "+words)))
			name = ""
		}
	}
	m := bubbles.New()
	m.Styles = bubbles.Styles{FullKey: t.KeyStyle, FullDesc: lipgloss.NewStyle()}
	return strings.Split(m.FullHelpView([][]key.Binding{all}), "\n")
}
