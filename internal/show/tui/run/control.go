package run

import (
	"fmt"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// controls is what the user requested. The page shows a change when the run has reported it.
type controls struct {
	asked    bool // whether to leave
	opening  bool // the question whether to leave is about to open
	stopping bool // the run was asked to stop
	forcing  bool // the run was asked to stop by force
	writing  bool // a report is being written
}

// act is the choice of a question.
type act func(*Run) tea.Cmd

func abort(r *Run) tea.Cmd { return r.stop("") }

func control(c bench.Control) act { return func(r *Run) tea.Cmd { return r.send(c) } }

// steers reports whether keys control the run now.
func (r *Run) steers() bool {
	return r.options.Session.CanSteer() && !r.over() && !r.control.stopping
}

// over reports whether the run has ended, or will without a page.
func (r *Run) over() bool { return r.ended || r.gone || r.state.Ended != nil }

// send sends c to the run at once: as commands run concurrently, they could overtake each other.
func (r *Run) send(c bench.Control) tea.Cmd {
	if err := r.options.Session.Send(c); err != nil {
		return bad(c.Kind.Words() + ": " + err.Error())
	}
	return nil
}

// bad shows an error in place of the keys.
func bad(text string) tea.Cmd { return ui.Cmd(ui.TellMsg{Text: text, Bad: true}) }

func (r *Run) pausing() bool { return !r.state.Paused.IsZero() || r.state.PauseRequested }

// steer handles the keys that control the run.
func (r *Run) steer(k ui.Key) tea.Cmd {
	switch k {
	case ui.Pause:
		if r.pausing() {
			return r.send(bench.Control{Kind: bench.ControlResume})
		}
		return r.send(bench.Control{Kind: bench.ControlPause})
	case ui.Stop:
		return questions{r}.askStop()
	case ui.Detach:
		return r.detach()
	}
	return nil
}

// questions are those before something is lost.
type questions struct{ *Run }

// askStop opens the menu of what to stop.
func (r questions) askStop() tea.Cmd {
	var all []ui.Choice
	add := func(name, words string, kind bench.ControlKind) {
		all = append(all, ui.Choice{Name: name, Words: words, Msg: control(bench.Control{Kind: kind})})
	}
	if !r.state.StopRequested {
		add("after this step", r.restOfStep()+"stops the run; --resume continues it", bench.ControlStop)
	}
	if r.state.Loading() {
		add("this step", "its data is kept, marked aborted; the trial continues, incomplete", bench.ControlSkipStep)
	}
	if t := r.state.Current; t != nil && t.Result.State == bench.TrialRunning {
		name := ui.Outside(t.Result.Trial.Label(), nameBytes)
		add("this contender", "ends this trial of "+name+" and skips its later rounds; --resume runs them", bench.ControlSkipContender)
	}
	all = append(all, ui.Choice{Name: "the run now", Words: r.lost(), Msg: act(abort)})
	r.control.asked = true
	return ui.Cmd(ui.AskMsg{Ask: ui.Ask{Title: "Stop what?", Text: r.whereNow(), Choices: all, After: r.howToResume(), Interrupt: act(abort)}})
}

// leave leads back; during a run it first opens a question.
func (r questions) leave() tea.Cmd {
	switch {
	case r.over() || !r.options.Session.CanSteer():
		return ui.Cmd(ui.BackMsg{})
	case r.control.stopping:
		return ui.Cmd(ui.TellMsg{Text: "stopping gracefully; Ctrl-C forces it"})
	}
	a := ui.Ask{Title: "Leave?", Text: r.whereNow(), Interrupt: act(abort), After: r.howToResume()}
	if rest := r.restOfStep(); rest != "" && !r.state.StopRequested {
		a.Choices = append(a.Choices, ui.Choice{Name: "stop after step", Words: rest + "then stops", Msg: control(bench.Control{Kind: bench.ControlStop})})
	}
	a.Choices = append(a.Choices, ui.Choice{Name: "stop now", Words: r.lost(), Msg: act(abort)})
	if r.options.Session.Dir() != "" {
		a.Choices = append(a.Choices, ui.Choice{Name: "leave it running", Words: "the dashboard closes, the run continues", Msg: act((*Run).detach)})
	}
	a.Opened = func() { r.control.opening = false }
	r.control.asked, r.control.opening = true, true
	return ui.Cmd(ui.AskMsg{Ask: a})
}

// detach lets the run continue and closes the dashboard.
func (r *Run) detach() tea.Cmd {
	session := r.options.Session
	return func() tea.Msg {
		if err := session.Detach(); err != nil {
			return ui.TellMsg{Text: err.Error(), Bad: true}
		}
		return ui.QuitMsg{}
	}
}

func (r questions) lost() string {
	if r.state.Loading() {
		return "gracefully; the current step is kept, marked aborted"
	}
	return "gracefully; nothing is lost"
}

func (r questions) howToResume() []string {
	dir := r.options.Session.Dir()
	if dir == "" {
		return nil
	}
	text, err := ui.ResumeCommand(dir)
	if err != nil {
		return nil
	}
	return []string{"Finished steps are kept. To continue a stopped run:", ui.Outside(text, 1000)}
}

// restOfStep says how long the running step still takes; "" if none runs.
func (r questions) restOfStep() string {
	step := r.state.Step()
	if !r.state.Loading() {
		return ""
	}
	text := "finishes " + ui.Outside(step.Step.Name, nameBytes)
	if left := step.Step.Duration - r.ran(step); left > 0 {
		text += " in " + units.Approx(left)
	}
	return text + ", "
}

// ran returns how long a step has run.
func (r *Run) ran(step *fold.Step) time.Duration {
	if r.state.Run.Profile.Interleave > 0 { // most of the time belongs to other contenders
		return step.Ran
	}
	return max(0, time.Duration((r.state.Current.Seconds(r.now())-step.From)*1e9))
}

// interrupt handles Ctrl-C. The first opens a question, the next ones stop the run gracefully (as
// the choice of the question does), stop it by force, and kill it.
func (r *Run) interrupt() tea.Cmd {
	switch {
	case r.ended || !r.options.Session.CanSteer():
		return ui.Cmd(ui.QuitMsg{})
	case r.control.forcing:
		return r.stop("killed; clean up with: locbench clean")
	case r.control.stopping:
		r.control.forcing = true
		return r.stop("forcing stop; Ctrl-C kills the run without cleanup")
	case r.control.opening: // the keys were faster than the question
		return abort(r)
	}
	return questions{r}.leave()
}

// stop interrupts the run: first gracefully, then by force; the third call kills it.
func (r *Run) stop(word string) tea.Cmd {
	if r.ended {
		return nil
	}
	r.control.stopping = true
	stop := func() tea.Msg {
		r.options.Session.Stop(syscall.SIGINT)
		return nil
	}
	if word == "" {
		return stop
	}
	return tea.Batch(stop, bad(word))
}

// whereNow says what would be interrupted.
func (r questions) whereNow() string {
	s := &r.state
	text := r.profile() + " runs"
	if s.Run.Profile.Name == "" {
		text = "The run has started"
	}
	if t := s.Current; t != nil {
		text += fmt.Sprintf(": trial %d of %d", t.Number, len(s.Trials))
		if step := s.Step(); s.Loading() {
			text += fmt.Sprintf(", step %d of %d", step.Index+1, len(s.Run.Profile.Steps))
		}
	}
	if left := s.Estimate.Words(r.now(), "about "); left != "" {
		text += ", " + left
	}
	return text + "."
}
