package run

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// Overview is the charts of a trial over one time axis. Before the first step it shows what is waited for.
type Overview struct {
	tab
	soFar kept[*ending]
	steps Steps // for their table and the latencies
}

// newOverview makes the tab.
func newOverview() page { return &Overview{tab: newTab("Overview")} }

// Update implements ui.Page.
func (o *Overview) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(StateMsg); ok {
		o.StateMsg = msg
	}
	return nil
}

// charted reports whether there is something to draw over time.
func (o *Overview) charted() bool { return o.Trial != nil && len(o.Trial.Steps) > 0 }

// sideBy is the width of the second column, and leastSide that of a page that has one.
const sideBy, leastSide = 70, 160

// chartsWidth is the width of the charts.
func (o *Overview) chartsWidth() int {
	if o.size.Class == ui.Full && o.size.Width >= leastSide {
		return o.size.Width - sideBy - 2
	}
	return o.size.Width
}

// Which blocks of the page stay longest where there is little room (ui.Block).
const (
	keepThroughput = 1 + iota
	keepLatency
	keepAxis
	keepCPU
	keepMemory
	keepErrors
	keepSteps
	keepStandings
	keepEvents
)

// View implements ui.Page.
func (o *Overview) View() string {
	o.steps.tab = o.tab
	w, h := o.size.Width, o.size.Height
	if !o.charted() {
		return o.stack(o.waiting()...)
	}
	switch {
	case o.size.Class == ui.Column:
		return o.stack(o.column()...)
	case o.chartsWidth() == w:
		return o.charts(w, h)
	}
	side := func(w, h int) string { return ui.Stack(w, h, o.side(w)...) }
	return ui.NextTo(o.charts, side, o.chartsWidth())(w, h)
}

// charts draws the charts one below the other over one axis.
func (o *Overview) charts(w, h int) string {
	a := o.axis(w)
	block := func(m metric, priority, least int) ui.Block {
		if !mainCurve[m].any(o.Trial) {
			return ui.Text(priority, o.inLine(m, w)) // no empty chart
		}
		return ui.Block{Priority: priority, Least: least, Most: ui.Rest, Draw: func(w, h int) string {
			return strings.Join(o.chart(m, a, w, h), "\n")
		}}
	}
	blocks := []ui.Block{block(throughput, keepThroughput, 4), block(latency, keepLatency, 5), block(cpu, keepCPU, 4), block(memory, keepMemory, 3),
		ui.Text(keepAxis, a.Draw(o.theme, w)...), ui.Text(keepErrors, o.inLine(failures, w))}
	if o.size.Class == ui.Full {
		blocks = append(blocks, o.table(keepSteps))
	}
	return ui.Stack(w, h, blocks...)
}

// table is the steps around the newest one; one to come stays in sight.
func (o *Overview) table(priority int) ui.Block {
	t := o.steps.table()
	return ui.Block{Priority: priority, Least: min(len(t.Rows), 3) + 1, Most: len(t.Rows) + 1, Draw: func(w, h int) string {
		lines := t.Lines(w-2, o.theme.Tone)
		from := 1 + ui.Window(len(t.Rows), min(len(o.Trial.Steps), len(t.Rows)-1), len(t.Rows), h-1)
		return "  " + strings.Join(append(lines[:1:1], lines[from:]...), "\n  ")
	}}
}

// inLine is the line in place of a chart without points, or without room.
func (o *Overview) inLine(m metric, w int) string {
	return fit.Exact(o.theme.Title.S(o.head(m))+"  "+o.theme.Strong.S(o.value(m)), w)
}

// waiting is the page before the first step: the progress of the phase, the end of the contender's
// log, the last events, and what is known so far.
func (o *Overview) waiting() (blocks []ui.Block) {
	w := o.size.Width
	if p := o.State.Phase.Progress; p != nil && p.Text != "" && o.State.Ended == nil {
		blocks = append(blocks, ui.Text(2, append(ui.Wrap(ui.Outside(p.Text, 600), w), "")...))
	}
	var log []string
	if o.Trial != nil {
		lines := o.Trial.Log
		if len(lines) == 0 {
			lines = o.Trial.Result.LastLog
		}
		for _, l := range safe.FirstAndLast(lines, max(4, o.size.Height/2)) {
			log = append(log, ui.Wrap(ui.Outside(l.Text, 600), w)...)
		}
		if r := o.Trial.Result; r.State != bench.TrialRunning && r.State != bench.TrialPending {
			text := "No step was measured in this trial."
			if r.State == bench.TrialComplete {
				text = "This trial was complete before the run was resumed: its charts are not in memory."
			}
			blocks = append(blocks, ui.Text(1, append(ui.Wrap(text, w), "")...))
		}
	}
	blocks = append(blocks, o.lastLines("log", 4, log), o.lastLines("events", 3, o.events(w)))
	if o.Trial == nil || o.State.Ended != nil || o.size.Class == ui.Column {
		return blocks
	}
	return append(blocks, ui.Text(5, o.standings(w)...))
}

// events are the last events in lines of w cells, the newest last.
func (o *Overview) events(w int) (lines []string) {
	t, all := o.theme, o.State.Diary
	for _, l := range all[max(0, len(all)-o.size.Height):] {
		paint := map[plain.Level]ui.Paint{plain.Warning: t.Warn, plain.Error: t.Bad, plain.Mark: t.Accent}[l.Level]
		at := t.Faint.S(l.At.In(o.At.Location()).Format("15:04:05")) + "  "
		lines = append(lines, ui.Hang(at, ui.Outside(l.Text, 600), w, paint)...)
	}
	return lines
}

// lastLines is a block of the last of some lines under a title; absent without any.
func (o *Overview) lastLines(title string, priority int, lines []string) ui.Block {
	if len(lines) == 0 {
		return ui.Block{}
	}
	return ui.Block{Priority: priority, Least: 3, Most: len(lines) + 2, Draw: func(w, h int) string {
		head := o.theme.Rule(o.theme.Title.S(title), "", w)
		return strings.Join(append([]string{head}, lines[max(0, len(lines)-h+2):]...), "\n")
	}}
}

// Keys implements ui.Page.
func (o *Overview) Keys() ui.Keys {
	return ui.Keys{Legend: []string{"┊ a step begins · w: warm-up · ╌ quota and limit · ▼ a note or a change"}}
}
