package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// filterBytes bounds the filter; searched bounds the part of a line that it is compared with.
const filterBytes, searched = 100, 4096

func (v *view) logPage(w, h int) []string {
	if v.trial == nil {
		return []string{v.l.Title.S("log"), "no contender started yet"}
	}
	all := v.trial.Log
	lines := v.filtered(all)
	title := v.titleOf("log") + ", " + units.Plural(len(all), "line")
	if v.s.Unlogged() && len(all) > 0 {
		title += v.l.Warn.S(", last lines only: no events.jsonl")
	}
	if v.trial.Dropped > 0 {
		title += v.l.Warn.S(", " + units.Count(v.trial.Dropped) + " skipped")
	}
	if v.b.shift > 0 {
		title += fmt.Sprintf(", from column %d", v.b.shift+1)
	}
	p := &v.b.pages[logs]
	body := p.show(len(lines), h-2, true, func(i int) []string { return []string{v.logLine(lines[i], w)} })
	if len(all) == 0 {
		body = []string{v.l.Faint.S(v.noLog())}
	} else if len(lines) == 0 {
		body = []string{v.l.Faint.S("no line matches")}
	}
	return append([]string{v.justify(w, title, v.position(p, len(lines)), ""), v.filterLine(w, len(lines))}, body...)
}

func (v *view) filterLine(w, n int) string {
	text, count := v.l.Accent.S("/ ")+v.out(v.b.filter.Text, filterBytes), "  "+units.Plural(n, "line")
	switch {
	case v.b.filter.Typing:
		return text + v.l.Select.S(" ") + v.l.Faint.S(count+"; enter keeps, esc clears")
	case v.b.filter.Text != "":
		return text + v.l.Faint.S(count+"; esc clears")
	}
	return v.l.Faint.S("e: stderr; / filter, " + v.l.Glyph.Left + "/" + v.l.Glyph.Right + " shift")
}

func (v *view) filtered(lines []bench.LogLine) []bench.LogLine {
	if v.b.filter.Text == "" {
		return lines
	}
	want := strings.ToLower(v.b.filter.Text)
	return slices.DeleteFunc(slices.Clone(lines), func(l bench.LogLine) bool {
		return !strings.Contains(strings.ToLower(l.Text[:min(len(l.Text), searched)]), want)
	})
}

func (v *view) logLine(line bench.LogLine, w int) string {
	text := v.out(line.Text, textBytes)
	if line.LeftOut > 0 { // of no stream, at no time
		return v.l.Faint.S(v.l.Cut(text, w))
	}
	if v.b.shift > 0 {
		text = ansi.TruncateLeft(text, v.b.shift, "")
	}
	mark, paint := "  ", ui.Paint{}
	if line.Stream == "stderr" {
		mark, paint = "e ", v.l.Warn
	}
	head := line.At.In(v.zone).Format("15:04:05") + " "
	return v.l.Faint.S(head) + paint.S(mark) + paint.S(v.l.Cut(text, max(1, w-len(head)-2)))
}

func (v *view) lastLog(w, h int) []string {
	all := v.trial.Log
	if len(all) == 0 {
		return []string{v.l.Faint.S(v.l.Cut(v.noLog(), w))}
	}
	var out []string
	for _, line := range all[max(0, len(all)-max(0, h)):] {
		out = append(out, v.logLine(line, w))
	}
	return out
}

func (v *view) noLog() string {
	switch v.trial.Result.State {
	case bench.TrialComplete, bench.TrialFailed, bench.TrialAborted:
		if v.s.Unlogged() {
			return "log not saved: no events.jsonl"
		}
		return "no output"
	}
	return "no output yet"
}
