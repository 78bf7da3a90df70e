package live

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/tui/look"
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

// answer takes a key while a question is open. Enter says yes only where nothing is lost by it.
func (s *Screen) answer(msg tea.KeyPressMsg) tea.Cmd {
	name, asked := msg.String(), s.dialog
	s.dialog = asksNothing
	switch asked {
	case tellsEnd:
		if s.state.Version == 0 {
			return ui.Cmd(ui.Back{}) // there is nothing to look at
		}
		return nil
	case asksNote:
		if name == "enter" && s.note.Value() != "" {
			return s.send("note", bench.Control{Kind: bench.ControlNote, Text: s.note.Value()})
		} else if name == "enter" || name == "esc" {
			return nil
		}
		s.dialog = asked
		var cmd tea.Cmd
		s.note, cmd = s.note.Update(msg)
		return cmd
	}
	switch name {
	case "y", "Y":
	case "n", "N", "esc", "q":
		return nil
	default:
		s.dialog = asked
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
			from := s.state.Current.Origin.Add(time.Duration(st.From * float64(time.Second)))
			if d := st.Step.Duration - max(0, f.Now.Sub(from)); d > 0 {
				left = " (about " + units.Approx(d) + ")"
			}
		}
		return "End after this step?", ask("The running step is finished" + left + ", then the run ends in order. --resume goes on.")
	case asksNote:
		s.note.SetWidth(w - 2)
		return "Mark this moment", []string{s.note.View(), "", l.Key.S("enter") + " keep   " + l.Key.S("esc") + " leave it"}
	case tellsEnd:
		talk := strings.Split(strings.TrimSpace(s.talk), "\n")
		for _, line := range talk[max(0, len(talk)-12):] {
			lines = append(lines, l.Wrap(l.ASCIIOnly(outside(line)), w, 8)...)
		}
		lines = append(lines[:min(len(lines), max(1, f.Height-5))], "", l.Faint.S("any key closes this"))
		return fmt.Sprintf("The run could not go on (exit code %d)", s.code), lines
	}
	return "", nil
}

// outside makes text of the run fit for a dialog.
func outside(s string) string { return look.Outside(s, 1000) }
