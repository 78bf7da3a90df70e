package live

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench/units"
	page "github.com/locbench/locbench/internal/show/tui/ui"
)

// stopMsg is how to stop the run, as chosen.
type stopMsg struct{ now bool }

// ask opens the question how to stop the run. It says what exactly each choice does.
func (s *Screen) ask() tea.Cmd {
	s.asked = true
	a := page.Ask{Title: "Leave?", Text: s.where(), Interrupt: stopMsg{now: true}}
	if rest := s.restOfStep(); rest != "" && !s.state.StopRequested {
		a.Choices = append(a.Choices, page.Choice{Name: "stop after step", Words: rest + ", then stops", Msg: stopMsg{}})
	}
	words := "gracefully; nothing is lost"
	if s.state.Loading() {
		words = "gracefully; you lose the current step"
	}
	a.Choices = append(a.Choices, page.Choice{Name: "stop now", Words: words, Msg: stopMsg{now: true}})
	if dir := s.options.Session.Dir(); dir != "" {
		if text, err := page.ResumeCommand(dir); err == nil {
			a.After = []string{"Finished steps are kept. To continue a stopped run:", page.Outside(text, 1000)}
		}
	}
	return page.Cmd(page.AskMsg{Ask: a})
}

// where says what would be interrupted.
func (s *Screen) where() string {
	text := page.Outside(s.state.Run.Profile.Name, 100) + " runs"
	if s.state.Run.Profile.Name == "" {
		text = "The run has started"
	}
	if t := s.state.Current; t != nil {
		text += fmt.Sprintf(": trial %d of %d", t.Number, len(s.state.Trials))
		if step := s.state.Step(); step != nil && s.state.Loading() {
			text += fmt.Sprintf(", step %d of %d", step.Index+1, len(s.state.Run.Profile.Steps))
		}
	}
	if left, ok := s.state.Estimate.Left(s.state.Last); ok {
		text += ", about " + units.Approx(left) + " left"
	}
	return text + "."
}

// restOfStep says how long the running step still takes; "" if none runs.
func (s *Screen) restOfStep() string {
	step := s.state.Step()
	if step == nil || !s.state.Loading() {
		return ""
	}
	from := s.state.Current.Origin.Add(time.Duration(step.From * float64(time.Second)))
	text := "finishes " + outside(step.Step.Name)
	if left := step.Step.Duration - max(0, s.state.Last.Sub(from)); left > 0 {
		text += " in about " + units.Approx(left)
	}
	return text
}
