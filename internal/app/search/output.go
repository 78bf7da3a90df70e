package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	texttable "github.com/locbench/locbench/internal/text/table"
)

// progress shows a search while it runs. It uses the printer of plain runs, but replaces the lines
// about steps by lines about probes.
type progress struct {
	env     console.Env
	options *Options
	search  *capacitySearch
	printer *plain.Printer
	started atomic.Bool // the run has begun, so there are results
	headed  bool        // the table of probes has its heading
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
		rec.Trial, rec.Event = nil, bench.Notice{Level: "info", Text: fmt.Sprintf(format, args...)}
		t.printer.Handle(rec)
	}
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		if !t.options.Output.Quiet {
			fmt.Fprintf(t.env.Stderr, "%s\n", safe.Line(e.Run.Profile.Title, 300))
		}
		say("results  %s", e.Dir)
	case bench.TrialStarted, bench.StepEnded, bench.LogLines:
	case bench.StepStarted:
		if e.Step.WarmUp {
			say("warm-up  %s, closed loop, %s", units.Length(e.Step.Duration), e.Step.Name)
		} else if !t.headed {
			t.headed = true
			_, left := t.search.progress()
			say("search   probes of %s, about %s in total", units.Length(t.options.Probe), units.Approx(left))
			say(probeColumns, "probe", "phase", "target req/s", "p50", "p99", "errors", "CPUs", "")
		}
	case bench.WindowClosed:
		w := e.Window
		text := fmt.Sprintf("%s req/s, p50 %s, p99 %s",
			units.Number(w.Throughput()), units.Duration(w.P50), units.Duration(w.P99))
		if probe, left := t.search.progress(); probe.Number > 0 {
			text = fmt.Sprintf("probe %d, %s: target %s/s, %s; about %s left",
				probe.Number, probe.Phase, units.Number(probe.Rate), text, units.Approx(left))
		}
		rec.Event = bench.Progress{Phase: bench.PhaseLoad, Text: text}
		t.printer.Handle(rec)
	default:
		t.printer.Handle(rec)
	}
}

// write prints the table, or the record as JSON. It returns an error if no rate was found.
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
		width, _ := console.Width(env.Stdout)
		table(&out, log.record, width)
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
		return console.WithCode(console.ExitThreshold, fmt.Errorf("no rate meets %s", log.record.SLO))
	}
	return nil
}

// table writes a row for each of the limits, then the meaning of the columns and notes, in lines of
// at most width cells where possible.
func table(out *bytes.Buffer, r capacity.Record, width int) {
	fmt.Fprintf(out, "%s, %s\n", safe.Line(r.Contender.String(), 130), safe.Line(r.SLO, 300))
	t := texttable.Table{Columns: []texttable.Column{{Title: "limits", Left: true}, {Title: "sustained req/s"}, {Title: "fails at", Drop: 1},
		{Title: "p50", Drop: 2}, {Title: "p99"}, {Title: "errors", Drop: 3}, {Title: "CPUs", Drop: 5}, {Title: "CPU/req", Drop: 4},
		{Title: "req/s per CPU"}, {Title: "probes", Drop: 6}}}
	for _, p := range r.Points {
		rate := units.Number(p.Result.Rate)
		if p.Result.State == capacity.AtLeast {
			rate = "≥ " + rate
		}
		o, ok := p.Confirming()
		t.Add(limitsText(p.Limits), known(p.Result.Rate > 0, rate), known(p.Result.Above > 0, units.Number(p.Result.Above)),
			known(ok, units.Duration(o.P50)), known(ok, units.Duration(o.P99)), known(ok, units.Share(o.Errors)),
			known(o.CPU > 0, fmt.Sprintf("%.2f", o.CPU)), known(o.CPU > 0, units.Duration(o.CPUEach)),
			known(ok && p.Limits.CPUs > 0, units.Number(p.Result.Rate/max(p.Limits.CPUs, 1e-9))), strconv.Itoa(p.Result.Probes))
	}
	for _, line := range t.Lines(width-2, nil) {
		out.WriteString("  " + line + "\n")
	}
	fmt.Fprintf(out, "\nSustained: highest rate that passed %d of %d probes of %s; latency from the scheduled time. "+
		"Fails at: next higher rate tried.\n", r.Need, r.Of, units.Length(r.Length))
	fmt.Fprintln(out, "p50, p99, errors, CPU: median confirming probe. req/s per CPU: per CPU of the limit.")
	for _, p := range r.Points {
		for _, text := range notes(p, r) {
			if len(r.Points) > 1 {
				text = p.Label + ": " + text
			}
			fmt.Fprintln(out, safe.Line(text, 1000))
		}
	}
}

// notes returns sentences about how the search of a point ended.
func notes(p capacity.Point, r capacity.Record) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	res, above, refusal := p.Result, units.Number(p.Result.Above), p.Refusal()
	switch {
	case res.State == capacity.None:
		add("no rate meets the SLO; even %s/s fails: %s", above, refusal)
	case res.State == capacity.Undecided:
		add("not confirmed within %d probes; try --max-probes, a longer --probe or a coarser --resolution", res.Probes)
	case res.State == capacity.Searching:
		add("search not finished; this is the best rate so far")
	case res.State == capacity.Found:
		add("%s/s fails: %s", above, refusal)
	case res.Client:
		add("at least: at %s/s the client or this machine was the limit, not the contender: %s", above, refusal)
	case res.Above > 0:
		add("at least: after %d probes the lowest failing rate is %s/s: %s", res.Probes, above, refusal)
	default:
		add("at least: stopped at --max-rate")
	}
	if o, ok := p.Confirming(); ok {
		if n := o.Rate * r.Length.Seconds(); n < 1000 {
			add("only about %.0f requests per probe: too few for high percentiles; use a longer --probe", n)
		}
	}
	if p.Failure != "" {
		add("stopped early: %s", p.Failure)
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
