package setup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (s *Screen) edit(f id) {
	s.mode = editing
	s.before = s.choice.Set[string(f)]
	value := s.value(f)
	if f == fieldDuration && s.choice.Set.Text("duration") == "" && slices.ContainsFunc(s.base.Steps,
		func(step bench.Step) bool { return step.Duration != s.base.Steps[0].Duration }) {
		value = "" // a range cannot be edited
	}
	s.input.SetValue(value)
	s.input.CursorEnd()
	s.input.Focus()
}

func (s *Screen) keyEditing(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		return s.keep()
	case "tab", "down", "shift+tab", "up":
		cmd := s.keep()
		s.move(moves[fields][msg.String()])
		return cmd
	case "esc":
		s.leave()
		return s.change(func() {
			if delete(s.choice.Set, string(s.focus)); s.before != nil {
				s.choice.Set[string(s.focus)] = s.before
			}
		})
	}
	return s.typed(msg)
}

// keep ends editing and keeps the text, even a wrong one: its field shows the mistake.
func (s *Screen) keep() tea.Cmd {
	s.leave()
	return s.change(func() {})
}

// typed passes a message to the text input that is active.
func (s *Screen) typed(msg tea.Msg) (cmd tea.Cmd) {
	switch {
	case s.mode == editing:
		s.input, cmd = s.input.Update(msg)
		value := strings.TrimSpace(s.input.Value())
		f := s.focus
		if value == "" && f == fieldDuration { // the profile's steps may differ in length
			return tea.Batch(cmd, s.change(func() { delete(s.choice.Set, "duration") }))
		}
		return tea.Batch(cmd, s.change(func() { s.put(f, value) }))
	case s.mode == contenders && s.list.typing:
		s.list.filter, cmd = s.list.filter.Update(msg)
		s.list.dirty = true
		s.list.rows(s)
	case s.mode == saving && !s.save.asking:
		s.save.input, cmd = s.save.input.Update(msg)
		s.save.err = ""
	}
	return cmd
}

// draw returns the text of in, or the part around the cursor, in w cells, the cursor in reverse.
func draw(l *ui.Look, in textinput.Model, w int) string {
	value := []rune(in.Value())
	at := min(max(in.Position(), 0), len(value))
	part := func(from, to int) string { return l.Outside(string(value[from:to]), 4000) }
	next := min(at+1, len(value))
	before, under, after := part(0, at), cmp.Or(part(at, next), " "), part(next, len(value))
	if room := w - ui.Width(under); ui.Width(before) > room {
		runes := []rune(before)
		for ui.Width(string(runes)) > room-1 && len(runes) > 0 {
			runes = runes[1:]
		}
		before = l.Glyph.Ellipsis + string(runes)
	}
	rest := max(0, w-ui.Width(before)-ui.Width(under))
	return l.Fit(before+l.Select.S(under)+l.Cut(after, rest), w)
}

type save struct {
	input  textinput.Model
	err    string
	asking bool // asking whether to replace a file
	busy   bool
}

func (s *Screen) openSave() tea.Cmd {
	if !s.planned {
		why := cmp.Or(s.baseErr, s.planErr, "still reading the profile")
		return say("cannot save an invalid profile: "+why, true)
	}
	for _, p := range s.mistakes() {
		s.focus = p.field
		return say(p.text, true)
	}
	s.mode = saving
	s.save.err, s.save.asking, s.save.busy = "", false, false
	if s.save.input.Value() == "" {
		s.save.input.SetValue("my-" + ui.Outside(s.base.Name, 60)) // Save adds the ending
	}
	s.save.input.CursorEnd()
	s.save.input.Focus()
	return nil
}

func (s *Screen) keySaving(msg tea.KeyPressMsg) tea.Cmd {
	switch key := msg.String(); {
	case s.save.busy:
		return nil
	case key == "esc":
		s.save.input.Blur()
		s.leave()
	case s.save.asking && (key == "y" || key == "Y"):
		s.save.asking = false
		return s.write(true)
	case s.save.asking && (key == "n" || key == "N" || key == "enter"):
		s.save.asking = false
	case s.save.asking:
	case key == "enter":
		return s.write(false)
	default:
		return s.typed(msg)
	}
	return nil
}

func (s *Screen) write(replace bool) tea.Cmd {
	name := strings.TrimSpace(s.save.input.Value())
	if name == "" {
		s.save.err = "enter a name, such as mine.yaml"
		return nil
	}
	s.save.busy = true
	plan := s.plan
	return s.asking(func(ctx context.Context) response {
		path, warning, err := s.o.Site.Save(ctx, name, plan, replace)
		return func() tea.Cmd { return s.saved(path, warning, err) }
	})
}

// saved handles the result of Site.Save. The new profile becomes the chosen one, without changes.
func (s *Screen) saved(path, warning string, err error) tea.Cmd {
	s.save.busy = false
	if err != nil {
		if s.save.asking = errors.Is(err, ErrExists); !s.save.asking {
			s.save.err = text(err)
		}
		return nil
	}
	s.save.input.SetValue("")
	s.save.input.Blur()
	s.leave()
	before, url := s.choice.Set, s.choice.Set.Text("elastic")
	s.choice = Choice{Profile: path, Set: profile.Changes{}, Extra: s.choice.Extra}
	for _, name := range []string{"target", "seed"} { // not part of profiles
		s.choice.Set = s.choice.Set.With(name, before[name]...)
	}
	message := "saved as " + ui.Outside(path, 200)
	if warning != "" {
		message += "; " + ui.Outside(warning, 200)
		if url != "" {
			s.give("elastic", url)
		}
	}
	return tea.Batch(s.askProfiles(), ui.Cmd(ui.StatusMsg{Text: message}))
}
