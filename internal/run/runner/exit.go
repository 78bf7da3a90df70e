package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// stop stops the instance even if ctx is canceled: an interrupted run must not leave containers.
// One that handles SIGTERM and does not stop fails its trial, unless the trial has failed before.
func (l *trialRun) stop(ctx context.Context, failed bool) error {
	if l.isTarget() {
		_, err := l.inst.Stop(context.WithoutCancel(ctx), l.cfg.Grace)
		return err
	}
	return l.phase(bench.PhaseStop, func() (string, error) {
		grace, known := l.cfg.Grace, l.ignoresStop()
		if known {
			grace = 0
		}
		stop, err := l.inst.Stop(context.WithoutCancel(ctx), grace)
		if err != nil {
			err = fmt.Errorf("stop: %w", err)
			l.notice("error", err.Error()) // shown in an interrupted or quiet run too: the contender may still run
			return "", err
		}
		stop.Forced = stop.Forced || known && stop.Killed
		l.publish(bench.InstanceStopped{Stop: stop})
		if known && stop.Killed && !stop.Exit.OOMKilled {
			return "killed at once: " + stop.SignalName() + " was ignored in an earlier round", nil
		}
		if stop.Forced {
			return "killed: stop was forced", nil // no warning: the contender had no time to stop
		}
		hung := stop.Killed && stop.Handled && !failed && ctx.Err() == nil && l.unanswered == nil
		if stop.Killed && !hung {
			l.warn(verdict.Hung(l.cfg.Grace, stop.SignalName(), !stop.Handled && l.inst.Info().Runtime.Traits().Container && !l.checksStop()))
			l.deaf[selection(*l.trial)] = !stop.Handled
		}
		if stop.Killed && l.unanswered != nil {
			return "", silent("did not respond to the teardown, did not stop on %s and was killed (SIGKILL): %v", stop.SignalName(), l.unanswered)
		}
		for _, c := range l.cfg.Checker.Stopped(stop) {
			l.checkDone(c)
		}
		if hung {
			return "", causeError{bench.Cause{Kind: bench.CauseHung, Text: fmt.Sprintf(
				"did not stop within %s of %s, which it handles, and was killed (SIGKILL)", l.cfg.Grace, stop.SignalName())}}
		}
		if l.died != nil || !stop.ExitedBeforeStop && !stop.Exit.OOMKilled {
			return "", nil
		}
		l.died = l.explained(&stop.Exit)
		if stop.ExitedBeforeStop { // after the last check that it still runs
			return "", fmt.Errorf("the contender exited before it was stopped: %s", stop.Exit)
		}
		// The kernel killed it only after the stop had begun.
		return "", fmt.Errorf("the contender ran out of memory while stopping: %s", stop.Exit)
	})
}

// ignoresStop reports whether the contender ignored SIGTERM in an earlier round, and its stop is
// neither checked nor needed to find out whether it hangs.
func (l *trialRun) ignoresStop() bool {
	return l.deaf[selection(*l.trial)] && !l.checksStop() && l.unanswered == nil
}

// checksStop reports whether a check times the stop. It then has the remedy for SIGTERM ignored.
func (l *trialRun) checksStop() bool {
	return slices.Contains(l.cfg.Run.Profile.Checks.Lifecycle, bench.CheckStops)
}

// orExit returns the exit of the instance if it has exited, since that explains err; else err.
func (l *trialRun) orExit(ctx context.Context, err error) error {
	l.awaitExit(ctx, err)
	if exit := l.inst.Exit(); exit != nil {
		return l.exitError(exit)
	}
	return err
}

// causeError is the failure of a trial that the contender did not complete.
type causeError struct{ bench.Cause }

func (e causeError) Error() string { return e.String() }

func (l *trialRun) exitError(exit *bench.Exit) causeError {
	info := l.inst.Info()
	return causeError{*bench.CauseOf(*l.explained(exit), &info)}
}

// cause returns why the contender, or a need, failed the trial with err; nil if neither did.
func (l *trialRun) cause(err error) *bench.Cause {
	if l.lostNeed != nil {
		return l.lostNeed
	}
	if l.died != nil {
		return new(l.exitError(l.died).Cause)
	}
	if e, ok := errors.AsType[causeError](err); ok {
		return &e.Cause
	}
	return nil
}

// explained returns exit with what the contender's log says about it. The kernel gives a program
// that it kills no time to say anything.
func (l *trialRun) explained(exit *bench.Exit) *bench.Exit {
	e := *exit
	if e.Signal != "SIGKILL" && !e.OOMKilled {
		e.Said = l.said()
	}
	return &e
}

// said returns the line of the log that most likely says why the contender failed; "" if none does.
func (l *trialRun) said() string {
	line := bench.LogLine{Text: safe.Telling(l.logs.excerpt(l.inst.Logs()))}
	if l.logs.masked != nil { // masked first: a secret across the cut would not be found
		line = l.logs.masked(line)
	}
	return safe.Line(line.Text, saidBytes)
}

const (
	relayLines = 50   // per event
	relayBytes = 2000 // per line
)

// logRelay publishes a contender's log, which may have a line per request, as one event per second.
type logRelay struct {
	publish func(bench.LogLines)              // never waits
	masked  func(bench.LogLine) bench.LogLine // without secrets; nil: unchanged

	mu      sync.Mutex
	head    safe.Head
	next    bench.LogLines
	pending bool // next is published within a second
	closed  bool
}

// add adds a line to the next event, or counts it as dropped if the event is full.
func (r *logRelay) add(line bench.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head.Size = firstLines
	r.head.Add(line)
	switch {
	case r.closed:
		return
	case len(r.next.Lines) == relayLines:
		r.next.Dropped++
		return
	case !r.pending:
		r.pending = true
		time.AfterFunc(time.Second, func() { r.flush(false) })
	}
	if len(line.Text) > relayBytes { // masked first: a secret across the cut would not be found
		if r.masked != nil {
			line = r.masked(line)
		}
		line.Text = clip(line.Text, relayBytes)
	}
	r.next.Lines = append(r.next.Lines, line)
}

// excerpt returns the lines that are kept of a log that ends with tail.
func (r *logRelay) excerpt(tail []bench.LogLine) []bench.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head.Size = firstLines
	return r.head.Excerpt(tail, keptLines)
}

// flush publishes the lines added so far. With last, lines added later are ignored.
func (r *logRelay) flush(last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.next.Lines) > 0 {
		r.publish(r.next)
	}
	r.next, r.pending, r.closed = bench.LogLines{}, false, r.closed || last
}

// clip shortens s to at most n bytes of whole characters, and marks that with "…".
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// The bounds of a teardown, for all its requests together. "docker stop" waits 10 s before it kills
// a locbench in a container.
const (
	teardownAtMost = time.Minute
	teardownWithin = 5 * time.Second // once the run was interrupted, or of a contender that does not respond
)

// Unsent is an error of Loader.TearDown, whose context ended before its last response.
type Unsent struct {
	Requests []string // names of those without a response
	Of       int      // number of requests of the teardown
	Begun    bool     // one request was sent
	Why      error
}

// Error implements error.
func (e *Unsent) Error() string {
	names := make([]string, len(e.Requests))
	for i, name := range e.Requests {
		names[i] = fmt.Sprintf("%q", safe.Line(name, 60))
	}
	all := strings.Join(names, ", ")
	if !e.Begun {
		return fmt.Sprintf("teardown was not sent (%s): %v", all, e.Why)
	}
	return fmt.Sprintf("teardown was not finished, %d of %d requests without a response (%s): %v",
		len(e.Requests), e.Of, all, e.Why)
}

// Unwrap returns the reason.
func (e *Unsent) Unwrap() error { return e.Why }

var (
	errTeardownForced = errors.New("the end was forced")
	errTeardownLate   = errors.New("the teardown took too long")
)

// tearDown sends the requests of the teardown if the contender still runs, also when ctx has ended:
// what the setup made is removed however the trial ends. err is the failure of the trial.
func (l *trialRun) tearDown(ctx context.Context, err error) {
	if l.inst.Exit() != nil {
		return
	}
	_, failed := errors.AsType[causeError](err)
	own, done := teardownContext(ctx, failed)
	defer done()
	if err = l.cfg.Loader.TearDown(own, l.place()); err == nil {
		return
	}
	if TimedOut(err) {
		l.unanswered = err
		err = fmt.Errorf("no response to the teardown: %w", err)
	}
	l.notice("warning", oneLine(err)+"; what the setup made may be left at "+l.inst.Info().Address)
	l.awaitExit(ctx, err)
}

// teardownContext returns the context of a teardown in a trial with ctx. It ends after
// teardownAtMost; teardownWithin after the end of ctx, or if the contender does not respond; and at
// once when the user forces the end.
func teardownContext(ctx context.Context, silent bool) (own context.Context, done func()) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	select {
	case <-bench.Forced(ctx):
		cancel(errTeardownForced)
		return own, func() {}
	default:
	}
	bound, interrupted := teardownAtMost, ctx.Done()
	if silent || ctx.Err() != nil {
		bound, interrupted = teardownWithin, nil
	}
	own, end := context.WithTimeoutCause(own, bound, errTeardownLate)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		var late <-chan time.Time
		for {
			select {
			case <-own.Done():
				return
			case <-bench.Forced(ctx):
				cancel(errTeardownForced)
			case <-late:
				cancel(errTeardownLate)
			case <-interrupted:
				interrupted, late = nil, time.After(teardownWithin)
			}
		}
	}()
	return own, func() {
		end()
		cancel(nil)
		<-watched
	}
}
