package setup

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// picker is the list of all contenders and their variants that match the filter.
type picker struct {
	setup     *Setup
	grid      *ui.Grid
	filter    textinput.Model
	filtering bool
	rows      []contenderRow
	before    []bench.Selection // selection when the list was opened
}

// contenderRow is a contender in one variant. Without an error it is resolved.
type contenderRow struct {
	sel bench.Selection
	svc bench.Service
	err error
}

// newPicker opens the list, at the first selected row.
func newPicker(s *Setup) *picker {
	p := &picker{setup: s, grid: ui.NewGrid(false), filter: ui.NewInput(100), before: s.form.choice.Contenders}
	p.list()
	p.grid.Select(slices.IndexFunc(p.rows, func(r contenderRow) bool { return s.form.chosen(r.sel) }))
	return p
}

func (p *picker) title() string { return "contenders" }
func (p *picker) typing() bool  { return p.filtering }

func (p *picker) keys() ui.Keys {
	if p.filtering {
		return ui.Keys{Short: []key.Binding{ui.Hint("keep", ui.Enter), ui.Hint("clear", ui.Esc)}}
	}
	all := []key.Binding{
		ui.Hint("select", ui.Space), ui.Hint("done", ui.Enter), ui.Hint("", ui.Filter),
		ui.Hint("all of these", ui.View), ui.Hint("undo", ui.Undo), ui.Hint("cancel", ui.Esc, ui.Leave),
	}
	short := append(all[:5:5], ui.Hint("cancel", ui.Esc))
	move := ui.Hint("move", ui.Up, ui.Down, ui.PageUp, ui.PageDown, ui.First, ui.Last)
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "contenders", Keys: append(all, move)}},
		Legend: []string{"The filter finds names, languages, frameworks, tags and states; all its words must match."}}
}

func (p *picker) update(msg tea.Msg) (cmd tea.Cmd) {
	press, pressed := msg.(tea.KeyPressMsg)
	_, clicked := msg.(tea.MouseClickMsg)
	k := ui.KeyOf(press)
	switch {
	case p.filtering && pressed && (k == ui.Enter || k == ui.Esc):
		p.filtering = false
		if k == ui.Esc {
			p.filter.SetValue("")
		}
	case p.filtering:
		p.filter, cmd = p.filter.Update(msg)
	case pressed && !p.grid.Update(msg, 0):
		cmd = p.key(k)
	case clicked && p.grid.Update(msg, 1):
		cmd = p.key(ui.Space)
	case !pressed:
		p.grid.Update(msg, 1)
	}
	p.list()
	return cmd
}

func (p *picker) key(k ui.Key) tea.Cmd {
	s, f, row := p.setup, &p.setup.form, p.grid.Row()
	switch k {
	case ui.Space:
		if row >= 0 {
			return s.change(func() { f.toggle(p.rows[row].sel) })
		}
	case ui.Filter:
		p.filtering = true
		return p.filter.Focus()
	case ui.View:
		return s.change(p.toggleAll)
	case ui.Undo:
		return s.change(func() { f.reset(f.field(fieldContenders)) })
	case ui.Enter:
		if len(f.selected()) == 0 {
			return bad("select at least one contender")
		}
		s.over = nil
	case ui.Esc, ui.Leave:
		if p.filter.Value() != "" {
			p.filter.SetValue("")
			return nil
		}
		s.over = nil
		return s.change(func() { f.choice.Contenders = p.before })
	}
	return nil
}

// toggleAll selects the default variant of each contender in sight, or removes all if they are selected.
func (p *picker) toggleAll() {
	f, added := &p.setup.form, false
	for _, r := range p.rows {
		if f.short(r.sel).Variant == "" && !f.chosen(r.sel) {
			f.toggle(r.sel)
			added = true
		}
	}
	for _, r := range p.rows {
		if !added && f.chosen(r.sel) {
			f.toggle(r.sel)
		}
	}
}

// list makes the rows, and keeps the cursor on its row.
func (p *picker) list() {
	f, under := &p.setup.form, bench.Selection{}
	if at := p.grid.Row(); at >= 0 {
		under = p.rows[at].sel
	}
	words := strings.Fields(strings.ToLower(p.filter.Value()))
	t := table.Table{Columns: []table.Column{
		{Title: "contender", Left: true}, {Title: "state", Left: true, Drop: 1}, {Title: "about", Left: true, Drop: 2},
	}}
	p.rows = nil
	for _, r := range f.allContenders() {
		tick, state := "[ ] ", f.stateCell(r)
		if f.chosen(r.sel) {
			tick = "[x] "
		}
		row := t.Add(tick+ui.Outside(f.short(r.sel).String(), 40), "", about(r.svc))
		row.Cells[1], row.Cells[2].Tone = state, table.Faint
		all := strings.ToLower(strings.Join([]string{row.Cells[0].Text, state.Text, row.Cells[2].Text, r.svc.Title}, "\n"))
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			t.Rows = t.Rows[:len(t.Rows)-1]
			continue
		}
		p.rows = append(p.rows, r)
	}
	p.grid.Set(t)
	if at := slices.IndexFunc(p.rows, func(r contenderRow) bool { return r.sel == under }); at >= 0 {
		p.grid.Select(at)
	}
}

func (p *picker) view(t *ui.Theme, w, h int) string {
	p.list() // states may have come
	f := &p.setup.form
	head, right := t.Title.S(units.Plural(len(f.selected()), "contender")+" selected"),
		"of "+units.Plural(len(f.facts.contenders), "contender")
	switch {
	case p.filtering:
		p.filter.SetWidth(max(1, min(40, w-12)))
		head, right = t.Key.S("filter: ")+p.filter.View(), ""
	case p.filter.Value() != "":
		head += ", filter: " + ui.Outside(p.filter.Value(), 60)
	}
	if f.facts.unreadable != "" {
		right = t.Bad.S(t.Glyph.Cross + " " + f.facts.unreadable)
	}
	var detail []string
	if at := p.grid.Row(); at >= 0 {
		detail = p.detail(t, p.rows[at], w)
	}
	list := ui.Block{Priority: 1, Least: 3, Most: ui.Rest, Draw: func(w, h int) string { return p.grid.View(t, w, h) }}
	view, _ := ui.Stack(w, h, ui.Text(1, ui.Ends(" "+head, right+" ", w)), list, ui.Text(3, detail...))
	return view
}

// detail is a sentence about the row under the cursor.
func (p *picker) detail(t *ui.Theme, r contenderRow, w int) []string {
	state := p.setup.form.state(r.sel)
	text := cmp.Or(outside(r.svc.Title), outside(r.sel.String())) + "; serves " +
		outside(strings.Join(r.svc.Endpoints, " "))
	switch {
	case r.err != nil:
		return ui.Hang(" ", outside(r.sel.String())+" names an unknown contender", w-1, t.Bad)
	case state.Kind == Cannot:
		return ui.Hang(" ", state.String()+": "+outside(state.Why), w-1, t.Bad)
	case r.svc.Unverified != "":
		return ui.Hang(" ", "unverified: "+outside(r.svc.Unverified), w-1, t.Warn)
	case state.Why != "":
		text = state.String() + ": " + outside(state.Why)
	}
	return ui.Hang(" ", text, w-1, ui.Paint{})
}

// allContenders returns the contenders in all their variants. Selected ones that the manifests do
// not have come first.
func (f *form) allContenders() (all []contenderRow) {
	for _, sel := range f.selected() {
		if svc, err := f.resolve(sel); err != nil || f.base.SettingsOf(sel).Base != nil {
			all = append(all, contenderRow{sel, svc, err})
		}
	}
	for _, svc := range f.facts.contenders {
		for _, resolved := range contender.Resolved(svc) {
			all = append(all, contenderRow{bench.Selection{Contender: svc.Name, Variant: resolved.Variant}, resolved, nil})
		}
	}
	return all
}

// stateCell returns what a contender needs to run as a cell of a table.
func (f *form) stateCell(r contenderRow) table.Cell {
	state := f.state(r.sel)
	switch {
	case r.err != nil && f.facts.contenders != nil:
		return table.Cell{Text: "unknown contender", Tone: table.Bad}
	case state.Kind == Cannot:
		return table.Cell{Text: state.String(), Tone: table.Bad}
	case r.svc.Unverified != "":
		return table.Cell{Text: "unverified", Tone: table.Notice}
	case state.Kind == Ready:
		return table.Cell{Text: state.String(), Tone: table.Good}
	}
	return table.Cell{Text: state.String()}
}

// about returns language, framework and tags of a contender.
func about(svc bench.Service) string {
	parts := []string{
		ui.Outside(svc.Language, 40), ui.Outside(strings.TrimSpace(svc.Framework+" "+svc.Version), 60),
		ui.Outside(strings.Join(svc.Tags, " "), 60),
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}
