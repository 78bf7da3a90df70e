package setup

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/tui/ui"
)

func tell(text string, bad bool) tea.Cmd { return ui.Cmd(ui.Tell{Text: text, Bad: bad}) }

// Update implements ui.Screen.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	s.scrollTo()
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	if cmd, mine := s.heard(msg); mine {
		if _, profiles := msg.(gotProfiles); profiles {
			return tea.Batch(cmd, s.change(func() {}), s.askStates())
		}
		s.replan()
		return cmd
	}
	switch msg := msg.(type) {
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
		switch msg.Button {
		case tea.MouseWheelUp:
			return s.wheel(-1)
		case tea.MouseWheelDown:
			return s.wheel(1)
		}
	default:
		return s.typed(msg) // a paste, or what the clipboard held
	}
	return nil
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "ctrl+s" && s.mode != saving {
		if s.mode == editing {
			return tea.Sequence(s.keep(), s.start())
		}
		s.leave()
		return s.start()
	}
	switch s.mode {
	case editing:
		return s.keyEditing(msg)
	case choosing:
		return s.keyChoosing(msg)
	case contenders:
		return s.keyList(msg)
	case saving:
		return s.keySaving(msg)
	case findings:
		return s.keyFindings(msg)
	}
	return s.keyFields(msg)
}

// leave goes back to the fields.
func (s *Screen) leave() {
	s.mode = fields
	s.input.Blur()
}

func (s *Screen) keyFields(msg tea.KeyPressMsg) tea.Cmd {
	switch key := msg.String(); key {
	case "up", "k", "shift+tab":
		s.move(-1)
	case "down", "j", "tab":
		s.move(1)
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
		s.mode, s.scroll = findings, 0
	case "b":
		if s.o.Browse != nil {
			return s.o.Browse()
		}
	case "r":
		return tea.Batch(s.askContenders(), s.askProfiles(), s.askAgain())
	case "q":
		return ui.Cmd(ui.Back{})
	default:
		return s.way(key)
	}
	return nil
}

// move goes to another field.
func (s *Screen) move(by int) {
	shown := s.shown()
	at := max(0, slices.Index(shown, s.focus))
	s.focus = shown[max(0, min(len(shown)-1, at+by))]
}

// enter does with the field what there is to do.
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
	case formOf(f).flag != "":
		s.edit(f)
	}
	return nil
}

func (s *Screen) keyChoosing(msg tea.KeyPressMsg) tea.Cmd {
	options := s.options(s.focus)
	switch msg.String() {
	case "up", "k", "shift+tab":
		s.option = max(0, s.option-1)
	case "down", "j", "tab":
		s.option = min(len(options)-1, s.option+1)
	case "enter", "space":
		s.leave()
		if s.option < len(options) {
			return s.pick(s.focus, options[s.option].value)
		}
	case "esc", "q", "left", "h":
		s.leave()
	}
	return nil
}

func (s *Screen) keyFindings(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc", "d", "q", "enter":
		s.leave()
	case "up", "k":
		return s.wheel(-1)
	case "down", "j":
		return s.wheel(1)
	case "pgup":
		return s.wheel(-10)
	case "pgdown", "space":
		return s.wheel(10)
	case "r":
		return s.askAgain()
	default:
		return s.way(msg.String())
	}
	return nil
}

// wheel moves what has the focus.
func (s *Screen) wheel(by int) tea.Cmd {
	switch s.mode {
	case findings:
		s.scroll = max(0, s.scroll+by)
	case contenders:
		s.list.move(by)
	case choosing:
		s.option = max(0, min(len(s.options(s.focus))-1, s.option+by))
	case fields:
		s.move(by)
	}
	return nil
}
