package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// diagnosable is an instance whose runtime and kernel may know why it does not respond.
type diagnosable interface {
	Diagnose(ctx context.Context) string // the cause; "" if unknown
}

// endsEarly is an instance whose end the kernel may know before its runtime reports it.
type endsEarly interface {
	Gone() bool // the main process has ended
}

// exitTimeout is the time limit for a runtime to report the exit of a contender whose process is
// gone: an engine on a busy machine may need many seconds.
const exitTimeout = 30 * time.Second

// exited reports whether the contender has ended. If only the kernel knows it so far, exited waits
// until the runtime reports the exit: more load would measure nothing.
func (l *trialRun) exited(ctx context.Context) bool {
	if e, ok := l.inst.(endsEarly); ok && l.inst.Exit() == nil && e.Gone() {
		late := time.NewTimer(exitTimeout)
		defer late.Stop()
		select {
		case <-l.inst.Exited():
		case <-late.C:
		case <-ctx.Done():
		}
	}
	return l.inst.Exit() != nil
}

// lostTimeout is the time limit for the exit of a contender that has closed a connection: its
// connections end before its runtime reports the exit.
const lostTimeout = 3 * time.Second

// awaitExit waits for the exit of the contender if err says that it closed the connection.
func (l *trialRun) awaitExit(ctx context.Context, err error) {
	lost := []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE}
	if l.isTarget() || !slices.ContainsFunc(lost, func(e error) bool { return errors.Is(err, e) }) {
		return
	}
	late := time.NewTimer(lostTimeout)
	defer late.Stop()
	select {
	case <-l.inst.Exited():
	case <-late.C:
	case <-ctx.Done():
	}
}

// diagnosisTimeout is the time limit of each diagnosis of a contender that does not respond.
const diagnosisTimeout = 3 * time.Second

// incidents are those of a trial. A goroutine of the launcher reports them.
type incidents struct {
	mu   sync.Mutex
	step *int // the running step; nil: none
	all  []bench.Incident
}

func (i *incidents) begin(step int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.step = &step
}

// inStep returns the incidents of the running step, which ends if ended; without one, all others.
func (i *incidents) inStep(ended bool) []bench.Incident {
	i.mu.Lock()
	defer i.mu.Unlock()
	step := i.step
	if ended {
		i.step = nil
	}
	return slices.DeleteFunc(slices.Clone(i.all), func(in bench.Incident) bool { return in.Step != step })
}

const maxIncidents = 200 // per trial: a script may pause and resume a contender without end

func (l *trialRun) reportIncident(in bench.Incident) {
	i := &l.incidents
	i.mu.Lock()
	defer i.mu.Unlock()
	in.Step = i.step
	// An engine may report the same incident twice.
	if n := len(i.all); n == maxIncidents {
		return
	} else if n > 0 {
		last := i.all[n-1]
		if last.Kind == in.Kind && last.Text == in.Text && last.Step == in.Step {
			return
		}
	}
	i.all = append(i.all, in)
	l.publish(bench.IncidentOccurred{Incident: in})
}

// silentAtEnd reports whether a step with errors ended without responses: no success in its last
// second or, if the contender hung within that second, among the requests in flight at the end.
func silentAtEnd(res bench.Load) bool {
	if res.FailedTotal() == 0 {
		return false
	}
	if res.Backlog > 0 && res.Drain == 0 {
		return true
	}
	n := len(res.Windows)
	return n == 0 || res.Windows[n-1].Succeeded+res.Windows[n-1].Rejected == 0
}

// diagnose returns why the contender does not respond; "" if runtime and kernel do not know.
func (l *trialRun) diagnose(ctx context.Context) string {
	d, ok := l.inst.(diagnosable)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosisTimeout)
	defer cancel()
	return d.Diagnose(ctx)
}

// diagnoseSilence reports why a step ended without responses as an incident of the step. It returns
// the cause, or the error of a need that does not respond.
func (l *trialRun) diagnoseSilence(ctx context.Context) (cause string, lost error) {
	if cause = l.diagnose(ctx); cause != "" {
		l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentSilent, Text: "no response: " + cause})
		return cause, nil
	}
	if ctx.Err() != nil {
		return "", nil
	}
	name, err := l.cfg.Needs.NeedsAlive(ctx, *l.trial)
	if err == nil || ctx.Err() != nil {
		return "", nil
	}
	text := name + " not responding: " + oneLine(err)
	l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentNeed, Text: text})
	return "", lostNeed(name, err)
}

// incidentWarnings returns a warning for each incident of a step, with the time since its start.
func incidentWarnings(res bench.StepResult, incidents []bench.Incident) (all bench.Warnings) {
	const most = 10
	for n, in := range incidents {
		if n == most {
			return append(all, bench.Warning{Text: fmt.Sprintf("and %d more incidents", len(incidents)-most)})
		}
		var after time.Duration
		if !res.Load.Started.IsZero() && in.Kind != bench.IncidentSilent && in.Kind != bench.IncidentNeed {
			after = in.At.Sub(res.Load.Started)
		}
		f := verdict.Incident(in, after)
		f.Text = clip(f.Text, progressBytes)
		all = append(all, f)
	}
	return all
}

// withCause adds the cause to the error of a contender that did not become ready, if it still runs
// and its runtime or kernel knows the cause. known is false otherwise.
func (l *trialRun) withCause(ctx context.Context, err error) (_ error, known bool) {
	if ctx.Err() != nil || l.inst.Exit() != nil {
		return err, false
	}
	if cause := l.diagnose(ctx); cause != "" {
		return fmt.Errorf("%w: %s", err, cause), true
	}
	return err, false
}

// engineGone adds to the failure of a contender that exited whether its engine stopped responding.
func (l *trialRun) engineGone(ctx context.Context, failure string) string {
	if l.died == nil || l.died.EngineLost {
		return failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosisTimeout)
	defer cancel()
	if l.cfg.Launcher.EngineAlive(ctx) != nil {
		failure += "; the container engine stopped responding"
	}
	return failure
}

// clockStep is the smallest change of a clock that is reported; time services make smaller ones.
const clockStep = 500 * time.Millisecond

// clock notices when this machine's clock is set during a run.
type clock struct {
	began time.Time
	off   time.Duration // the sum of the changes reported since began
}

// moved reports whether the clock was set since the last call, and by how much; negative means
// back.
func (c *clock) moved() (by time.Duration, set bool) {
	now := time.Now()
	off := now.Round(0).Sub(c.began.Round(0)) - now.Sub(c.began) // Round removes the monotonic reading
	by = off - c.off
	if by.Abs() < clockStep {
		return 0, false
	}
	c.off = off
	return by, true
}

// responds returns an error if the contender does not respond after the load: its trial is then not
// complete, whatever it measured. It reports that as an incident.
func (l *trialRun) responds(ctx context.Context) error {
	if l.inst.Exit() != nil {
		return nil
	}
	err := l.cfg.Checker.Responds(ctx, l.inst, l.svc)
	// The ready path may respond while the requests of the load hang.
	if n := len(l.steps); err == nil && n > 0 && stuckAtEnd(l.steps[n-1].Load) {
		err = l.cfg.Loader.Unanswered(ctx, l.place())
	}
	l.awaitExit(ctx, err)
	if err == nil || ctx.Err() != nil || l.inst.Exit() != nil {
		return nil
	}
	own := silent("did not respond after the load: %s", clip(err.Error(), progressBytes))
	l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentSilent, Text: own.Text})
	return own
}

// silent returns the failure of a contender that does not respond.
func silent(format string, args ...any) causeError {
	return causeError{bench.Cause{Kind: bench.CauseSilent, Text: fmt.Sprintf(format, args...)}}
}

// unanswered returns the failure of a contender that sent no response in time; else err.
func unanswered(err error, when string) error {
	if TimedOut(err) {
		return silent("did not respond %s: %s", when, clip(err.Error(), progressBytes))
	}
	return err
}

// TimedOut reports whether a request had no response.
func TimedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// stuckAtEnd reports whether at least half of the requests in flight at the end of a step, or all
// in its last second, had no response.
func stuckAtEnd(res bench.Load) bool {
	return res.Failed[bench.ErrTimeout] > 0 && (res.Backlog > 0 && 2*res.Drain <= res.Backlog || silentAtEnd(res))
}

// withoutResponse reports whether no request of a step had a response.
func withoutResponse(res bench.Load) bool {
	for kind, n := range res.Failed {
		switch kind {
		case bench.ErrTimeout, bench.ErrRefused, bench.ErrReset:
		default:
			if n > 0 {
				return false
			}
		}
	}
	return res.AllSucceeded() == 0
}

// killedProcesses returns an error if the kernel killed processes of a contender that still runs:
// what is left of it was measured.
func (l *trialRun) killedProcesses() error {
	kills, first := int64(0), 0
	for i, s := range l.steps {
		if s.After == nil || s.After.Memory == nil || s.After.Memory.OOMKills <= kills {
			continue
		}
		if kills = s.After.Memory.OOMKills; first == 0 {
			first = i + 1
		}
	}
	if kills == 0 || l.inst.Exit() != nil {
		return nil
	}
	info := l.inst.Info()
	return causeError{bench.KilledProcesses(kills, first, &info)}
}

// memoryLimit returns the enforced memory limit of the instance in bytes; 0: none.
func (l *trialRun) memoryLimit() int64 {
	if info := l.inst.Info(); info.LimitsEnforced {
		return info.Limits.Memory
	}
	return 0
}

// lost returns the steps that the trial has not measured; nil if it has measured all.
func (l *trialRun) lost() *bench.Lost {
	lost := &bench.Lost{Phase: l.failedIn}
	started := len(l.steps)
	if l.cut != nil {
		started++
		lost.Step, lost.Responses = &l.cut.Index, l.cut.Load.Succeeded
		if l.cut.Load.Elapsed > 0 {
			lost.After = &l.cut.Load.Elapsed
		}
	}
	if planned := l.cfg.Run.Profile.Steps; l.cfg.Next == nil && started < len(planned) {
		for _, s := range planned[started:] {
			lost.Steps = append(lost.Steps, s.Title())
		}
	}
	if lost.Step == nil && len(lost.Steps) == 0 {
		return nil
	}
	return lost
}
