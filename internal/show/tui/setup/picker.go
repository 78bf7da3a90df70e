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

// picker is the list of contenders that match the filter, each with its variants below it.
type picker struct {
	setup     *Setup
	grid      *ui.Grid
	filter    textinput.Model
	filtering bool
	rows      []row
	before    []bench.Selection // selection when the list was opened
}

// row is a contender, a variant, or a selection of an unknown contender.
type row struct {
	sel     bench.Selection
	svc     bench.Service // resolved; for a heading as in the manifest
	title   string
	heading bool // of a contender with variants
	variant bool
	unknown bool
}

// newPicker opens the list, at the first selected row.
func newPicker(s *Setup) *picker {
	p := &picker{setup: s, grid: ui.NewGrid(false), filter: ui.NewInput(100), before: s.form.choice.Contenders}
	p.list()
	p.grid.Select(max(0, slices.IndexFunc(p.rows, func(r row) bool { return !r.heading && p.chosen(r) })))
	return p
}

func (p *picker) title() string { return "contenders" }
func (p *picker) typing() bool  { return p.filtering }

func (p *picker) keys() ui.Keys {
	if p.filtering {
		return ui.Keys{Short: []key.Binding{ui.Hint("keep", ui.Enter), ui.Hint("clear", ui.Esc)}}
	}
	space, done, filter := ui.Hint("select", ui.Space), ui.Hint("done", ui.Enter), ui.Hint("", ui.Filter)
	undo, cancel := ui.Hint("those of the profile", ui.Undo), ui.Hint("cancel", ui.Esc, ui.Leave)
	return ui.Keys{
		Short: []key.Binding{space, done, filter, ui.Hint("undo", ui.Undo), ui.Hint("cancel", ui.Esc)},
		Groups: []ui.Group{{Title: "contenders", Keys: []key.Binding{
			ui.Hint("move", ui.Up, ui.Down, ui.PageUp, ui.PageDown, ui.First, ui.Last),
			ui.Hint("select or remove; on a contender: its default variant, or all of its variants", ui.Space), done,
			ui.Hint("filter by name, language, framework, tag or state; all words must match", ui.Filter),
			ui.Hint("all that the filter shows, or none", ui.View), undo, cancel,
		}}},
	}
}

func (p *picker) update(msg tea.Msg) tea.Cmd {
	press, pressed := msg.(tea.KeyPressMsg)
	k := ui.KeyOf(press)
	click, clicked := msg.(tea.MouseClickMsg)
	switch {
	case p.filtering && pressed && (k == ui.Enter || k == ui.Esc):
		p.filtering = false
		p.filter.Blur()
		if k == ui.Esc {
			p.filter.SetValue("")
		}
	case p.filtering:
		var cmd tea.Cmd
		p.filter, cmd = p.filter.Update(msg)
		p.list()
		return cmd
	case pressed:
		if cmd, handled := p.key(k); handled {
			return cmd
		}
		p.grid.Update(msg, 0)
	case clicked:
		if p.grid.Update(click, 1) {
			return p.toggle(p.rows[p.grid.Row()])
		}
	default:
		p.grid.Update(msg, 1)
	}
	p.list()
	return nil
}

func (p *picker) key(k ui.Key) (cmd tea.Cmd, handled bool) {
	s := p.setup
	switch k {
	case ui.Space:
		if at := p.grid.Row(); at >= 0 {
			return p.toggle(p.rows[at]), true
		}
	case ui.Filter:
		p.filtering = true
		p.filter.CursorEnd()
		return p.filter.Focus(), true
	case ui.View:
		return p.all(), true
	case ui.Undo:
		return s.change(func() { s.form.reset(s.form.field(fieldContenders)) }), true
	case ui.Enter:
		if len(s.form.selected()) == 0 {
			return bad("select at least one contender"), true
		}
		s.over = nil
	case ui.Esc, ui.Leave:
		if p.filter.Value() != "" {
			p.filter.SetValue("")
			return nil, false
		}
		s.over = nil
		return s.change(func() { s.form.choice.Contenders = p.before }), true
	default:
		return nil, false
	}
	return nil, true
}

// all selects the default variant of each contender in sight, or removes all if they are selected.
func (p *picker) all() tea.Cmd {
	s := p.setup
	return s.change(func() {
		before := s.form.selected()
		for _, r := range p.rows {
			if !r.variant && !r.unknown && !p.chosen(r) {
				s.form.add(s.form.canonical(r.sel))
			}
		}
		if len(s.form.selected()) == len(before) {
			for _, r := range p.rows {
				s.form.drop(r.sel)
			}
		}
	})
}

func (p *picker) toggle(r row) tea.Cmd {
	f := &p.setup.form
	return p.setup.change(func() {
		switch chosen := p.chosen(r); {
		case chosen && r.heading:
			f.choose(slices.DeleteFunc(slices.Clone(f.selected()), func(sel bench.Selection) bool {
				return sel.Contender == r.sel.Contender
			}))
		case chosen:
			f.drop(r.sel)
		default:
			f.add(f.canonical(r.sel))
		}
	})
}

// chosen reports whether a row is ticked; a heading is if any of its variants is.
func (p *picker) chosen(r row) bool {
	if !r.heading {
		return p.setup.form.chosen(r.sel)
	}
	return slices.ContainsFunc(p.setup.form.selected(), func(sel bench.Selection) bool {
		return sel.Contender == r.sel.Contender
	})
}

// list makes the rows, and keeps the cursor on its row.
func (p *picker) list() {
	f := &p.setup.form
	var under row
	if at := p.grid.Row(); at >= 0 {
		under = p.rows[at]
	}
	words := strings.Fields(strings.ToLower(p.filter.Value()))
	p.rows = nil
	add := func(rows ...row) {
		for _, r := range rows {
			if p.matches(r, words) {
				p.rows = append(p.rows, r)
			}
		}
	}
	for _, sel := range f.selected() {
		if svc, err := f.resolve(sel); err != nil || f.base.SettingsOf(sel).Base != nil {
			add(row{sel: sel, svc: svc, unknown: err != nil}) // it is not in the list of manifests
		}
	}
	for _, svc := range f.facts.contenders {
		head := row{sel: bench.Selection{Contender: svc.Name}, svc: svc, title: svc.Title, heading: len(svc.Variants) > 0}
		if !head.heading {
			add(head)
			continue
		}
		from := len(p.rows)
		for _, v := range svc.Variants {
			if resolved, err := contender.Resolve(svc, v.Name); err == nil {
				sel := bench.Selection{Contender: svc.Name, Variant: v.Name}
				add(row{sel: sel, svc: resolved, title: v.Title, variant: true})
			}
		}
		if len(p.rows) > from {
			p.rows = slices.Insert(p.rows, from, head)
		}
	}
	p.grid.Set(p.table())
	if at := slices.IndexFunc(p.rows, func(r row) bool { return r.sel == under.sel && r.heading == under.heading }); at >= 0 {
		p.grid.Select(at)
	}
}

func (p *picker) matches(r row, words []string) bool {
	text := append([]string{
		r.sel.String(), r.title, r.svc.Title, r.svc.Language, r.svc.Framework, p.setup.form.stateOf(r.sel, r.svc).Text,
	}, r.svc.Tags...)
	if p.chosen(r) {
		text = append(text, "selected")
	}
	all := strings.ToLower(strings.Join(text, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

func (p *picker) table() table.Table {
	t := table.Table{Columns: []table.Column{
		{Title: "contender", Left: true}, {Title: "state", Left: true, Drop: 1}, {Title: "about", Left: true, Drop: 2},
	}}
	for _, r := range p.rows {
		tick, name, indent := "[ ] ", r.sel.Contender, ""
		switch {
		case p.chosen(r) && r.heading:
			tick = "[-] " // its variants have the ticks
		case p.chosen(r):
			tick = "[x] "
		}
		if r.variant {
			name, indent = r.sel.Variant, "    "
		}
		state, text := p.setup.form.stateOf(r.sel, r.svc), about(r.svc)
		switch {
		case r.unknown:
			state = table.Cell{Text: "unknown contender", Tone: table.Bad}
		case r.heading:
			state = table.Cell{}
		case r.variant:
			text = ui.Outside(r.title, 60)
		}
		t.Rows = append(t.Rows, table.Row{Cells: []table.Cell{
			{Text: indent + tick + ui.Outside(name, 40)}, state, {Text: text, Tone: table.Faint},
		}})
	}
	return t
}

func (p *picker) view(t *ui.Theme, w, h int) string {
	p.list() // states may have come
	f := &p.setup.form
	right := "of " + units.Plural(len(f.facts.contenders), "contender")
	for _, err := range []string{f.facts.statesErr, f.facts.contendersErr} {
		if err != "" {
			right = t.Bad.S(t.Glyph.Cross + " " + err)
		}
	}
	head := t.Title.S(units.Plural(len(f.selected()), "contender") + " selected")
	switch {
	case p.filtering:
		p.filter.SetWidth(max(1, min(40, w-12)))
		head, right = t.Key.S("filter: ")+p.filter.View(), ""
	case p.filter.Value() != "":
		head += ", filter: " + ui.Outside(p.filter.Value(), 60)
	}
	list := ui.Block{Priority: 1, Least: 3, Most: ui.Rest, Draw: func(w, h int) string {
		switch {
		case len(p.rows) > 0:
			return p.grid.View(t, w, h)
		case f.facts.listed:
			return t.Faint.S("  no match: esc clears the filter")
		}
		return t.Faint.S("  reading the contenders")
	}}
	view, _ := ui.Stack(w, h, ui.Text(1, ui.Ends(" "+head, right+" ", w)), list, ui.Text(3, p.detail(t, w)...))
	return view
}

// detail is a sentence about the row under the cursor.
func (p *picker) detail(t *ui.Theme, w int) []string {
	at := p.grid.Row()
	if at < 0 {
		return nil
	}
	r, paint := p.rows[at], ui.Paint{}
	state := p.setup.form.state(r.sel)
	text := cmp.Or(outside(r.svc.Title), outside(r.sel.String())) + "; serves " + outside(strings.Join(r.svc.Endpoints, " "))
	switch {
	case r.unknown:
		text, paint = outside(r.sel.String())+" names an unknown contender", t.Bad
	case r.heading:
		text = cmp.Or(outside(r.title), outside(r.sel.Contender)) + ": " +
			units.Plural(len(r.svc.Variants), "variant") + ", the first is the default"
	case state.Kind == Cannot:
		text, paint = state.String()+": "+outside(state.Why), t.Bad
	case r.svc.Unverified != "":
		text, paint = "unverified: "+outside(r.svc.Unverified), t.Warn
	case state.Why != "":
		text = state.String() + ": " + outside(state.Why)
	}
	return ui.Hang(" ", text, w-1, paint)
}

// about returns language, framework and tags of a contender.
func about(svc bench.Service) string {
	parts := []string{
		ui.Outside(svc.Language, 40), ui.Outside(strings.TrimSpace(svc.Framework+" "+svc.Version), 60),
		ui.Outside(strings.Join(svc.Tags, " "), 60),
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}
