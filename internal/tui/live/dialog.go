package live

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/tui/ui"
	"locbench/internal/units"
)

// dialog is a question that is open.
type dialog int

const (
	asksNothing dialog = iota
	asksAbort
	asksSkipStep
	asksSkipContender
	asksStop
	asksNote
	tellsEnd
)

// asksToEnd are questions that have no meaning any more when the run has ended.
func (d dialog) asksToEnd() bool { return d != asksNothing && d != tellsEnd }

// answer takes a key while a question is open. Enter says yes only where nothing is lost by it.
func (s *Screen) answer(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if s.dialog == tellsEnd {
		s.dialog = asksNothing
		if s.state.Version == 0 {
			return ui.Cmd(ui.Back{}) // there is nothing to look at
		}
		return nil
	}
	if s.dialog == asksNote {
		switch name {
		case "esc":
			s.dialog = asksNothing
			return nil
		case "enter":
			text := s.note.Value()
			s.dialog = asksNothing
			if text == "" {
				return nil
			}
			return s.send("note", bench.Control{Kind: bench.ControlNote, Text: text})
		}
		var cmd tea.Cmd
		s.note, cmd = s.note.Update(msg)
		return cmd
	}
	asked := s.dialog
	switch name {
	case "y", "Y":
		s.dialog = asksNothing
	case "n", "N", "esc", "q":
		s.dialog = asksNothing
		return nil
	default:
		return nil
	}
	switch asked {
	case asksAbort:
		return s.abort()
	case asksSkipStep:
		return s.send("skip step", bench.Control{Kind: bench.ControlSkipStep})
	case asksSkipContender:
		return s.send("skip contender", bench.Control{Kind: bench.ControlSkipContender})
	case asksStop:
		return s.send("stop after step", bench.Control{Kind: bench.ControlStop})
	}
	return nil
}

func (s *Screen) dialogText(f ui.Frame) (title string, lines []string) {
	l := f.Look
	w := min(64, f.Width-6)
	yes := l.Key.S("y") + " yes   " + l.Key.S("n") + " no"
	ask := func(text string) []string { return append(l.Wrap(l.ASCIIOnly(text), w, 0), "", yes) }
	switch s.dialog {
	case asksAbort:
		return "Abort the run?", ask("It ends in order: nothing stays behind. The running step is lost, finished steps are kept, and --resume goes on.")
	case asksSkipStep:
		name := ""
		if st := s.state.Step(); st != nil {
			name = fmt.Sprintf("Step %d (%s) ends now. ", st.Index+1, outside(st.Step.Name))
		}
		return "Skip this step?", ask(name + "What it has measured is kept, marked as aborted; the leg goes on but does not count as complete.")
	case asksSkipContender:
		return "Skip this contender?", ask("Its leg ends now, in order, and its later rounds are left out. --resume can run them.")
	case asksStop:
		left := ""
		if st := s.state.Step(); s.state.Loading() {
			if d := st.Step.Duration - since(f, s.state.Current.Origin.Add(seconds(st.From))); d > 0 {
				left = " (about " + units.Approx(d) + ")"
			}
		}
		return "End after this step?", ask("The running step is finished" + left + ", then the run ends in order. --resume goes on.")
	case asksNote:
		s.note.SetWidth(w - 2)
		return "Mark this moment", []string{s.note.View(), "", l.Key.S("enter") + " keep   " + l.Key.S("esc") + " leave it"}
	case tellsEnd:
		for _, line := range firstLines(s.talk, 12) {
			lines = append(lines, l.Wrap(l.ASCIIOnly(outside(line)), w, 8)...)
		}
		if most := max(1, f.Height-5); len(lines) > most {
			lines = lines[:most]
		}
		return fmt.Sprintf("The run could not go on (exit code %d)", s.code), append(lines, "", l.Faint.S("any key closes this"))
	}
	return "", nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
