package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"locbench/internal/bench"
	"locbench/internal/capacity"
	"locbench/internal/console"
	"locbench/internal/plain"
	"locbench/internal/results"
	"locbench/internal/safe"
	"locbench/internal/units"
)

// progress tells a search as it goes, through the printer of plain runs: the steps of a search are
// not those of a profile, so that it replaces what that says about steps.
type progress struct {
	env     console.Env
	options *Options
	hunt    *hunt
	printer *plain.Printer
	started atomic.Bool // the run has begun, so that there are results
	headed  bool
}

func (t *progress) follow(cancel context.CancelCauseFunc) func(bench.Record) {
	output := t.options.Output
	output.JSON = false // the events are in the results
	t.printer = output.Printer(t.env, cancel)
	t.started.Store(true)
	return t.handle
}

func (t *progress) handle(rec bench.Record) {
	say := func(format string, args ...any) {
		t.printer.Handle(bench.Record{Seq: rec.Seq, At: rec.At, Event: bench.Notice{Level: "info", Text: fmt.Sprintf(format, args...)}})
	}
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		if !t.options.Output.Quiet {
			fmt.Fprintf(t.env.Stderr, "%s\n", safe.Line(e.Run.Profile.Title, 300))
		}
		say("results  %s", e.Dir)
	case bench.LegStarted, bench.StepEnded, bench.LogLines:
	case bench.StepStarted:
		if e.Step.WarmUp {
			say("warm-up  %s, closed loop, %s", units.Length(e.Step.Duration), e.Step.Name)
		} else if !t.headed {
			t.headed = true
			_, left := t.hunt.progress()
			say("search   trials of %s, about %s in all", units.Length(t.options.Trial), units.Approx(left))
			say(trialColumns, "trial", "phase", "req/s due", "p50", "p99", "errors", "CPUs", "")
		}
	case bench.WindowClosed:
		text := fmt.Sprintf("%s req/s, p50 %s, p99 %s", units.Rate(e.Window.Throughput()), units.Duration(e.Window.P50), units.Duration(e.Window.P99))
		if trial, left := t.hunt.progress(); trial.Number > 0 {
			text = fmt.Sprintf("trial %d, %s: %s/s due, %s; about %s left", trial.Number, trial.Phase, units.Rate(trial.Rate), text, units.Approx(left))
		}
		t.printer.Handle(bench.Record{Seq: rec.Seq, At: rec.At, Leg: rec.Leg, Event: bench.Progress{Phase: bench.PhaseLoad, Text: text}})
	default:
		t.printer.Handle(rec)
	}
}

// write writes the table, or the record as JSON. It is an error that no rate was found.
func write(env console.Env, o Options, log *recorder) error {
	var out bytes.Buffer
	if o.Output.JSON {
		encoder := json.NewEncoder(safe.JSONWriter(&out))
		encoder.SetIndent("", " ")
		if err := encoder.Encode(log.record); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(env.Stderr)
		table(&out, log.record)
	}
	if _, err := env.Stdout.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	fmt.Fprintf(env.Stderr, "\nresults  %s\n", filepath.Join(log.dir, capacity.File))
	none := 0
	for _, p := range log.record.Points {
		if dir := filepath.Join(log.dir, p.Dir); results.Has(dir, results.ReportFile) {
			fmt.Fprintf(env.Stderr, "report   %s\n", filepath.Join(dir, results.ReportFile))
		}
		if p.Result.Rate == 0 && p.Failure == "" {
			none++
		}
	}
	if none == len(log.record.Points) {
		return console.WithCode(console.ExitThreshold, fmt.Errorf("no rate keeps %s", log.record.Objective))
	}
	return nil
}

// table has a row for each of the limits, and under it what the figures are and where to doubt them.
func table(out *bytes.Buffer, r capacity.Record) {
	fmt.Fprintf(out, "%s, %s\n", safe.Line(r.Contender.String(), 130), safe.Line(r.Objective, 300))
	tw := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "  limits\tsustained req/s\trefused at\tp50\tp99\terrors\tCPUs\tCPU/req\treq/s per CPU\ttrials\t\n")
	for _, p := range r.Points {
		rate, above := units.Missing, units.Missing
		if p.Result.Rate > 0 {
			rate = units.Rate(p.Result.Rate)
			if p.Result.State == capacity.AtLeast {
				rate = "≥ " + rate
			}
		}
		if p.Result.Above > 0 {
			above = units.Rate(p.Result.Above)
		}
		p50, p99, errs, cpus, each, per := units.Missing, units.Missing, units.Missing, units.Missing, units.Missing, units.Missing
		if o, ok := p.Confirming(); ok {
			p50, p99, errs = units.Duration(o.P50), units.Duration(o.P99), units.Ratio(o.Errors)
			if o.CPU > 0 {
				cpus, each = fmt.Sprintf("%.2f", o.CPU), units.Duration(o.CPUEach)
			}
			if p.Limits.CPUs > 0 {
				per = units.Rate(p.Result.Rate / p.Limits.CPUs)
			}
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", limitsText(p.Limits), rate, above, p50, p99, errs, cpus, each, per, p.Result.Trials)
	}
	_ = tw.Flush() // into memory
	fmt.Fprintf(out, "\nsustained: the highest rate that held in %d of %d trials of %s, latency from when a request was due; refused: the next one tried above it.\n",
		r.Need, r.Of, units.Length(r.Length))
	fmt.Fprintf(out, "p50, p99, errors and CPU are those of the median confirming trial; req/s per CPU is by the limit.\n")
	for _, p := range r.Points {
		for _, text := range notes(p, r) {
			if len(r.Points) > 1 {
				text = p.Label + ": " + text
			}
			fmt.Fprintln(out, safe.Line(text, 1000))
		}
	}
}

// notes say how the search of a point ended.
func notes(p capacity.Point, r capacity.Record) (notes []string) {
	res := p.Result
	refusal := p.Refusal()
	switch res.State {
	case capacity.None:
		notes = append(notes, fmt.Sprintf("no rate keeps the objective; even %s/s does not: %s", units.Rate(res.Above), refusal))
	case capacity.Undecided:
		notes = append(notes, fmt.Sprintf("nothing was confirmed within %d trials: --max-trials, longer trials (--trial) or a coarser --resolution may help", res.Trials))
	case capacity.Searching:
		notes = append(notes, "the search was not finished; what is reported is what it had found")
	case capacity.AtLeast:
		switch {
		case res.Client:
			notes = append(notes, fmt.Sprintf("at least: at %s/s the client or this machine did not keep up, so that nothing is known about the contender there: %s", units.Rate(res.Above), refusal))
		case res.Above > 0:
			notes = append(notes, fmt.Sprintf("at least: after %d trials the next rate that is known not to hold is %s/s: %s", res.Trials, units.Rate(res.Above), refusal))
		default:
			notes = append(notes, "at least: nothing above was tried (--max-rate)")
		}
	case capacity.Found:
		notes = append(notes, fmt.Sprintf("%s/s was refused: %s", units.Rate(res.Above), refusal))
	}
	if o, ok := p.Confirming(); ok && o.Rate*r.Length.Seconds() < 1000 {
		notes = append(notes, fmt.Sprintf("a trial had only about %.0f requests: high quantiles of so few say little; longer trials (--trial) have more", o.Rate*r.Length.Seconds()))
	}
	if p.Failure != "" {
		notes = append(notes, "ended early: "+p.Failure)
	}
	return notes
}

func limitsText(l bench.Limits) string {
	var parts []string
	if l.CPUs > 0 {
		parts = append(parts, units.CPUs(l.CPUs))
	}
	if l.Memory > 0 {
		parts = append(parts, units.Bytes(l.Memory))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
