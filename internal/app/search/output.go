package search

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// progress shows a search while it runs. It uses the printer of plain runs, but replaces the lines
// about steps by lines about probes.
type progress struct {
	env     console.Env
	options *Options
	search  *capacitySearch
	limits  int // number of searches
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
		each := ""
		if t.limits > 1 {
			each = fmt.Sprintf(" for each of %d limits", t.limits)
		}
		if probe, _ := t.search.progress(); probe.Number > 0 {
			break // the contender is started again
		}
		say("time     about %s%s%s", units.Approx(t.search.whole(e.Run)), each, event.Without(e.Run.Builds))
	case bench.TrialStarted, bench.StepEnded, bench.LogLines:
	case bench.StepStarted:
		if e.Step.WarmUp {
			say("warm-up  %s, closed loop, %s", units.Length(e.Step.Duration), e.Step.Name)
		} else if !t.headed {
			t.headed = true
			_, left := t.search.progress()
			say("search   probes of %s, about %s left", units.Length(t.options.Probe), units.Approx(left))
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

// write prints the conclusion, or the record as JSON. It returns an error if no rate was found.
func write(env console.Env, o Options, log *recorder) error {
	if o.Output.JSON {
		encoder := json.NewEncoder(safe.JSONWriter(env.Stdout))
		encoder.SetIndent("", " ")
		if err := encoder.Encode(log.record); err != nil {
			return fmt.Errorf("write to standard output: %w", err)
		}
	} else {
		search, err := app.ReadSearch(log.dir)
		if err != nil {
			return err
		}
		fmt.Fprintln(env.Stderr)
		width, _ := console.Width(env.Stdout)
		if err := plain.Conclusion(env.Stdout, search.Conclusion, width); err != nil {
			return fmt.Errorf("write to standard output: %w", err)
		}
	}
	fmt.Fprintf(env.Stderr, "\nresults  %s\n", filepath.Join(log.dir, capacity.File))
	if results.Has(log.dir, results.ReportFile) {
		fmt.Fprintf(env.Stderr, "report   %s\n", filepath.Join(log.dir, results.ReportFile))
	}
	if !slices.ContainsFunc(log.record.Points, func(p capacity.Point) bool { return p.Result.Rate > 0 || p.Failure != "" }) {
		return console.WithCode(console.ExitThreshold, fmt.Errorf("no rate meets %s", log.record.SLO))
	}
	return nil
}
