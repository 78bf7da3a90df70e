package live

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/show/tui/ui"
)

// rateStep is by how much a key changes the rate of an open-loop step.
const rateStep = 1.1

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	if s.dialog != asksNothing {
		return s.response(msg)
	}
	if s.board.Typing() {
		return s.look(msg)
	}
	switch msg.String() {
	case "q":
		if s.ended || s.gone || s.state.Ended != nil || !s.options.Session.CanSteer() {
			return ui.Cmd(ui.Back{}) // what is left of the end needs no screen
		}
		if s.stopping {
			return ui.Cmd(ui.StatusMsg{Text: "stopping gracefully; Ctrl-C forces it"})
		}
		s.dialog = asksAbort
		return nil
	case "r":
		return s.report()
	case "y":
		if len(s.state.Run.Command) == 0 {
			return bad("the run has not started")
		}
		text, err := ui.RepeatCommand(s.state.Run) // of anybody's making where somebody else's folder is watched
		if err != nil {
			return bad(err.Error())
		}
		return ui.Cmd(ui.Copy{Text: text, What: "repeat command"})
	}
	if s.steers() {
		if cmd, mine := s.steer(msg.String()); mine {
			return cmd
		}
	}
	cmd, mine := s.board.Update(msg, &s.state)
	if !mine && msg.String() == "esc" && !s.options.Session.CanSteer() {
		return ui.Cmd(ui.Back{}) // as from every list
	}
	return cmd
}

func (s *Screen) look(msg tea.Msg) tea.Cmd {
	cmd, _ := s.board.Update(msg, &s.state)
	return cmd
}

func (s *Screen) pauses() bool { return !s.state.Paused.IsZero() || s.state.PauseWanted }

// bad reports what cannot be done.
func bad(text string) tea.Cmd { return ui.Cmd(ui.StatusMsg{Text: text, Bad: true}) }

func (s *Screen) steers() bool {
	return s.options.Session.CanSteer() && !s.ended && !s.stopping && s.state.Ended == nil
}

func (s *Screen) steer(name string) (cmd tea.Cmd, mine bool) {
	switch name {
	case "p":
		if s.pauses() {
			return s.send(bench.Control{Kind: bench.ControlResume}), true
		}
		return s.send(bench.Control{Kind: bench.ControlPause}), true
	case "s":
		if !s.state.Loading() {
			return bad("no step is running"), true
		}
		s.dialog = asksSkipStep
	case "S":
		if s.state.Current == nil || s.state.Current.Result.State != bench.TrialRunning {
			return bad("no contender is running"), true
		}
		s.dialog = asksSkipContender
	case "e":
		if s.state.StopWanted {
			return ui.Cmd(ui.StatusMsg{Text: "already stopping after this step"}), true
		}
		s.dialog = asksStop
	case "a":
		s.dialog = asksAbort
	case "m":
		s.dialog = asksNote
		s.note.Reset()
		return s.note.Focus(), true
	case "+", "=", "-", "_":
		return s.changeRate(name == "+" || name == "="), true
	default:
		return nil, false
	}
	return nil, true
}

func (s *Screen) changeRate(up bool) tea.Cmd {
	step := s.state.Step()
	if !s.state.Loading() || step.Step.Rate <= 0 {
		return bad("only steps with a rate (open loop) can change it")
	}
	s.rate = cmp.Or(s.rate, max(0, step.Rate), step.Step.Rate) // step.Rate may have been set before this screen came
	// By one at least: a tenth of a small rate would be rounded away.
	if up {
		s.rate = max(math.Round(s.rate*rateStep), s.rate+1)
	} else {
		s.rate = max(1, min(math.Round(s.rate/rateStep), s.rate-1))
	}
	return tea.Batch(s.send(bench.Control{Kind: bench.ControlRate, Rate: s.rate}),
		ui.Cmd(ui.StatusMsg{Text: "rate " + units.Rate(s.rate) + " req/s"}))
}

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	switch {
	case s.dialog == asksNote:
		return []ui.Key{{Name: "enter", Help: "save"}, {Name: "esc", Help: "discard"}}
	case s.dialog == showsEnd:
		return []ui.Key{{Name: "enter", Help: "close"}}
	case s.dialog != asksNothing:
		return []ui.Key{{Name: "y", Help: "yes"}, {Name: "n", Help: "no"}}
	}
	var keys []ui.Key
	if s.steers() {
		pause := "pause"
		if s.pauses() {
			pause = "resume"
		}
		keys = append(keys,
			ui.Key{Name: "p", Help: pause, Long: "pause before the next step; resume"},
			ui.Key{Name: "s", Help: "skip step", Long: "stop this step; its data is kept, marked aborted"},
			ui.Key{Name: "S", Help: "skip contender", Long: "stop this trial and skip the contender's later rounds",
				Wide: true},
			ui.Key{Name: "e", Help: "stop after step", Long: "finish this step, then stop the run; continue with --resume", Wide: true},
			ui.Key{Name: "a", Help: "abort", Long: "stop the run now, gracefully (also Ctrl-C); finished steps are kept"},
			ui.Key{Name: "m", Help: "mark", Long: "save a note at this moment", Wide: true},
		)
		if st := s.state.Step(); s.state.Loading() && st.Step.Rate > 0 {
			keys = append(keys, ui.Key{Name: "+ -", Help: "rate", Long: "change this step's rate by 10%; recorded"})
		}
	}
	return append(append(keys, s.board.Keys()...),
		ui.Key{Name: "r", Help: "report", Long: "write a report of the run so far and open it", Wide: true},
		ui.Key{Name: "y", Help: "copy command", Long: "copy the command to repeat this run", Wide: true},
		ui.Key{Name: "q", Help: "leave"},
	)
}

// dialog is a question that is open.
type dialog int

const (
	asksNothing dialog = iota
	asksAbort
	asksSkipStep
	asksSkipContender
	asksStop
	asksNote
	showsEnd
)

// answer takes a key while a question is open. Enter says yes only where nothing is lost by it.
func (s *Screen) response(msg tea.KeyPressMsg) tea.Cmd {
	name, asked := msg.String(), s.dialog
	s.dialog = asksNothing
	switch asked {
	case showsEnd:
		if s.state.Version == 0 {
			return ui.Cmd(ui.Back{}) // there is nothing to look at
		}
		return nil
	case asksNote:
		if name == "enter" && s.note.Value() != "" {
			return s.send(bench.Control{Kind: bench.ControlNote, Text: s.note.Value()})
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
	if asked == asksAbort {
		return s.abort()
	}
	kind := map[dialog]bench.ControlKind{
		asksSkipStep: bench.ControlSkipStep, asksSkipContender: bench.ControlSkipContender, asksStop: bench.ControlStop,
	}[asked]
	return s.send(bench.Control{Kind: kind})
}

func (s *Screen) dialogText(f ui.Frame) (title string, lines []string) {
	l := f.Look
	w := min(64, f.Width-6)
	yes := l.Key.S("y") + " yes   " + l.Key.S("n") + " no"
	ask := func(text string) []string { return append(l.Wrap(l.ASCIIOnly(text), w, 0), "", yes) }
	switch s.dialog {
	case asksAbort:
		return "Abort the run?", ask("Stops gracefully and cleans up. You lose the current step; finished steps are kept. Continue with --resume.")
	case asksSkipStep:
		name := ""
		if st := s.state.Step(); st != nil {
			name = fmt.Sprintf("Stops step %d (%s) now. ", st.Index+1, outside(st.Step.Name))
		}
		return "Skip this step?", ask(name + "Its data is kept, marked aborted. The trial continues but will be incomplete.")
	case asksSkipContender:
		return "Skip this contender?", ask("Stops its trial now and skips its later rounds. Run them with --resume.")
	case asksStop:
		left := ""
		if st := s.state.Step(); s.state.Loading() {
			from := s.state.Current.Origin.Add(time.Duration(st.From * float64(time.Second)))
			if d := st.Step.Duration - max(0, f.Now.Sub(from)); d > 0 {
				left = " (about " + units.Approx(d) + ")"
			}
		}
		return "Stop after this step?", ask("Finishes this step" + left + ", then stops the run. Continue with --resume.")
	case asksNote:
		s.note.SetWidth(w - 2)
		return "Add a note", []string{s.note.View(), "", l.Key.S("enter") + " save   " + l.Key.S("esc") + " discard"}
	case showsEnd:
		talk := strings.Split(strings.TrimSpace(s.talk), "\n")
		for _, line := range talk[max(0, len(talk)-12):] {
			lines = append(lines, l.Wrap(l.ASCIIOnly(outside(line)), w, 8)...)
		}
		lines = append(lines[:min(len(lines), max(1, f.Height-5))], "", l.Faint.S("any key closes"))
		if !s.options.Session.CanSteer() {
			return "Run incomplete", lines
		}
		return fmt.Sprintf("Run failed (exit code %d)", s.code), lines
	}
	return "", nil
}

// outside makes text of the run fit for a dialog.
func outside(s string) string { return ui.Outside(s, 1000) }
