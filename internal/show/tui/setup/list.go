package setup

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// list is the list of contenders that match the filter, each with its variants below it.
type list struct {
	filter textinput.Model
	typing bool
	dirty  bool // the rows are outdated
	all    []row
	at     int
	before []bench.Selection // selection when the list was opened
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

// open shows the list, at the first selected row.
func (l *list) open(s *Screen) {
	l.before, l.typing, l.dirty = s.choice.Contenders, false, true
	l.filter.Blur()
	if first := slices.IndexFunc(l.rows(s), func(r row) bool { return !r.heading && s.chosen(r) }); first >= 0 {
		l.at = first
	}
}

func (l *list) move(by int) { l.at = max(0, min(len(l.all)-1, l.at+by)) }

func (l *list) keys() []ui.Key {
	if l.typing {
		return []ui.Key{
			{Name: "enter", Help: "keep"}, {Name: "esc", Help: "clear"}, {Name: "↑/↓", Help: "move"},
		}
	}
	return []ui.Key{
		{Name: "space", Help: "select",
			Long: "toggle; on a contender: remove all its variants or add the default one"},
		{Name: "enter", Help: "done"},
		{Name: "/", Help: "filter",
			Long: "filter by name, language, framework, tag, variant or state; all words must match"},
		{Name: "a", Help: "all", Long: "select the default variant of each contender shown; n: none"},
		{Name: "n", Help: "none"},
		{Name: "u", Help: "undo", Long: "reset to the contenders of the profile"},
		{Name: "esc", Help: "cancel"},
	}
}

// rows returns the rows, made again if outdated, and keeps the cursor on its row.
func (l *list) rows(s *Screen) []row {
	if !l.dirty {
		return l.all
	}
	var under row
	if l.at < len(l.all) {
		under = l.all[l.at]
	}
	l.all, l.dirty = nil, false
	words := strings.Fields(strings.ToLower(l.filter.Value()))
	add := func(r row) {
		if s.meets(r, words) {
			l.all = append(l.all, r)
		}
	}
	for _, sel := range s.selected() {
		if r := s.rowOf(sel); r.unknown || s.base.SettingsOf(sel).Base != nil {
			add(r) // it is not in the list of manifests
		}
	}
	for _, svc := range s.facts.contenders {
		head := row{sel: bench.Selection{Contender: svc.Name}, svc: svc, title: svc.Title, heading: len(svc.Variants) > 0}
		if !head.heading {
			add(head)
			continue
		}
		var below []row
		for _, v := range svc.Variants {
			r := row{sel: bench.Selection{Contender: svc.Name, Variant: v.Name}, title: v.Title, variant: true}
			resolved, err := contender.Resolve(svc, v.Name)
			if r.svc = resolved; err == nil && s.meets(r, words) {
				below = append(below, r)
			}
		}
		if len(below) > 0 {
			l.all = append(append(l.all, head), below...)
		}
	}
	l.at = max(0, slices.IndexFunc(l.all, func(r row) bool { return r.sel == under.sel && r.heading == under.heading }))
	return l.all
}

func (s *Screen) meets(r row, words []string) bool {
	st := s.state(r.sel)
	text := []string{r.sel.String(), r.title, r.svc.Title, r.svc.Language, r.svc.Framework, stateText(st)}
	text = append(text, r.svc.Tags...)
	if r.svc.Unverified != "" {
		text = append(text, "unverified")
	}
	if s.chosen(r) {
		text = append(text, "selected")
	}
	all := strings.ToLower(strings.Join(text, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

// resolve returns the contender of sel, resolved for its variant.
func (s *Screen) resolve(sel bench.Selection) (bench.Service, error) {
	own := s.base.SettingsOf(sel)
	of := own.InManifest()
	svc, err := contender.Find(s.facts.contenders, of.Contender)
	if err != nil && own.Dir != "" { // its folder is not read before the run
		return bench.Service{Name: of.Contender, Variant: sel.Variant, Title: "from the profile's folder"}, nil
	}
	if err != nil {
		return svc, err
	}
	svc, err = contender.Resolve(svc, of.Variant)
	if err != nil {
		return svc, err
	}
	return contender.Set(svc, own)
}

// canonical returns sel with its variant, the default one if it names none.
func (s *Screen) canonical(sel bench.Selection) bench.Selection {
	if sel.Variant != "" {
		return sel
	}
	if svc, err := contender.Find(s.facts.contenders, sel.Contender); err == nil && len(svc.Variants) > 0 {
		sel.Variant = svc.Variants[0].Name
	}
	return sel
}

func (s *Screen) state(sel bench.Selection) State {
	own := s.base.SettingsOf(sel)
	switch {
	case own.Dir != "":
		return State{Kind: Build, Why: "the profile names its folder"}
	case own.Image != "":
		return State{Kind: Ready, Why: "the profile names its image"}
	}
	return s.facts.states[s.canonical(own.InManifest())]
}

// chosen reports whether a row is ticked; a heading is if any of its variants is.
func (s *Screen) chosen(r row) bool {
	return slices.ContainsFunc(s.selected(), func(sel bench.Selection) bool {
		if r.heading {
			return sel.Contender == r.sel.Contender
		}
		return s.canonical(sel) == s.canonical(r.sel)
	})
}

func (s *Screen) drop(gone bench.Selection) {
	is := func(sel bench.Selection) bool { return s.canonical(sel) == s.canonical(gone) }
	s.choose(slices.DeleteFunc(slices.Clone(s.selected()), is))
}

// choose sets the contenders; those of the profile do not count as a change.
func (s *Screen) choose(selections []bench.Selection) {
	s.list.dirty = true
	s.choice.Contenders = append([]bench.Selection{}, selections...)
	if slices.Equal(selections, s.base.Contenders) {
		s.choice.Contenders = nil
	}
}

func (s *Screen) toggle(r row) {
	now, sel := slices.Clone(s.selected()), r.sel
	switch {
	case s.chosen(r) && r.heading:
		s.choose(slices.DeleteFunc(now, func(other bench.Selection) bool { return other.Contender == sel.Contender }))
	case s.chosen(r):
		s.drop(sel)
	default: // a default variant is named by its contender only, as in tables and charts
		if short := (bench.Selection{Contender: sel.Contender}); s.canonical(short) == sel {
			sel = short
		}
		s.choose(s.inOrder(append(now, sel)))
	}
}

// inOrder sorts: the profile's contenders first, in its order, then the others in the list's.
func (s *Screen) inOrder(selections []bench.Selection) []bench.Selection {
	place := func(sel bench.Selection) int {
		is := func(b bench.Selection) bool { return s.canonical(b) == s.canonical(sel) }
		if i := slices.IndexFunc(s.base.Contenders, is); i >= 0 {
			return i
		}
		n := len(s.base.Contenders)
		for _, svc := range s.facts.contenders {
			at := slices.IndexFunc(svc.Variants, func(v bench.Variant) bool { return v.Name == s.canonical(sel).Variant })
			if svc.Name == sel.Contender && (at >= 0 || len(svc.Variants) == 0) {
				return n + 1 + at
			}
			n += 1 + len(svc.Variants)
		}
		return n + 1
	}
	slices.SortStableFunc(selections, func(a, b bench.Selection) int { return place(a) - place(b) })
	return selections
}

func (s *Screen) keyList(msg tea.KeyPressMsg) tea.Cmd {
	l := &s.list
	rows := l.rows(s)
	key := msg.String()
	if l.typing {
		if key != "enter" && key != "esc" {
			return s.typed(msg)
		}
		l.typing = false
		l.filter.Blur()
		if key == "esc" {
			l.unfilter(s)
		}
		return nil
	}
	switch key {
	case "home", "g":
		l.at = 0
	case "end", "G", "shift+g":
		l.at = max(0, len(rows)-1)
	case "space", "x":
		if l.at < len(rows) {
			return s.ticked(rows[l.at])
		}
	case "/":
		l.typing = true
		l.filter.CursorEnd()
		return l.filter.Focus()
	case "a", "n":
		return s.change(func() {
			for _, r := range rows {
				if none := key == "n"; s.chosen(r) == none && (none || !r.variant && !r.unknown) {
					s.toggle(r)
				}
			}
		})
	case "u", "backspace", "delete":
		return s.reset(fieldContenders)
	case "enter":
		if len(s.selected()) == 0 {
			return say("select at least one contender", true)
		}
		s.leave()
	case "esc", "q":
		if l.filter.Value() != "" {
			l.unfilter(s)
			return nil
		}
		s.leave()
		return s.change(func() { s.choice.Contenders, l.dirty = l.before, true })
	}
	return nil
}

func (l *list) unfilter(s *Screen) {
	l.filter.SetValue("")
	l.dirty = true
	l.rows(s)
}

func (s *Screen) ticked(r row) tea.Cmd {
	cmd := s.change(func() { s.toggle(r) })
	s.list.rows(s)
	return cmd
}
