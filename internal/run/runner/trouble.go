package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/verdict"
)

// diagnosable is an instance that can say why it may not respond, as far as runtime and kernel know it.
type diagnosable interface {
	Diagnose(ctx context.Context) string // "" for nothing that they know of
}

// mortal is an instance of whose end the kernel may know before its runtime reports it.
type mortal interface {
	Gone() bool // its main process has ended
}

// lateEnd bounds the wait for how a contender has ended whose process is gone: an engine on a busy
// machine may report that many seconds later.
const lateEnd = 30 * time.Second

// dead says whether the contender has ended. Where only the kernel knows it so far, it waits until
// the runtime reports how: what is missing is not a response, and loading it further measures nothing.
func (l *trialRun) dead(ctx context.Context) bool {
	if m, ok := l.inst.(mortal); ok && l.inst.Exit() == nil && m.Gone() {
		late := time.NewTimer(lateEnd)
		defer late.Stop()
		select {
		case <-l.inst.Exited():
		case <-late.C:
		case <-ctx.Done():
		}
	}
	return l.inst.Exit() != nil
}

// questionTimeout bounds the questions that are asked about a contender that does not respond.
const questionTimeout = 3 * time.Second

// incidents are what has happened to a trial. They come from a goroutine of the launcher's.
type incidents struct {
	mu   sync.Mutex
	step *int // that runs
	all  []bench.Incident
}

func (i *incidents) begin(step int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.step = &step
}

// inStep returns those of the running step, before the first those of the trial. over says that it
// ends here.
func (i *incidents) inStep(over bool) []bench.Incident {
	i.mu.Lock()
	defer i.mu.Unlock()
	step := i.step
	if over {
		i.step = nil
	}
	return slices.DeleteFunc(slices.Clone(i.all), func(in bench.Incident) bool { return in.Step != step })
}

const mostIncidents = 200 // of one trial: somebody may pause and unpause all day

func (l *trialRun) reportIncident(in bench.Incident) {
	i := &l.incidents
	i.mu.Lock()
	defer i.mu.Unlock()
	in.Step = i.step
	// An engine may report the same thing twice.
	if n := len(i.all); n == mostIncidents {
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

// silentAtEnd reports whether a step ended in silence, and not for lack of requests: nothing succeeded
// all through its last second, or nothing of what was in flight at its end. The second is what one
// that was stopped in the last second leaves behind.
func silentAtEnd(res bench.Load) bool {
	if res.FailedTotal() == 0 {
		return false
	}
	if res.Backlog > 0 && res.Drain == 0 {
		return true
	}
	sent := slices.DeleteFunc(slices.Clone(res.Windows), func(w bench.Window) bool { return w.Drain })
	return len(sent) == 0 || sent[len(sent)-1].Succeeded == 0
}

// diagnose asks why the contender does not respond; "" when nobody knows.
func (l *trialRun) diagnose(ctx context.Context) string {
	d, ok := l.inst.(diagnosable)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), questionTimeout)
	defer cancel()
	return d.Diagnose(ctx)
}

// diagnoseSilence finds out why a step ended in silence, and reports it as an incident of the step. It
// returns the cause, and the error of a store that is away.
func (l *trialRun) diagnoseSilence(ctx context.Context) (cause string, store error) {
	if cause = l.diagnose(ctx); cause != "" {
		l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentSilent, Text: "no response: " + cause})
		return cause, nil
	}
	if l.cfg.StoreAlive == nil || ctx.Err() != nil {
		return "", nil
	}
	if store = l.cfg.StoreAlive(ctx); store == nil || ctx.Err() != nil {
		return "", nil
	}
	text := "store not responding: " + store.Error()
	l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentStore, Text: text})
	return "", store
}

// countStore reports it as an incident if the store's documents are not those that were counted last:
// what a contender changes, its competitors are asked for. An interrupted trial is counted after too.
func (l *trialRun) countStore(ctx context.Context, when string) {
	if l.cfg.StoreChange == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), questionTimeout)
	defer cancel()
	change, err := l.cfg.StoreChange(ctx)
	switch {
	case err != nil:
		l.notice("warning", "cannot tell if the store's data changed: "+err.Error())
	case change != "":
		text := "the store's data changed " + when + ": " + change
		l.reportIncident(bench.Incident{At: time.Now(), Kind: bench.IncidentData, Text: text})
	}
}

// warnings says what happened in a step, each with the time since its start.
func doubts(res bench.StepResult, incidents []bench.Incident) (all bench.Warnings) {
	const most = 10
	for n, in := range incidents {
		if n == most {
			return append(all, bench.Warning{Text: fmt.Sprintf("and %d incidents more", len(incidents)-most)})
		}
		var after time.Duration
		if !res.Load.Started.IsZero() && in.Kind != bench.IncidentSilent && in.Kind != bench.IncidentStore {
			after = in.At.Sub(res.Load.Started)
		}
		f := verdict.Incident(in, after)
		f.Text = clip(f.Text, progressBytes)
		all = append(all, f)
	}
	return all
}

// because adds what is known of why the contender does not answer to an error that does not say it.
func (l *trialRun) because(ctx context.Context, err error) error {
	if err == nil || l.inst == nil || ctx.Err() != nil || l.inst.Exit() != nil {
		return err
	}
	if cause := l.diagnose(ctx); cause != "" && !strings.Contains(err.Error(), cause) {
		return fmt.Errorf("%w: %s", err, cause)
	}
	return err
}

// engineGone adds to the death of a contender that its engine is away.
func (l *trialRun) engineGone(ctx context.Context, failure string) string {
	if l.cfg.EngineAlive == nil || l.died == nil || l.died.EngineLost {
		return failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), questionTimeout)
	defer cancel()
	if l.cfg.EngineAlive(ctx) != nil {
		failure += "; the container engine stopped responding"
	}
	return failure
}

// clockStep is what a clock must be set by to be reported: a time service's corrections are less.
const clockStep = 500 * time.Millisecond

// clock notices that this machine's clock is set while the run is under way.
type clock struct {
	began time.Time
	off   time.Duration // how far it has been set since then, as far as it was reported
}

// moved returns how far the clock has been set since it was asked last, back if negative.
func (c *clock) moved() time.Duration {
	now := time.Now()
	off := now.Round(0).Sub(c.began.Round(0)) - now.Sub(c.began) // Round takes the monotonic reading away
	moved := off - c.off
	if moved.Abs() < clockStep {
		return 0
	}
	c.off = off
	return moved
}

// lost returns what the trial has not measured; nil when that is nothing.
func (l *trialRun) lost() *bench.Lost {
	lost := &bench.Lost{Phase: l.failedIn}
	begun := len(l.steps)
	if l.cut != nil {
		begun++
		lost.Step, lost.Responses = &l.cut.Index, l.cut.Load.Succeeded
		if l.cut.Load.Elapsed > 0 {
			lost.After = &l.cut.Load.Elapsed
		}
	}
	if planned := l.cfg.Run.Profile.Steps; l.cfg.Next == nil && begun < len(planned) {
		for _, s := range planned[begun:] {
			lost.Steps = append(lost.Steps, s.Title())
		}
	}
	if lost.Step == nil && len(lost.Steps) == 0 {
		return nil
	}
	return lost
}
