package setup

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// picker is the list of all contenders and their variants that match the filter.
type picker struct {
	setup  *Setup
	grid   *ui.Grid
	filter ui.FilterBy
	rows   []contenderRow
	before []bench.Selection // selection when the list was opened
}

// contenderRow is a contender in one variant. Without an error it is resolved.
type contenderRow struct {
	sel bench.Selection
	svc bench.Service
	err error
}

// newPicker opens the list, at the first selected row.
func newPicker(s *Setup) *picker {
	p := &picker{setup: s, grid: &ui.Grid{}, filter: ui.NewFilter(), before: s.form.choice.Contenders}
	p.list()
	p.grid.Select(slices.IndexFunc(p.rows, func(r contenderRow) bool { return s.form.chosen(r.sel) }))
	return p
}

func (p *picker) typing() bool { return p.filter.Typing() }

func (p *picker) keys() ui.Keys {
	if p.typing() {
		return p.filter.Keys()
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

func (p *picker) update(msg tea.Msg) tea.Cmd {
	cmd, used := p.filter.Update(msg)
	moved := !used && p.grid.Update(msg, 1)
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if !used && !moved {
			cmd = p.key(ui.KeyOf(msg))
		}
	case tea.MouseClickMsg:
		if moved {
			cmd = p.key(ui.Space)
		}
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
		if p.filter.Clear() {
			return nil
		}
		s.over = nil
		return s.change(func() { f.choice.Contenders = p.before })
	}
	return nil
}

// toggleAll selects the default variant of each contender in sight, or removes all if they are
// selected.
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
	t := table.Table{Columns: []table.Column{
		{Title: "contender", Left: true}, {Title: "state", Left: true, Drop: 1}, {Title: "about", Left: true, Drop: 2},
	}}
	p.rows = nil
	for _, r := range f.allContenders() {
		tick := "[ ] "
		if f.chosen(r.sel) {
			tick = "[x] "
		}
		row := t.Add(tick+ui.Outside(f.short(r.sel).String(), 40), "", about(r.svc))
		row.Cells[1], _ = f.needs(r)
		row.Cells[2].Tone = table.Faint
		if !p.filter.Holds(row.Cells[0].Text, row.Cells[1].Text, row.Cells[2].Text, r.svc.Title) {
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
	if words := p.filter.View(min(60, w-10)); p.typing() {
		head, right = t.Key.S("filter: ")+words, ""
	} else if words != "" {
		head += ", filter: " + words
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
	state, why := p.setup.form.needs(r)
	paint := map[table.Tone]ui.Paint{table.Bad: t.Bad, table.Notice: t.Warn}[state.Tone]
	if why != "" {
		return ui.Hang(" ", state.Text+": "+why, w-1, paint)
	}
	text := cmp.Or(outside(r.svc.Title), outside(r.sel.String())) + "; serves " + outside(strings.Join(r.svc.Endpoints, " "))
	return ui.Hang(" ", text, w-1, paint)
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

// needs returns what a contender needs to run, or what is against it, and why.
func (f *form) needs(r contenderRow) (state table.Cell, why string) {
	of := f.state(r.sel)
	state.Text = of.String()
	switch {
	case r.err != nil && f.facts.contenders != nil:
		return table.Cell{Text: "unknown contender", Tone: table.Bad}, text(r.err)
	case of.Kind == Cannot:
		state.Tone = table.Bad
	case r.svc.Unverified != "":
		return table.Cell{Text: "unverified", Tone: table.Notice}, outside(r.svc.Unverified)
	case of.Kind == Ready:
		state.Tone = table.Good
	}
	return state, outside(of.Why)
}

// about returns language, framework and tags of a contender.
func about(svc bench.Service) string {
	parts := []string{
		ui.Outside(svc.Language, 40), ui.Outside(strings.TrimSpace(svc.Framework+" "+svc.Version), 60),
		ui.Outside(strings.Join(svc.Tags, " "), 60),
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}
