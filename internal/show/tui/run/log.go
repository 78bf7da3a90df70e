package run

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

const (
	logKept   = 20_000 // lines of output that are shown, of all contenders
	logBefore = 3      // lines of output that are shown before an error
	logShift  = 8      // cells
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
	filter ui.FilterBy
	lines  []logLine
	made   madeOf // what lines were made of
	top    int    // first line in sight, unless it follows
	follow bool   // the last line stays in sight
	shift  int    // cells by which output is shifted to the left
	h      int    // lines in sight in the last View
}

// newLog makes the tab.
func newLog() page { return &Log{tab: newTab("Log"), follow: true, filter: ui.NewFilter()} }

// Update implements ui.Page.
func (l *Log) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StateMsg:
		l.StateMsg = msg
		return nil
	case tea.MouseWheelMsg:
		l.scroll(ui.Wheel(msg))
		return nil
	}
	if cmd, used := l.filter.Update(msg); used {
		l.follow = true
		return cmd
	}
	press, _ := msg.(tea.KeyPressMsg)
	switch k := ui.KeyOf(press); k {
	case ui.View:
		l.view, l.follow, l.shift = (l.view+1)%len(logViews), true, 0
	case ui.Left:
		l.shift = max(0, l.shift-logShift)
	case ui.Right:
		l.shift = min(l.shift+logShift, searched)
	default:
		if by, ok := ui.Moves(k, l.h); ok {
			l.scroll(by)
		}
	}
	return nil
}

// Escape clears the filter.
func (l *Log) Escape() bool { return l.filter.Clear() }

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

func (l *Log) scroll(by int) {
	last := max(0, len(l.all())-l.h)
	if l.follow {
		l.top = last
	}
	l.top = max(0, min(l.top+by, last))
	l.follow = l.top == last
}

// inSight returns the lines in sight in a View of h lines.
func (l *Log) inSight() []logLine {
	all := l.all()
	last := max(0, len(all)-l.h)
	from := min(l.top, last)
	if l.follow {
		from = last
	}
	return all[from:min(len(all), from+l.h)]
}

// gutter is what is left of the text of a line: when, who and a sign. A narrow terminal has no room
// for who, a very narrow one none for when.
func (l *Log) gutter(line logLine) string {
	clock, who := "15:04:05", len("you")
	if l.size.Class != ui.Column {
		for _, trial := range l.State.Trials {
			who = max(who, min(fit.Width(ui.Outside(trial.Result.Trial.Label(), 200)), l.size.Width/4))
		}
	}
	if l.size.Class == ui.Full && line.output {
		clock = "15:04:05.000"
	}
	at, name := line.at.Local().Format(clock), fit.Cut(ui.Outside(line.who, 200), who)
	if line.more {
		at, name, line.sign = "", "", ""
	}
	sign := line.paint.S(line.sign) + strings.Repeat(" ", max(0, 4-fit.Width(line.sign)))
	switch {
	case l.size.Width < 32:
		return sign
	case l.size.Class == ui.Column:
		return l.theme.Faint.S(fit.Left(at, 8)) + " " + sign
	case l.size.Class == ui.Compact:
		return " " + l.theme.Faint.S(fit.Left(at, 8)) + "  " + fit.Left(name, who) + "  " + sign
	}
	return "  " + l.theme.Faint.S(fit.Left(at, 12)) + "  " + fit.Left(name, who) + "  " + sign + " "
}

// room is the width of the text of a line.
func (l *Log) room() int { return max(1, l.size.Width-fit.Width(l.gutter(logLine{}))-1) }

// View implements ui.Page.
func (l *Log) View() string {
	view, _ := ui.Stack(l.size.Width, l.size.Height,
		ui.Block{Priority: 2, Least: 4, Most: ui.Rest, Draw: l.draw}, l.filtered(&l.filter), ui.Text(4, l.legend()...))
	return view
}

// draw returns the title and the lines in sight.
func (l *Log) draw(w, h int) string {
	l.h = h - 1
	all, shown := l.all(), l.inSight()
	what := logViews[l.view]
	where := ""
	switch first := max(0, min(l.top, len(all)-l.h)) + 1; {
	case l.follow && len(shown) < len(all):
		where = fmt.Sprintf("last %d of ", len(shown))
	case len(shown) < len(all):
		where = fmt.Sprintf("%d to %d of ", first, first+len(shown)-1)
	}
	where += units.Plural(len(all), "line")
	if l.follow && l.State.Ended == nil {
		where += ", follows"
	}
	title := what.title
	if l.size.Class == ui.Column {
		title = what.name
	}
	out := []string{l.theme.Rule(" "+l.theme.Title.S(title), where, w)}
	for _, line := range shown {
		text := line.text
		if line.output {
			text = fit.Cut(ansi.TruncateLeft(said(text), l.shift, ""), l.room())
		}
		out = append(out, l.gutter(line)+line.paint.S(text))
	}
	switch {
	case len(all) > 0:
	case l.filter.Text() != "":
		out = append(out, " no line matches")
	default:
		out = append(out, " "+what.none)
	}
	return strings.Join(out, "\n")
}

// legend says what is not shown, and in a large terminal what the signs mean.
func (l *Log) legend() (lines []string) {
	if l.size.Class == ui.Column {
		return nil
	}
	dropped := int64(0)
	for _, trial := range l.State.Trials {
		dropped += max(0, trial.Dropped)
	}
	if l.size.Class == ui.Full {
		lines = append(lines, "")
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
	if l.size.Class == ui.Full {
		lines = append(lines, "  "+l.theme.Faint.S("out, err: what a contender wrote to standard output and standard error. n: what you did."))
	}
	return lines
}

// Keys implements ui.Page.
func (l *Log) Keys() ui.Keys {
	if l.filter.Typing() {
		return l.filter.Keys()
	}
	short := []key.Binding{ui.Hint("scroll", ui.Up, ui.Down),
		ui.Hint(logViews[(l.view+1)%len(logViews)].name, ui.View), ui.Hint("", ui.Filter),
		ui.Hint("long lines", ui.Left, ui.Right), ui.Hint("follow", ui.Last)}
	all := append(slices.Clone(short), ui.Hint("first", ui.First), ui.Hint("a page", ui.PageUp, ui.PageDown))
	return ui.Keys{Short: short, Groups: []ui.Group{{Title: "log", Keys: all}}, Legend: []string{
		"✗ error   ! warning   ✓ done   · event   n what you did   out, err: output of a contender",
	}}
}

// Typing implements ui.Page.
func (l *Log) Typing() bool { return l.filter.Typing() }
