package run

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

const (
	logKept   = 2_000 // newest lines of output that are shown, of all contenders
	logBefore = 3     // lines of output that are shown before an error
)

// What the log shows.
const (
	logEvents = iota
	logOutput
	logErrors
)

var logViews = [...]struct{ name, title, none string }{
	logEvents: {"events", "events, and output before errors", "nothing has happened yet"},
	logOutput: {"output", "output of all contenders", "no output"},
	logErrors: {"errors", "errors and warnings", "✓ no error, no warning"},
}

// Log is what happened in a run in order of time, with what the contenders have written.
type Log struct {
	tab
	view   int
	text   ui.Scroll
	made   madeOf // what the text was made of
	follow bool   // the last line stays in sight
}

// newLog makes the tab.
func newLog() page {
	return &Log{tab: newTab("Log"), follow: true, text: ui.NewScroll()}
}

// Update implements ui.Page.
func (l *Log) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		l.StateMsg = msg
		return nil
	}
	press, _ := msg.(tea.KeyPressMsg)
	if ui.KeyOf(press) == ui.View {
		l.view, l.follow = (l.view+1)%len(logViews), true
	} else if l.text.Update(msg) {
		l.follow = l.text.AtBottom()
	}
	return nil
}

// count implements page.
func (l *Log) count(t *ui.Theme) (text string) {
	if n := l.State.Errors; n > 0 {
		text = t.Glyph.Cross + units.Count(int64(n)) + " "
	}
	if n := l.State.Warnings; n > 0 {
		text += "!" + units.Count(int64(n))
	}
	return text
}

// logLine is an event, or a line that a contender has written.
type logLine struct {
	at    time.Time
	who   string // from outside
	sign  string
	paint ui.Paint
	text  string // from outside
}

// fill makes the text again if what it is made of has changed.
func (l *Log) fill() {
	of := madeOf{l.State, l.State.Version, l.view, l.theme, l.size}
	if of == l.made {
		return
	}
	l.made = of
	found := l.output()
	if l.view != logOutput {
		found = append(found, l.events()...)
	}
	slices.SortStableFunc(found, func(a, b logLine) int { return a.at.Compare(b.at) })
	who := len("you")
	for _, line := range found {
		who = max(who, min(fit.Width(ui.Outside(line.who, 200)), l.size.Width/4))
	}
	var all []string
	for _, line := range found {
		all = append(all, ui.Hang(l.gutter(line, who), said(line.text), l.size.Width-1, line.paint)...)
	}
	if len(all) == 0 {
		all = []string{" " + logViews[l.view].none}
	}
	l.text.SetContentLines(all)
}

// gutter is what is left of the text of a line: when, who and a sign. A narrow terminal has no room
// for who, a very narrow one none for when.
func (l *Log) gutter(line logLine, who int) string {
	sign := line.paint.S(line.sign) + strings.Repeat(" ", max(0, 4-fit.Width(line.sign)))
	at := l.theme.Faint.S(line.at.Local().Format("15:04:05"))
	switch {
	case l.size.Width < 32:
		return sign
	case l.size.Class == ui.Column:
		return at + " " + sign
	}
	return " " + at + "  " + fit.Exact(ui.Outside(line.who, 200), who) + "  " + sign
}

// events returns the diary, or its errors and warnings.
func (l *Log) events() (all []logLine) {
	t := l.theme
	for _, e := range l.State.Diary {
		line := logLine{at: e.At, sign: t.Faint.S(t.Glyph.Dot), text: e.Text}
		if e.Trial != nil {
			line.who = e.Trial.Label()
		}
		trouble := e.Level == plain.Error || e.Level == plain.Warning
		switch {
		case !trouble && l.view == logErrors:
			continue
		case e.Level == plain.Error:
			line.sign, line.paint = t.Glyph.Cross, t.Bad
		case e.Level == plain.Warning:
			line.sign, line.paint = "!", t.Warn
		case e.Level == plain.Done:
			line.sign = t.Good.S(t.Glyph.Check)
		case e.Level == plain.Mark:
			line.sign, line.paint, line.who = "n", t.Accent, "you"
		}
		if trouble && e.Earlier {
			line.paint, line.text = t.Faint, "before the resume: "+e.Text
		}
		all = append(all, line)
	}
	return all
}

// output returns the newest lines that contenders have written, or only the last before each error.
func (l *Log) output() (all []logLine) {
	for _, trial := range slices.Backward(l.State.Trials) {
		if n := len(trial.Log); l.view == logOutput {
			all = append(l.written(trial, max(0, n-logKept+len(all)), n), all...)
			continue
		}
		shown := 0
		for _, e := range l.State.Diary {
			if e.Level == plain.Error && e.Trial != nil && *e.Trial == trial.Result.Trial {
				end, _ := slices.BinarySearchFunc(trial.Log, e.At, func(line bench.LogLine, at time.Time) int {
					return cmp.Or(line.At.Compare(at), -1)
				})
				all = append(all, l.written(trial, max(shown, end-logBefore), end)...)
				shown = max(shown, end)
			}
		}
	}
	return all
}

// written returns lines that a contender has written. One that stands for others has no time: it
// takes that of the line before.
func (l *Log) written(trial *fold.Trial, from, to int) (all []logLine) {
	var before time.Time
	for i := from; i < to; i++ {
		e := &trial.Log[i]
		line := logLine{at: e.At, who: trial.Result.Trial.Label(), sign: "out", text: e.Text}
		switch {
		case e.LeftOut > 0:
			line.at, line.sign, line.paint = before, "", l.theme.Faint
		case e.Stream == "stderr":
			line.sign, line.paint = "err", l.theme.Warn
		}
		before = line.at
		all = append(all, line)
	}
	return all
}

// View implements ui.Page.
func (l *Log) View() string {
	l.fill()
	title, right := logViews[l.view].title, ""
	if l.size.Class == ui.Column {
		title = logViews[l.view].name
	}
	if l.follow && l.State.Ended == nil {
		right = "follows"
	}
	draw := func(w, h int) string {
		view := l.text.Draw(l.theme, w, h)
		if l.follow {
			l.text.GotoBottom()
			view = l.text.Draw(l.theme, w, h)
		}
		return view
	}
	return l.stack(ui.Text(1, l.theme.Rule(" "+l.theme.Title.S(title), right, l.size.Width)),
		ui.Block{Priority: 2, Least: 3, Most: ui.Rest, Draw: draw}, ui.Text(4, l.missing()...))
}

// missing says what the log does not have.
func (l *Log) missing() (lines []string) {
	dropped := int64(0)
	for _, trial := range l.State.Trials {
		dropped += max(0, trial.Dropped)
	}
	warn := func(text string) {
		lines = append(lines, ui.Hang(" "+l.theme.Warn.S("!")+" ", text, l.size.Width, l.theme.Warn)...)
	}
	if dropped > 0 {
		warn(units.Count(dropped) + " lines of output were skipped: too many at once")
	}
	if l.State.Unlogged() {
		warn("no events.jsonl: the last lines of output only")
	}
	return lines
}

// Keys implements ui.Page.
func (l *Log) Keys() ui.Keys {
	short := []key.Binding{ui.Hint("scroll", ui.Up, ui.Down), ui.Hint(logViews[(l.view+1)%len(logViews)].name, ui.View), ui.Hint("follow", ui.Last)}
	all := append(slices.Clone(short), ui.Hint("first", ui.First), ui.Hint("a page", ui.PageUp, ui.PageDown))
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "log", Keys: all}}, Legend: []string{
		"✗ error   ! warning   ✓ done   · event   n what you did   out, err: output of a contender",
	}}
}
