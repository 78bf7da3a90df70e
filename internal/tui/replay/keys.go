package replay

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/tui/ui"
)

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	back := ui.Key{Name: "esc", Help: "back"}
	if s.player == nil {
		return []ui.Key{back}
	}
	if s.board.Typing() {
		return s.board.Keys()
	}
	play := ui.Key{Name: "space", Help: "play", Long: "play, from the beginning when it is at the end"}
	if s.playing {
		play = ui.Key{Name: "space", Help: "pause"}
	}
	keys := []ui.Key{
		play,
		{Name: "+/-", Help: "speed", Long: "faster and slower: 0.25× to 64×, and as fast as it can be watched"},
		{Name: ",/.", Help: "5 s", Long: "5 seconds back and on"},
		{Name: "</>", Help: "step", Long: "to the beginning of the step, or of the next one"},
		{Name: "n/p", Help: "leg", Long: "to the next leg, or the one before"},
	}
	if _, ok := s.player.gapAt(s.player.pos); ok && !s.player.ended() {
		keys = append([]ui.Key{{Name: "g", Help: "skip gap", Long: "go on behind the gap in which nothing happens"}}, keys...)
	}
	keys = append(keys, back, ui.Key{Name: "home/end", Help: "start, end", Long: "to the start and the end of the run", Wide: true})
	keys = append(keys, s.board.Keys()...)
	return append(keys,
		ui.Key{Name: "r", Help: "report", Long: "write the report, and open it where there is a browser", Wide: true},
		ui.Key{Name: "y", Help: "copy command", Long: "copy the command that repeats this run", Wide: true})
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	var cmd tea.Cmd
	mine, name := false, msg.String()
	if s.player != nil && !s.board.Typing() {
		if cmd, mine = s.own(name); mine {
			return cmd
		}
	}
	if s.player != nil {
		cmd, mine = s.board.Update(msg, s.player.state)
	}
	if mine || name != "esc" && name != "q" {
		return cmd
	}
	if s.progress != nil {
		s.progress.left.Store(true) // what loads for it stops
	}
	s.playing = false
	return ui.Cmd(ui.Back{})
}

// own carries out the keys of the replay; the others are the board's.
func (s *Screen) own(name string) (cmd tea.Cmd, mine bool) {
	p := s.player
	switch name {
	case "space":
		s.play()
	case "+", "=":
		s.speed = min(s.speed+1, len(speeds)-1)
	case "-", "_":
		s.speed = max(s.speed-1, 0)
	case "g":
		if g, ok := p.gapAt(p.pos); ok {
			p.seek(g.to)
		}
	case "r":
		return ui.Report(s, &s.writing, s.source.Report, s.dir), true
	case "y":
		text, err := Command(s.run)
		return ui.Cmd(ui.Copied(text, err, "the command that repeats this run")), true
	default:
		to, ok := map[string]time.Duration{
			",": p.pos - seekBy, ".": p.pos + seekBy, "<": p.before(p.steps), ">": p.after(p.steps),
			"p": p.before(p.legs), "n": p.after(p.legs), "home": 0, "end": p.total,
		}[name]
		if !ok {
			return nil, false
		}
		p.seek(to)
	}
	s.playing = s.playing && !p.ended()
	return nil, true
}

func (s *Screen) play() {
	s.playing, s.ticked = !s.playing, time.Time{}
	if s.playing && s.player.ended() {
		s.player.seek(0)
	}
}

func (s *Screen) mouse(msg tea.MouseMsg) (mine bool) {
	m := msg.Mouse()
	line := s.h - 1
	if s.h >= 12 {
		line--
	}
	if m.Y < line || s.w <= 0 {
		return false
	}
	p := s.player
	b := bar{w: s.w, left: barAt(s.w)}
	switch {
	case m.Button == tea.MouseWheelUp, m.Button == tea.MouseWheelDown:
		p.seek(p.pos + time.Duration(ui.Wheel(tea.MouseWheelMsg(m)))*seekBy)
	case m.Button == tea.MouseLeft && m.X >= b.left:
		p.seek(b.moment(m.X, p.total))
	case m.Button == tea.MouseLeft:
		s.play()
	}
	return true
}
