package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// restAfter is the pause after a failed probe: its queue must not slow down the next one.
const restAfter = time.Second

// capacitySearch chooses the steps of one search. The runner calls it from one goroutine.
type capacitySearch struct {
	options *Options
	config  capacity.Config
	slo     profile.Conditions
	log     *recorder
	point   int // index in the log
	run     *bench.Run
	publish func(*bench.Trial, bench.Event)

	search *capacity.Search // nil until the warm-up has ended
	err    error            // the reason for an early end of the search

	mu      sync.Mutex // guards what is below, which another goroutine shows
	running capacity.Probe
	left    int           // probes
	probed  time.Time     // start of the first probe
	since   time.Duration // from probed to the start of the current one
}

// Begin implements app.Search.
func (s *capacitySearch) Begin(run *bench.Run, publish func(*bench.Trial, bench.Event)) {
	s.run, s.publish = run, publish
}

// Next assesses the last probe and chooses the next one.
func (s *capacitySearch) Next(ctx context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool) {
	if len(done) == 0 {
		return s.run.Profile.Steps[0], true
	}
	last := done[len(done)-1]
	switch {
	case last.Aborted != "": // skipped: it has no result and is repeated
		if s.search == nil {
			return s.run.Profile.Steps[0], true
		}
	case last.Step.WarmUp && s.search != nil: // of a contender that was started again
	case s.search == nil:
		if s.config.Start == 0 {
			s.config.Start = max(last.Load.Throughput()/2, s.config.Min)
		}
		s.search, s.err = capacity.New(s.config)
	default:
		s.err = s.end(ctx, trial, last)
	}
	if s.err != nil {
		return bench.Step{}, false
	}
	probe, more := s.search.Next()
	s.mu.Lock()
	s.running, s.left = probe, s.search.Left()
	if s.probed.IsZero() {
		s.probed = time.Now()
	}
	s.since = time.Since(s.probed)
	s.mu.Unlock()
	return s.options.step(probe), more
}

// more reports whether another probe follows.
func (s *capacitySearch) more() bool {
	_, more := s.search.Next()
	return more && s.err == nil
}

// killed reports whether the kernel killed the contender in a probe because its memory was full. That
// probe's rate is then recorded as not sustained. The stream of the run has ended: out shows it.
func (s *capacitySearch) killed(ctx context.Context, dir string, err error, out *plain.Printer) bool {
	if err == nil || s.err != nil || s.search == nil || ctx.Err() != nil {
		return false
	}
	_, trials, readErr := results.Read(dir)
	if readErr != nil || len(trials) != 1 || trials[0].Exit == nil || !trials[0].Exit.OOMKilled {
		return false
	}
	t := trials[0]
	if len(t.Steps) == 0 || t.Steps[len(t.Steps)-1].Step.WarmUp || t.Steps[len(t.Steps)-1].Ending != bench.EndedByDeath {
		return false
	}
	why := "killed: out of memory"
	if m := s.run.Profile.LimitsOf(s.run.Profile.Contenders[0]).Memory; m > 0 {
		why += " under its limit of " + units.Bytes(m)
	}
	s.publish = func(_ *bench.Trial, e bench.Event) { out.Handle(bench.Record{Event: e}) }
	s.err = s.record(capacity.Verdict{}, t.Trial, t.Steps[len(t.Steps)-1], []string{why})
	return true
}

// end assesses, saves and publishes a finished probe.
func (s *capacitySearch) end(ctx context.Context, trial bench.Trial, res bench.StepResult) error {
	cpus := s.run.Profile.LimitsOf(s.run.Profile.Contenders[0]).CPUs
	verdict, why := capacity.Assess(s.slo, res, cpus, s.run.Profile.MaxUnexpected)
	if err := s.record(verdict, trial, res, why); err != nil {
		return err
	}
	if _, more := s.search.Next(); more && !verdict.Sustained {
		select {
		case <-ctx.Done():
		case <-time.After(cmp.Or(s.options.rest, restAfter)):
		}
	}
	return nil
}

// record saves and publishes the verdict on the current probe.
func (s *capacitySearch) record(verdict capacity.Verdict, trial bench.Trial, res bench.StepResult, why []string) error {
	probe, _ := s.search.Next()
	s.search.Record(verdict)
	outcome := verdict.Outcome(probe, res, why)
	point := &s.log.record.Points[s.point]
	point.Outcomes, point.Result = append(point.Outcomes, outcome), s.search.Result()
	s.publish(&trial, bench.Notice{Level: "info", Text: probeRow(outcome)})
	if err := s.log.write(); err != nil {
		return fmt.Errorf("save the probe: %w", err)
	}
	return nil
}

// progress returns the current probe and the estimated time left, by the mean time of the probes so far.
func (s *capacitySearch) progress() (probe capacity.Probe, left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	each := s.options.perProbe()
	if done := s.running.Number - 1; done > 0 {
		each = s.since / time.Duration(done)
	}
	return s.running, time.Duration(s.left) * each
}

// perProbe returns the assumed time of a probe: its length, its ends, and the pause after every second.
func (o *Options) perProbe() time.Duration { return o.Probe + 100*time.Millisecond + restAfter/2 }

// whole returns the assumed time of the search for one limit, with builds whose times are known.
func (s *capacitySearch) whole(run bench.Run) time.Duration {
	config := s.config
	config.Start = max(config.Start, config.Min)
	each, first := event.Overhead(run.Profile)
	left := 0
	if search, err := capacity.New(config); err == nil {
		left = search.Left()
	}
	return event.Before(run.Profile) + run.Builds.Last + each + first + s.options.WarmUp + time.Duration(left)*s.options.perProbe()
}

func probeRow(o capacity.Outcome) string {
	verdict := "sustained"
	if !o.Sustained {
		verdict = "no: " + capacity.Reason(o.Why)
	}
	return fmt.Sprintf(probeColumns, fmt.Sprint(o.Number), o.Phase, units.Number(o.Rate), units.Duration(o.P50),
		units.Duration(o.P99), units.Share(o.Errors), known(o.CPU > 0, fmt.Sprintf("%.2f", o.CPU)), verdict)
}

// known returns text if it is known, or a dash.
func known(is bool, text string) string {
	if is {
		return text
	}
	return units.Missing
}

const probeColumns = "%5s  %-7s  %9s  %8s  %8s  %7s  %5s  %s"

// recorder saves capacity.json.
type recorder struct {
	dir    string
	record capacity.Record
}

// add appends a point and returns its index.
func (l *recorder) add(p capacity.Point) int {
	p.Result.State = capacity.Searching
	l.record.Points = append(l.record.Points, p)
	return len(l.record.Points) - 1
}

func (l *recorder) write() error {
	return results.WriteJSON(filepath.Join(l.dir, capacity.File), l.record)
}

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
		if err := plain.End(env.Stdout, search.Conclusion, width); err != nil {
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
