// Package plain reports a run as text or as JSON lines. It subscribes to the event stream. Talk
// (progress, steps as they end) goes to one writer and data (the final table, or the JSON lines) to
// the other, so a pipe gets only data. Package tui draws the live screen.
package plain

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
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
	estimate event.Estimate
	trial    *trialText                 // the trial of the current event
	trials   map[bench.Trial]*trialText // running trials: several with interleaving
	owner    *bench.Trial               // the trial that the next lines are about; nil: the run
	heading  *bench.Trial               // the trial that the last lines were about
	status   string                     // the text of the status line
	engine   bench.Engine               // the load engine that was named last
	unbuilt  []string                   // failures of builds that were printed
	err      error
}

type trialText struct {
	bench.TrialResult
	checked  int      // checks of phases that ended
	began    bool     // the header of the table of steps was written
	reported []string // errors of phases that were printed
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
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		p.run = e.Run
		p.title(e)
	case bench.PhaseStarted:
		p.show(rec, string(e.Phase)+" …")
	case bench.Progress:
		p.show(rec, progressText(e))
	case bench.PhaseEnded:
		p.phaseEnded(e)
	case bench.TrialStarted:
		p.line("")
		p.line("%s, round %d of %d (%d of %d)%s", p.paint(bold, safe.Line(rec.Trial.Label(), 100)),
			rec.Trial.Round, p.run.Profile.Rounds, e.Number, e.Of, p.left(rec.At))
	case bench.InstanceStarted:
		p.fact("runs", "%s", instanceText(e.Info))
	case bench.InstanceReady:
		if e.StartUp > 0 {
			text := "first response"
			if f := e.FirstResponse; f != nil {
				text = "first good response (" + f.String() + ")"
			}
			p.fact("start-up", "%s from process start to %s", units.Duration(e.StartUp), text)
		}
	case bench.RequestsTimed:
		f := e.FirstRequests
		p.fact("request", "first %s, same connection %s, new connection %s", requestText(f.First), requestText(f.Typical()),
			requestText(f.TypicalNew()))
	case bench.CheckDone:
		if c := e.Check; c.Status == bench.CheckFailed {
			p.line("  %s %s/%s: %s", p.paint(red, "check failed"),
				safe.Line(c.Group, 60), safe.Line(c.Name, 100), safe.Line(c.Detail, 500))
		}
	case bench.StepStarted:
		p.show(rec, fmt.Sprintf("step %d of %d: %s", e.Index+1, e.Of, e.Step.Name))
	case bench.WindowClosed:
		p.show(rec, windowText(p.run.Profile.Steps, e))
	case bench.StepEnded:
		p.stepEnded(e.Result)
	case bench.Notice:
		p.notice(e)
	case bench.InstanceStopped:
		if n, ok := p.trial.Threads(); ok {
			p.fact("threads", "%s after the warm-up%s", units.Count(int64(n)), ofCPUs(p.trial.Instance))
		}
		if peak, ok := stats.TimeToPeak(p.trial.TrialResult); ok {
			p.fact("to peak", "%s from process start to within %.2g%% of %s/s (%s)",
				units.Duration(peak.After), 100*peak.Within, units.Number(peak.Level), safe.Line(peak.Step, 60))
		}
		p.fact("stopped", "%s", stopText(e.Stop))
	case bench.IncidentOccurred:
		p.always(p.paint(yellow, "warning: ") + safe.Line(e.Incident.String(), 1000))
	case bench.TrialEnded:
		p.trialEnded(e)
		delete(p.trials, p.trial.Trial)
	case bench.RunEnded:
		p.clear()
	}
}

func (p *Printer) title(e bench.RunStarted) {
	pr := e.Run.Profile
	p.line("%s: %s × %s, %s load, about %s total%s", p.paint(bold, "profile "+safe.Line(pr.Name, 60)),
		units.Plural(len(pr.Contenders), "contender"), units.Plural(pr.Rounds, "round"),
		units.Approx(pr.LoadDuration()), units.Approx(p.estimate.Total()), p.estimate.Without())
	p.fact("results", "%s", safe.Line(e.Dir, 500))
	if len(e.Run.Targets) > 0 && len(pr.Requests) == 1 {
		p.fact("request", "%s", safe.Line(pr.Requests[0].Name, 300))
	}
	switch why := e.Run.NotInterleaved(); {
	case pr.Interleave > 0:
		p.fact("order", "interleaved in slices from %s on: the contenders of a round run at the same time%s", units.Duration(pr.Interleave),
			ownNeeds(pr.Needs))
	case why != "":
		p.fact("order", "not interleaved: %s", safe.Line(why, 300))
	}
	if i := e.Run.Isolated; i != nil {
		p.fact("CPUs", "%s", safe.Line(i.Text, 300))
	}
	for _, w := range e.Run.Warnings { // from before the first event
		p.notice(bench.WarningNotice(w))
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

// ownNeeds returns ", each with its own db, cache"; "" if contenders share their needs.
func ownNeeds(all []bench.NeedSpec) string {
	var names []string
	for _, n := range all {
		if n.Own && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ", each with its own " + safe.Line(strings.Join(names, ", "), 120)
}

func (p *Printer) phaseEnded(e bench.PhaseEnded) {
	if e.Err != "" {
		if p.owner == nil && e.Phase != bench.PhaseBuild {
			return // the run ends with this error
		}
		switch text := safe.Joined(e.Err); {
		case e.Phase == bench.PhaseBuild: // also if Quiet: without a trial nothing else says it
			p.unbuilt = append(p.unbuilt, "build: "+text)
		case p.opt.Quiet: // the end of the trial says it
			return
		default:
			p.trial.reported = append(p.trial.reported, text)
		}
		for i, line := range Reason(e.Err) {
			if i == 0 {
				line = fmt.Sprintf("%-8s %s%s", e.Phase, p.paint(red, "failed: "), line)
			}
			p.always("  " + line)
		}
		return
	}
	switch e.Phase {
	case bench.PhaseNeeds, bench.PhaseSeed, bench.PhaseBuild, bench.PhaseRestore, bench.PhaseMigrate:
		if e.Note != "" {
			p.fact(string(e.Phase), "%s (%s)", safe.Line(e.Note, 300), units.Duration(e.Took))
		}
	case bench.PhaseCheck:
		p.checksEnded(e)
	}
}

func (p *Printer) checksEnded(e bench.PhaseEnded) {
	n := map[bench.CheckStatus]int{}
	var skipped []string // groups
	checks := p.trial.Checks[p.trial.checked:]
	for _, c := range checks {
		n[c.Status]++
		if group := safe.Line(c.Group, 60); c.Status == bench.CheckSkipped && !slices.Contains(skipped, group) {
			skipped = append(skipped, group)
		}
	}
	p.trial.checked = len(p.trial.Checks)
	if len(checks) == 0 {
		return
	}
	var of parts
	of.add(true, "%d passed", n[bench.CheckPassed]+n[bench.CheckInfo])
	of.add(n[bench.CheckFailed] > 0, "%s", p.paint(red, fmt.Sprintf("%d failed", n[bench.CheckFailed])))
	of.add(len(skipped) > 0, "%d skipped (%s)", n[bench.CheckSkipped], strings.Join(skipped[:min(len(skipped), 8)], ", "))
	p.fact("checks", "%s: %s (%s)", e.Note, strings.Join(of, ", "), units.Duration(e.Took))
}

func (p *Printer) stepEnded(r bench.StepResult) {
	narrow := p.opt.Live && p.opt.Width < wideRow
	if e := r.Load.Engine(); e != "" && e != p.engine {
		p.engine = e
		p.fact("engine", "%s", e)
	}
	if !p.trial.began {
		p.trial.began = true
		p.line("  %s", p.paint(faint, stepHeader(narrow)))
	}
	p.line("  %s", stepRow(r, narrow))
	if p.opt.Verbose {
		for _, line := range details(r) {
			p.line("    %s", p.paint(faint, line))
		}
	}
	remark := func(color, what, text string) {
		if text != "" {
			p.line("    %s %s", p.paint(color, what), safe.Line(text, 500))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Load.Failed)) {
		text := units.Count(r.Load.Failed[kind]) + " × " + safe.Line(kind.Words(), 60)
		if example := r.Load.Examples[kind]; example != "" {
			text += ", first: " + safe.Line(example, 300)
		}
		remark(red, "errors:", text)
	}
	for _, w := range r.AllWarnings() {
		remark(yellow, "warning:", w.Text)
	}
	if n := r.Load.SentAgain; n > 0 && !r.Load.Warnings.Has(bench.WarnSentAgain) {
		remark(faint, "sent again:", units.Count(n)+" of "+units.Plural(r.Load.Sent, "request")+", whose connection ended without a response")
	}
	for _, missed := range r.Missed() {
		remark(red, "threshold missed:", missedText(missed))
	}
	remark(red, "stopped early:", r.Aborted)
}

func (p *Printer) notice(n bench.Notice) {
	text := safe.Line(n.Text, 2000)
	if color := map[string]string{"error": red, "warning": yellow}[n.Level]; color != "" {
		p.always(p.paint(color, n.Level+": ") + text)
	} else {
		p.line("  %s", text)
	}
}

func (p *Printer) trialEnded(e bench.TrialEnded) {
	// A cause alone is the failure, which follows.
	if e.Excluded != nil && (e.Cause == nil || e.Excluded.Unexpected != nil) {
		p.always("  " + p.paint(red, "excluded: ") + safe.Line(e.Excluded.String(), 1000))
	}
	if e.State == bench.TrialComplete {
		return
	}
	if !slices.Contains(p.trial.reported, e.Failure) { // the same error may have ended a phase
		text := safe.Line(e.Failure, 4000)
		if slices.Contains(p.unbuilt, e.Failure) {
			text = "not built, as reported above"
		}
		p.always("  " + p.paint(red, string(e.State)+": ") + text)
	}
	if l := p.trial; e.Lost != nil && (l.StartUp != nil || len(l.Steps) > 0) { // else nothing was measured
		p.fact("lost", "%s", safe.Line(e.Lost.String(), 1000))
	}
	if len(e.LastLog) == 0 || e.State != bench.TrialFailed {
		return // after an interruption the log explains nothing
	}
	p.always("  its log:")
	for _, l := range e.LastLog {
		p.always("    | " + safe.Line(l.Text, 300))
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

// fact writes a line with a label.
func (p *Printer) fact(label, format string, args ...any) {
	p.line("  %-8s %s", label, fmt.Sprintf(format, args...))
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
	text := units.Approx(p.estimate.Elapsed(rec.At).Truncate(time.Second)) + p.left(rec.At) + "  "
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

// left returns the estimated time left as the end of a line; "" without an estimate.
func (p *Printer) left(at time.Time) string {
	if left := p.estimate.Words(at, "about "); left != "" {
		return ", " + left
	}
	return ""
}
