package browse

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	if s.filter.Typing {
		return []ui.Key{{Name: "enter", Help: "keep"}, {Name: "esc", Help: "clear"}}
	}
	var keys []ui.Key
	e := s.current()
	if e != nil {
		open := ui.Key{Name: "enter", Help: "open", Long: "open the run; watch it if in progress"}
		if e.Live {
			open.Help = "watch"
		}
		keys = append(keys, open,
			ui.Key{Name: "space", Help: "mark", Long: "mark to compare (two at most)"},
			ui.Key{Name: "c", Help: "compare", Long: "compare both marked runs, or the marked one with this one; " +
				"unmarked: contenders of this run"},
			ui.Key{Name: "r", Help: "report", Long: "write the report and open it"},
			ui.Key{Name: "y", Help: "copy", Long: "copy the command to repeat this run"})
		if resumable(e) {
			keys = append(keys, ui.Key{Name: "R", Help: "copy resume", Long: "copy the command to resume this run"})
		}
	}
	return append(keys,
		ui.Key{Name: "/", Help: "filter", Long: "show only rows with these words"},
		ui.Key{Name: "s", Help: "sort", Long: "sort by next column; S reverses"},
		ui.Key{Name: "esc", Help: "back"},
		ui.Key{Name: "u", Help: "refresh", Long: "reload the list", Wide: true})
}

// resumable reports whether the run can be resumed: it ended early and is not in progress.
func resumable(e *results.Entry) bool {
	return e.Err == nil && !e.Live && e.Complete < e.Trials
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	by, moves := ui.Moves(name, s.rows())
	switch {
	case moves && name != "space" && !s.filter.Typing, name == "up", name == "down":
		s.move(by)
		return nil
	case s.filter.Typing:
		s.filter.Key(msg)
		s.arrange()
		return nil
	}
	switch name {
	case "esc", "q":
		if s.filter.Text == "" {
			return ui.Cmd(ui.Back{})
		}
		s.filter.Text = ""
		s.arrange()
	case "/":
		s.filter.Typing = true
	case "s":
		s.sort = (s.sort + 1) % len(columns)
		s.arrange()
	case "S":
		s.down = !s.down
		s.arrange()
	case "u":
		return s.list()
	default:
		return s.keyEntry(name)
	}
	return nil
}

func (s *Screen) keyEntry(name string) tea.Cmd {
	e := s.current()
	if e == nil {
		return nil
	}
	switch name {
	case "enter", "right", "l":
		return s.open(*e)
	case "space":
		s.mark(e.Dir)
		s.move(1)
	case "c":
		return s.compareMarked(*e)
	case "r":
		return ui.Report(s, &s.writing, s.options.Source.Report, e.Dir)
	case "y":
		return s.copy(e.Dir)
	case "R":
		if !resumable(e) {
			return ui.Cmd(ui.StatusMsg{Text: "cannot resume: " + stateText(e), Bad: true})
		}
		text, err := ui.ResumeCommand(e.Dir)
		return ui.Cmd(ui.Copied(text, err, "resume command"))
	}
	return nil
}

func (s *Screen) move(by int) { s.cursor = max(0, min(s.cursor+by, len(s.shown)-1)) }

// mark marks a folder, or unmarks it; a third mark replaces the second.
func (s *Screen) mark(dir string) {
	if i := slices.Index(s.marked, dir); i >= 0 {
		s.marked = slices.Delete(s.marked, i, i+1)
		return
	}
	s.marked = append(s.marked[:min(len(s.marked), 1)], dir)
}

// open shows a run.
func (s *Screen) open(e results.Entry) tea.Cmd {
	if e.Err != nil {
		return ui.Cmd(ui.Outcome("", e.Err))
	}
	return s.options.Watch(e.Dir)
}

func (s *Screen) compareMarked(e results.Entry) tea.Cmd {
	sides := append(slices.Clone(s.marked), e.Dir, e.Dir)
	a, b := sides[0], sides[1]
	if a == b && len(e.Contenders) < 2 {
		return ui.Cmd(ui.StatusMsg{Text: "mark another run (space) or select one with two contenders", Bad: true})
	}
	return s.options.Compare(a, b)
}

// copy copies the command that repeats the run; run.json holds it, the list does not.
func (s *Screen) copy(dir string) tea.Cmd {
	src, k := s.options.Source, s.known[dir]
	return func() tea.Msg {
		var run bench.Run
		var err error
		if k != nil {
			run = k.run
		} else if run, _, err = src.Load(dir); run.Schema == 0 && err != nil {
			return ui.Outcome("", err)
		}
		text, err := ui.RepeatCommand(run)
		return ui.Copied(text, err, "repeat command")
	}
}
