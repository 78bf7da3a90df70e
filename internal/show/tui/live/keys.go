package live

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// rateStep is the factor by which a key changes the rate of an open-loop step.
const rateStep = 1.1

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	if s.dialog != closed {
		return s.dialogKey(msg)
	}
	if s.board.Typing() {
		return s.toBoard(msg)
	}
	switch msg.String() {
	case "q":
		if s.ended || s.gone || s.state.Ended != nil || !s.options.Session.CanSteer() {
			return ui.Cmd(ui.Back{}) // the run can end without a screen
		}
		if s.stopping {
			return ui.Cmd(ui.StatusMsg{Text: "stopping gracefully; Ctrl-C forces it"})
		}
		return s.ask()
	case "r":
		return s.report()
	case "y":
		if len(s.state.Run.Command) == 0 {
			return bad("the run has not started")
		}
		text, err := ui.RepeatCommand(s.state.Run)
		if err != nil {
			return bad(err.Error())
		}
		return ui.Cmd(ui.Copy{Text: text, What: "repeat command"})
	}
	if s.controls() {
		if cmd, handled := s.control(msg.String()); handled {
			return cmd
		}
	}
	cmd, handled := s.board.Update(msg, &s.state)
	if !handled && msg.String() == "esc" && !s.options.Session.CanSteer() {
		return ui.Cmd(ui.Back{}) // as esc does in every list
	}
	return cmd
}

func (s *Screen) toBoard(msg tea.Msg) tea.Cmd {
	cmd, _ := s.board.Update(msg, &s.state)
	return cmd
}

func (s *Screen) pausing() bool { return !s.state.Paused.IsZero() || s.state.PauseRequested }

// bad shows an error in the status line.
func bad(text string) tea.Cmd { return ui.Cmd(ui.StatusMsg{Text: text, Bad: true}) }

// controls reports whether keys control the run now.
func (s *Screen) controls() bool {
	return s.options.Session.CanSteer() && !s.ended && !s.stopping && s.state.Ended == nil
}

func (s *Screen) control(name string) (cmd tea.Cmd, handled bool) {
	switch name {
	case "p":
		if s.pausing() {
			return s.send(bench.Control{Kind: bench.ControlResume}), true
		}
		return s.send(bench.Control{Kind: bench.ControlPause}), true
	case "s":
		if !s.state.Loading() {
			return bad("no step is running"), true
		}
		s.dialog = confirmSkipStep
	case "S":
		if s.state.Current == nil || s.state.Current.Result.State != bench.TrialRunning {
			return bad("no contender is running"), true
		}
		s.dialog = confirmSkipContender
	case "e":
		if s.state.StopRequested {
			return ui.Cmd(ui.StatusMsg{Text: "already stopping after this step"}), true
		}
		s.dialog = confirmStop
	case "a":
		return s.ask(), true
	case "m":
		s.dialog = enterNote
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
	s.rate = cmp.Or(s.rate, max(0, step.Rate), step.Step.Rate) // step.Rate may be older than this screen
	// The rate changes by one at least: 10% of a small rate would be rounded away.
	if up {
		s.rate = max(math.Round(s.rate*rateStep), s.rate+1)
	} else {
		s.rate = max(1, min(math.Round(s.rate/rateStep), s.rate-1))
	}
	return tea.Batch(s.send(bench.Control{Kind: bench.ControlRate, Rate: s.rate}),
		ui.Cmd(ui.StatusMsg{Text: "rate " + units.Number(s.rate) + " req/s"}))
}

// Keys implements ui.Screen.
func (s *Screen) Keys() []ui.Key {
	switch {
	case s.dialog == enterNote:
		return []ui.Key{{Name: "enter", Help: "save"}, {Name: "esc", Help: "discard"}}
	case s.dialog == showEnd:
		return []ui.Key{{Name: "enter", Help: "close"}}
	case s.dialog != closed:
		return []ui.Key{{Name: "y", Help: "yes"}, {Name: "n", Help: "no"}}
	}
	var keys []ui.Key
	if s.controls() {
		pause := "pause"
		if s.pausing() {
			pause = "resume"
		}
		keys = append(keys,
			ui.Key{Name: "p", Help: pause, Long: "pause before the next step; resume"},
			ui.Key{Name: "s", Help: "skip step", Long: "stop this step; its data is kept, marked aborted"},
			ui.Key{Name: "S", Help: "skip contender", Long: "stop this trial and skip the contender's later rounds",
				Wide: true},
			ui.Key{Name: "e", Help: "stop after step", Wide: true,
				Long: "finish this step, then stop the run; continue with --resume"},
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

// dialog is the dialog that is open.
type dialog int

const (
	closed dialog = iota
	confirmSkipStep
	confirmSkipContender
	confirmStop
	enterNote
	showEnd
)

// dialogKey handles a key while a dialog is open. Enter means yes only where nothing can be lost.
func (s *Screen) dialogKey(msg tea.KeyPressMsg) tea.Cmd {
	name, asked := msg.String(), s.dialog
	s.dialog = closed
	switch asked {
	case showEnd:
		if s.state.Version == 0 {
			return ui.Cmd(ui.Back{}) // nothing to show
		}
		return nil
	case enterNote:
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
	kind := map[dialog]bench.ControlKind{
		confirmSkipStep: bench.ControlSkipStep, confirmSkipContender: bench.ControlSkipContender,
		confirmStop: bench.ControlStop,
	}[asked]
	return s.send(bench.Control{Kind: kind})
}

func (s *Screen) dialogText(f ui.Frame) (title string, lines []string) {
	l := f.Look
	w := min(64, f.Width-6)
	yes := l.Key.S("y") + " yes   " + l.Key.S("n") + " no"
	ask := func(text string) []string { return append(l.Wrap(l.ASCIIOnly(text), w, 0), "", yes) }
	switch s.dialog {
	case confirmSkipStep:
		name := ""
		if st := s.state.Step(); st != nil {
			name = fmt.Sprintf("Stops step %d (%s) now. ", st.Index+1, outside(st.Step.Name))
		}
		return "Skip this step?", ask(name + "Its data is kept, marked aborted. The trial continues but will be incomplete.")
	case confirmSkipContender:
		return "Skip this contender?", ask("Stops its trial now and skips its later rounds. Run them with --resume.")
	case confirmStop:
		left := ""
		if st := s.state.Step(); s.state.Loading() {
			from := s.state.Current.Origin.Add(time.Duration(st.From * float64(time.Second)))
			if d := st.Step.Duration - max(0, f.Now.Sub(from)); d > 0 {
				left = " (about " + units.Approx(d) + ")"
			}
		}
		return "Stop after this step?", ask("Finishes this step" + left + ", then stops the run. Continue with --resume.")
	case enterNote:
		s.note.SetWidth(w - 2)
		return "Add a note", []string{s.note.View(), "", l.Key.S("enter") + " save   " + l.Key.S("esc") + " discard"}
	case showEnd:
		last := strings.Split(strings.TrimSpace(s.stderr), "\n")
		for _, line := range last[max(0, len(last)-12):] {
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

// outside makes text of the run safe to show in a dialog.
func outside(s string) string { return ui.Outside(s, 1000) }
