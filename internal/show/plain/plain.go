// Package plain reports a run as text or as JSON lines. It subscribes to the event stream. Talk
// (progress, steps as they end) goes to one writer and data (the final table, or the JSON lines) to
// the other, so a pipe gets only data. Package tui draws the live screen.
package plain

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// Options say how to report a run.
type Options struct {
	Out  io.Writer // data
	Talk io.Writer // everything else
	// Live makes Talk show a status line that rewrites itself: only for a terminal.
	Live  bool
	Width int  // of the terminal, in columns, for Live; 80 when 0
	Color bool // ANSI colors in Talk
	JSON  bool // Out gets every event as a JSON line; Talk gets only warnings and errors
	// Verbose reports more about each step than fits into its row.
	Verbose bool
	Quiet   bool        // Talk gets only warnings and errors
	Fail    func(error) // called once, with the first error in writing data; may be nil
}

// Printer reports the events of a run.
type Printer struct {
	opt      Options
	run      bench.Run
	narrator Narrator
	estimate event.Estimate
	trial    *trialText                 // the trial of the current event
	trials   map[bench.Trial]*trialText // running trials: several with interleaving
	owner    *bench.Trial               // the trial that the next lines are about; nil: the run
	heading  *bench.Trial               // the trial that the last lines were about
	status   string                     // the text of the status line
	engine   bench.Engine               // the load engine that was named last
	err      error
}

type trialText struct {
	bench.TrialResult
	began bool // the header of the table of steps was written
}

// New returns a printer.
func New(o Options) *Printer {
	if o.Width <= 0 {
		o.Width = 80
	}
	return &Printer{opt: o, trial: &trialText{}, trials: map[bench.Trial]*trialText{}}
}

// Err returns the first error in writing data.
func (p *Printer) Err() error { return p.err }

// Handle reports one event.
func (p *Printer) Handle(rec bench.Record) {
	if p.opt.JSON {
		p.json(rec)
		return
	}
	p.estimate.Apply(rec)
	if e, ok := rec.Event.(bench.RunStarted); ok {
		p.run = e.Run
	}
	if rec.Trial != nil {
		_, begins := rec.Event.(bench.TrialStarted)
		if begins {
			p.heading = rec.Trial
		}
		if p.trial = p.trials[*rec.Trial]; begins || p.trial == nil {
			p.trial = &trialText{TrialResult: bench.TrialResult{Trial: *rec.Trial}}
			p.trials[*rec.Trial] = p.trial
		}
		p.trial.Apply(rec.At, rec.Event)
	}
	p.report(rec)
}

// json writes an event as a line of JSON, and warnings as text.
func (p *Printer) json(rec bench.Record) {
	line, err := json.Marshal(rec)
	if err == nil {
		_, err = p.opt.Out.Write(append(safe.JSON(line), '\n'))
	}
	if p.err == nil && err != nil {
		p.err = fmt.Errorf("write to standard output: %w", err)
		if p.opt.Fail != nil {
			p.opt.Fail(p.err)
		}
	}
	if n, ok := rec.Event.(bench.Notice); ok && n.Level != "info" {
		fmt.Fprintf(p.opt.Talk, "%s: %s\n", n.Level, safe.Line(n.Text, 2000))
	}
}

func (p *Printer) report(rec bench.Record) {
	p.owner = rec.Trial
	all := p.narrator.Of(rec, &p.run, &p.trial.TrialResult, &p.estimate)
	switch e := rec.Event.(type) {
	case bench.PhaseStarted:
		p.show(rec, string(e.Phase)+" …")
	case bench.Progress:
		p.show(rec, progressText(e))
	case bench.PhaseEnded:
		if e.Err != "" && len(all) > 0 {
			all[0].Text = strings.Join(Reason(e.Err), "\n  ")
		}
	case bench.CheckDone:
		if p.opt.Quiet { // the end of the trial says it
			return
		}
	case bench.TrialStarted:
		p.line("")
	case bench.StepStarted:
		p.show(rec, fmt.Sprintf("step %d of %d: %s", e.Index+1, e.Of, e.Step.Name))
	case bench.WindowClosed:
		name, w := "", e.Window
		if e.Index < len(p.run.Profile.Steps) {
			name = p.run.Profile.Steps[e.Index].Name
		}
		p.show(rec, loadText(name, w.Throughput(), w.P50, w.P99, w.Failed.Total()))
	case bench.StepEnded: // a row instead of the sentence
		p.stepEnded(e.Result, all[1:])
		return
	case bench.RunEnded: // what follows says how
		p.clear()
		return
	}
	for _, s := range all {
		p.say(s)
	}
	if e, ok := rec.Event.(bench.TrialEnded); ok {
		if len(e.LastLog) > 0 && e.State == bench.TrialFailed { // after an interruption the log explains nothing
			p.always("  its log:")
			for _, l := range e.LastLog {
				p.always("    | " + safe.Line(l.Text, 300))
			}
		}
		delete(p.trials, p.trial.Trial)
	}
}

// say writes a sentence; if Quiet, only a warning or an error.
func (p *Printer) say(s Sentence) {
	color := map[Level]string{Error: red, Warning: yellow}[s.Level]
	switch {
	case s.Level == Mark || s.Level == Done:
	case s.fact():
		p.line("  %-8s %s", s.Label, s.Text)
	case s.Level == Head:
		p.line("%s%s", p.paint(bold, s.Label), s.Text)
	case s.Level == Info:
		p.line("  %s", s.Text)
	case s.Label == "":
		p.always(p.paint(color, map[Level]string{Error: "error: ", Warning: "warning: "}[s.Level]) + s.Text)
	default:
		p.always(p.paint(color, s.Label) + s.Text)
	}
}

// Reason returns the lines of an error, such as that of a build, with the last lines of its output.
func Reason(text string) []string {
	lines := safe.Lines(text, 20, 4000)
	for i := range lines[min(1, len(lines)):] {
		lines[i+1] = "    | " + strings.TrimPrefix(lines[i+1], "  ")
	}
	return lines
}

func (p *Printer) stepEnded(r bench.StepResult, remarks []Sentence) {
	narrow := p.opt.Live && p.opt.Width < wideRow
	if e := r.Load.Engine(); e != "" && e != p.engine {
		p.engine = e
		p.say(Sentence{Label: "engine", Text: string(e)})
	}
	if !p.trial.began {
		p.trial.began = true
		p.line("  %s", p.paint(faint, stepHeader(narrow)))
	}
	p.line("  %s", stepRow(r, narrow))
	if p.opt.Verbose {
		for _, d := range Details(r) {
			p.line("    %s", p.paint(faint, fmt.Sprintf("%-9s %s", d.Label, d.Text)))
		}
	}
	for _, s := range remarks {
		color := map[Level]string{Error: red, Warning: yellow, Info: faint}[s.Level]
		p.line("    %s%s", p.paint(color, s.Label), s.Text)
	}
}

const bold, faint, red, yellow = "1", "2", "31", "33"

func (p *Printer) paint(code, s string) string {
	if !p.opt.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *Printer) line(format string, args ...any) {
	if !p.opt.Quiet {
		p.always(fmt.Sprintf(format, args...))
	}
}

func (p *Printer) always(s string) {
	p.clear()
	// With several running contenders, a heading names the one that the lines are about.
	if trial := p.owner; trial != nil && p.heading != nil && *p.heading != *trial && !p.opt.Quiet {
		fmt.Fprintln(p.opt.Talk, " "+p.paint(bold, safe.Line(trial.Label(), 100)))
		p.heading = trial
	}
	fmt.Fprintln(p.opt.Talk, s)
}

// show rewrites the status line; without a terminal it does nothing.
func (p *Printer) show(rec bench.Record, what string) {
	if !p.opt.Live || p.opt.Quiet {
		return
	}
	text := units.Approx(p.estimate.Elapsed(rec.At).Truncate(time.Second)) + left(&p.estimate, rec.At) + "  "
	if rec.Trial != nil {
		text += rec.Trial.String() + "  "
	}
	p.status = fit.Cut(safe.Line(text+what, 4*p.opt.Width), p.opt.Width-1)
	fmt.Fprint(p.opt.Talk, "\r\x1b[K"+p.status)
}

func (p *Printer) clear() {
	if p.status != "" {
		fmt.Fprint(p.opt.Talk, "\r\x1b[K")
		p.status = ""
	}
}
