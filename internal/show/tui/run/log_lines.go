package run

import (
	"cmp"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// searched bounds the part of a line that a filter is compared with.
const searched = 4096

// logLine is one line: an event, or what a contender has written.
type logLine struct {
	at     time.Time
	who    string // from outside
	sign   string
	paint  ui.Paint
	text   string // of output as it came, of an event safe and wrapped
	output bool
	more   bool // continues the line above
}

// all returns the lines, made again if what they are made of has changed.
func (l *Log) all() []logLine {
	of := madeOf{l.State, l.State.Version, l.view, l.filter.Text(), l.theme, l.size}
	if of == l.made {
		return l.lines
	}
	l.made, l.lines = of, nil
	found := l.output()
	if l.view != logOutput {
		found = append(found, l.events()...)
	}
	byTime := func(a, b logLine) int { return a.at.Compare(b.at) }
	if !slices.IsSortedFunc(found, byTime) {
		slices.SortStableFunc(found, byTime)
	}
	for _, line := range found {
		switch {
		case !l.filter.Holds(line.who, line.text[:min(len(line.text), searched)]):
		case line.output:
			l.lines = append(l.lines, line)
		default:
			for _, part := range ui.Wrap(said(line.text), max(8, l.room())) {
				line.text = part
				l.lines = append(l.lines, line)
				line.more = true
			}
		}
	}
	return l.lines
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
	trials, n := l.State.Trials, 0
	for i := len(trials) - 1; i >= 0 && n < logKept; i-- {
		n += len(trials[i].Log)
		if n >= logKept {
			trials = trials[i:]
		}
	}
	for _, trial := range trials {
		if l.view == logOutput {
			all = append(all, l.written(trial, 0, len(trial.Log))...)
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
		line := logLine{at: e.At, who: trial.Result.Trial.Label(), sign: "out", text: e.Text, output: true}
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
