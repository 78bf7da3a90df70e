package setup

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func say(text string, bad bool) tea.Cmd { return ui.Cmd(ui.StatusMsg{Text: text, Bad: bad}) }

// Update implements ui.Screen.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	s.scrollTo()
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case response:
		s.facts.pending = max(0, s.facts.pending-1)
		cmd := msg()
		s.replan()
		return cmd
	case ui.Resized:
		s.width, s.height = msg.Width, msg.Height
	case ui.Shown:
		return s.backAgain()
	case ui.Tick:
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			return s.click(msg.X, msg.Y)
		}
	case tea.MouseWheelMsg:
		return s.wheel(ui.Wheel(msg))
	default:
		return s.typed(msg) // a paste
	}
	return nil
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if name == "ctrl+s" && s.mode != saving {
		if s.mode == editing {
			return tea.Sequence(s.keep(), s.start())
		}
		s.leave()
		return s.start()
	}
	if by, ok := moves[s.mode][name]; ok && !(s.Typing() && len(name) == 1) {
		return s.wheel(by)
	}
	switch s.mode {
	case editing:
		return s.keyEditing(msg)
	case choosing:
		return s.keyChoosing(name)
	case contenders:
		return s.keyList(msg)
	case saving:
		return s.keySaving(msg)
	case diagnosis:
		return s.keyDiagnosis(name)
	}
	return s.keyFields(name)
}

// moves are the keys that move the focus, the cursor or the text, and by how much.
var moves = map[mode]map[string]int{
	fields:     {"up": -1, "k": -1, "shift+tab": -1, "down": 1, "j": 1, "tab": 1},
	choosing:   {"up": -1, "k": -1, "shift+tab": -1, "down": 1, "j": 1, "tab": 1},
	contenders: {"up": -1, "k": -1, "shift+tab": -1, "down": 1, "j": 1, "tab": 1, "pgup": -10, "pgdown": 10},
	diagnosis:  {"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -10, "pgdown": 10, "space": 10},
}

func (s *Screen) leave() {
	s.mode = fields
	s.input.Blur()
}

func (s *Screen) keyFields(name string) tea.Cmd {
	switch name {
	case "home", "g":
		s.focus = fieldProfile
	case "end", "G", "shift+g":
		s.focus = fieldStart
	case "left", "h":
		return s.step(s.focus, -1)
	case "right", "l", "space":
		return s.step(s.focus, 1)
	case "enter":
		return s.enter()
	case "s":
		return s.start()
	case "u", "backspace", "delete":
		return s.reset(s.focus)
	case "U", "shift+u":
		return s.resetAll()
	case "y":
		return ui.Cmd(ui.Copy{Text: s.choice.Command(), What: "command line", Shown: s.choice.shown()})
	case "w":
		return s.openSave()
	case "d":
		s.mode, s.scroll = diagnosis, 0
	case "b":
		if s.o.Browse != nil {
			return s.o.Browse()
		}
	case "r":
		return tea.Batch(s.askContenders(), s.askProfiles(), s.askAgain())
	case "q":
		return ui.Cmd(ui.Back{})
	default:
		return s.applyFix(name)
	}
	return nil
}

func (s *Screen) move(by int) {
	shown := s.shown()
	at := max(0, slices.Index(shown, s.focus))
	s.focus = shown[max(0, min(len(shown)-1, at+by))]
}

func (s *Screen) enter() tea.Cmd {
	switch f := s.focus; {
	case f == fieldStart:
		return s.start()
	case f == fieldContenders:
		s.mode = contenders
		s.list.open(s)
	case s.options(f) != nil:
		s.mode = choosing
		s.option = max(0, slices.IndexFunc(s.options(f), func(o option) bool { return o.value == s.value(f) }))
	default:
		s.edit(f)
	}
	return nil
}

func (s *Screen) keyChoosing(name string) tea.Cmd {
	switch name {
	case "enter", "space":
		s.leave()
		if options := s.options(s.focus); s.option < len(options) {
			return s.pick(s.focus, options[s.option].value)
		}
	case "esc", "q", "left", "h":
		s.leave()
	}
	return nil
}

func (s *Screen) keyDiagnosis(name string) tea.Cmd {
	switch name {
	case "esc", "d", "q", "enter":
		s.leave()
	case "r":
		return s.askAgain()
	default:
		return s.applyFix(name)
	}
	return nil
}

// wheel moves the focus, the cursor or the text.
func (s *Screen) wheel(by int) tea.Cmd {
	switch s.mode {
	case diagnosis:
		s.scroll = max(0, s.scroll+by)
	case contenders:
		s.list.rows(s)
		s.list.move(by)
	case choosing:
		s.option = max(0, min(len(s.options(s.focus))-1, s.option+by))
	case fields:
		s.move(by)
	}
	return nil
}
