package runs

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// act does what a key means for the run under the cursor.
func (r *Runs) act(k ui.Key) tea.Cmd {
	e := r.current()
	switch {
	case e == nil:
		return nil
	case e.Err != nil:
		return ui.Cmd(ui.Outcome("", e.Err))
	}
	switch known := r.known[e.Dir]; {
	case k == ui.Enter:
		return r.options.Open(e.Dir)
	case k == ui.Space && r.list.marked == e.Dir:
		r.list.marked = ""
		r.fill()
	case k == ui.Space:
		r.list.marked = e.Dir
		r.fill()
	case k == ui.Compare:
		return r.compare(e)
	case k == ui.Report:
		report, dir := r.options.Report, e.Dir
		return func() tea.Msg { return ui.Outcome(report(dir)) }
	case k == ui.Resume && resumable(e):
		command, err := ui.ResumeCommand(e.Dir)
		return ui.AskStart("Resume it?", command, err, startMsg{[]string{"--resume", e.Dir}}, r.size)
	case known == nil:
	case k == ui.Copy:
		_, command, err := ui.Again(known.run.Run)
		return ui.Cmd(ui.Copied(command, err, "command"))
	case k == ui.Start:
		args, command, err := ui.Again(known.run.Run)
		return ui.AskStart("Run it again?", command, err, startMsg{args}, r.size)
	}
	return nil
}

// compare compares a run with the marked one; without a mark with the one before of its profile, or
// else its contenders.
func (r *Runs) compare(e *results.Entry) tea.Cmd {
	a, b := r.list.find(r.list.marked), e
	if a == nil {
		a = ui.Before(r.list.entries, e.Profile, e.Time())
	}
	if a == nil {
		a = e
	}
	if a.Time().After(b.Time()) {
		a, b = b, a
	}
	if a == b && len(e.Contenders) < 2 {
		return ui.Cmd(ui.TellMsg{Text: "nothing to compare it with: mark another run (space)", Bad: true})
	}
	return r.options.Compare(a.Dir, b.Dir)
}

// Keys implements ui.Page.
func (r *Runs) Keys() ui.Keys {
	if r.Typing() {
		return r.filter.Keys()
	}
	filter, back := ui.Hint("", ui.Filter), ui.Hint("", ui.Esc, ui.Leave)
	list := ui.Group{Title: "list", Keys: []key.Binding{
		ui.Hint("previous, next", ui.Up, ui.Down), ui.Hint("a page", ui.PageUp, ui.PageDown),
		ui.Hint("first, last", ui.First, ui.Last), filter, ui.Hint("", ui.Refresh), back,
	}}
	e := r.current()
	if e == nil {
		return ui.Keys{Short: []key.Binding{filter, back}, Groups: []ui.Group{list}}
	}
	open, mark, compare := ui.Hint("", ui.Enter), ui.Hint("", ui.Space), ui.Hint("", ui.Compare)
	start, report := ui.Hint("run again", ui.Start), ui.Hint("", ui.Report)
	keys := ui.Keys{Short: []key.Binding{open, mark, compare, start, report, filter}, Legend: []string{
		"✓ complete   ✗ with a failure   ○ ended early   ▶ in progress   ◉ marked",
		"c compares with the marked run, or else with the one before of the profile.",
	}}
	one := ui.Group{Title: "run", Keys: []key.Binding{open, mark, compare, start, report, ui.Hint("", ui.Copy)}}
	if resumable(e) {
		resume := ui.Hint("", ui.Resume)
		keys.Short[4], one.Keys = resume, append(one.Keys, resume)
	}
	keys.Groups = []ui.Group{one, list}
	return keys
}
