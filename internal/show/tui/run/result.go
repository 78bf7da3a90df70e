package run

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Result is what a run has found so far or at its end, in the words that 'locbench run' prints.
type Result struct {
	tab
	past    ui.Source
	over    bool
	version uint64 // of the state that end concludes
	end     *ending
	soFar   kept[*ending]
	made    *ending // what the text is of
	text    ui.Scroll
}

// ending is what is said about a run. It is also the message that it is known.
type ending struct {
	conclusion.Conclusion
	of    *analysis.Run
	since string // how it compares with the run before; "": not known
	over  bool
}

// newResult makes the tab; past may be nil.
func newResult(past ui.Source) *Result {
	return &Result{tab: newTab("Result"), past: past, text: ui.NewScroll()}
}

// SetSize implements ui.Page.
func (r *Result) SetSize(size ui.Size, theme *ui.Theme) {
	r.tab.SetSize(size, theme)
	r.made = nil
}

// Update implements ui.Page.
func (r *Result) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StateMsg:
		r.StateMsg = msg
		if r.over && r.version != msg.State.Version {
			r.version = msg.State.Version
			return r.conclude()
		}
	case *ending:
		r.end = msg
	default:
		r.text.Update(msg)
	}
	return nil
}

// conclude returns the command that concludes: merging the latencies of a long run takes a moment.
func (r *Result) conclude() tea.Cmd {
	past, run, trials := r.past, r.State.Run, r.State.Results()
	run.Trials = slices.Clone(run.Trials)
	return func() tea.Msg {
		e := &ending{of: analysis.Of(run, trials), over: true}
		e.Conclusion = conclusion.Of(e.of, floorOf(past, run))
		e.since = since(past, e.of)
		return e
	}
}

// soFar concludes what is known of a run in progress.
func soFar(s *fold.State) *ending {
	e := &ending{of: analysis.SoFar(s.Run, s.Results())}
	e.Conclusion = conclusion.Of(e.of, nil)
	return e
}

// View implements ui.Page.
func (r *Result) View() string {
	e := r.end
	if !r.over {
		e = r.soFar.of(r.State, soFar)
	}
	switch {
	case e == nil:
		return r.stack(ui.Text(1, " The results are being read…"))
	case len(e.of.Contenders) == 0:
		return r.stack(ui.Text(1, " No contender has results yet."))
	case r.made != e:
		r.made = e
		r.text.SetText(r.size, func(w int) []string { return e.lines(r.theme, w) })
	}
	return r.stack(ui.Block{Priority: 1, Least: r.size.Height, Draw: func(w, h int) string { return r.text.Draw(r.theme, w, h) }})
}

// lines are the text: the verdict in its tone, how it compares with the run before, and all else.
func (e *ending) lines(t *ui.Theme, w int) []string {
	var steps []analysis.Contender
	if e.over {
		steps = e.of.Ordered()
	}
	text, verdict := plain.Page(e.Conclusion, w, steps...)
	if e.of.Run.AcceptFailedChecks {
		text = slices.Insert(text, verdict, ui.Wrap("! Failed checks were accepted (--accept-failed-checks): responses may be wrong.", w)...)
	}
	if e.since != "" {
		text = slices.Insert(text, verdict, ui.Wrap(e.since, w)...)
	}
	return t.Said(text, verdict, e.Tone, w)
}

// Keys implements ui.Page.
func (r *Result) Keys() ui.Keys {
	scroll := ui.ScrollKeys()
	if r.end == nil {
		return ui.Keys{Short: scroll[:1:1], Groups: []ui.Group{{Title: "result", Keys: scroll}}}
	}
	other := "compare with…"
	if len(r.State.Run.Profile.Contenders) == 2 {
		other = "compare both"
	}
	ways := []key.Binding{ui.Hint("steps", ui.Enter), ui.Hint("run again", ui.Start), ui.Hint(other, ui.Compare), ui.Hint("", ui.Report),
		ui.Hint("", ui.Runs), ui.Hint("charts", ui.View)}
	if resumable(r.State) {
		ways = slices.Insert(ways, 1, ui.Hint("", ui.Resume))
	}
	return ui.Keys{Short: ways[:6], Groups: []ui.Group{{Title: "on from here", Keys: ways}, {Title: "result", Keys: scroll}}}
}

// way handles a key on the result after the end of the run: a way on from there.
func (r *Run) way(k ui.Key) tea.Cmd {
	switch k {
	case ui.View:
		r.at = len(r.tabs) - 1
	case ui.Enter:
		r.at = 1
	case ui.Runs:
		return r.options.Runs()
	case ui.Compare:
		return r.compare()
	case ui.Resume:
		if !resumable(&r.state) {
			return nil
		}
		command, err := ui.ResumeCommand(r.options.Session.Dir())
		return ui.AskStart("Resume this run?", command, err, starts("--resume", r.options.Session.Dir()), r.size)
	case ui.Start:
		args, command, err := ui.Again(r.state.Run)
		return ui.AskStart("Run again?", command, err, starts(args...), r.size)
	}
	return nil
}

// compare compares the two contenders of the run; of another number each with the previous run of
// the profile.
func (r *Run) compare() tea.Cmd {
	past, run, dir, link := r.options.Past, r.state.Run, r.options.Session.Dir(), r.options.Compare
	if len(run.Profile.Contenders) == 2 {
		return link(dir, dir)
	}
	return func() tea.Msg {
		last := previous(past, run)
		if last == nil {
			return ui.TellMsg{Text: "no earlier run of this profile; mark two in past runs (b)", Bad: true}
		}
		return link(last.Dir, dir)()
	}
}
