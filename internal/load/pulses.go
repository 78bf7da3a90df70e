package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
)

const (
	// A rest that settling asks for is of restLeast windows. It goes on, up to restMost of them,
	// while the contender uses more than restBusy CPUs: its compilers have not caught up then.
	restLeast = 1
	restMost  = 10
	restBusy  = 0.1
)

// pulsed tells whether a step is run in bursts.
func pulsed(s bench.Step) bool { return s.Pulses != nil || s.Settle }

// runPulses is Run for a step in bursts: as its Pulses say, or with a rest when the rule of
// settling wants one. A burst is a turn, as those of runTurns are. The figures of the load are of
// the bursts, put together; its windows are where they were, with gaps for the rests. Rests count
// for the duration of the step.
func (e Engine) runPulses(ctx context.Context, plan Plan, connections int, onWindow func(bench.Window)) (bench.Load, error) {
	if plan.Step.NoPulses() != "" {
		return bench.Load{}, fmt.Errorf("load step %q: it cannot be run in bursts", plan.Step.Name)
	}
	if e.Keep == nil {
		e.Keep = &Kept{}
		defer e.Keep.Close()
	}
	if onWindow == nil {
		onWindow = func(bench.Window) {}
	}
	p := &pulses{plan: plan, window: e.window(), meter: meter{read: plan.CPU}}
	var together turnsTogether
	var began time.Time
	for n := 0; ; n++ {
		burst := plan
		if n > 0 {
			burst.Step.Duration = plan.Step.Duration - time.Since(began)
		}
		if plan.Step.Pulses != nil {
			burst.Step.Duration = min(burst.Step.Duration, plan.Step.Pulses.Burst)
		}
		if burst.Step.Duration <= 0 || ctx.Err() != nil {
			break
		}
		p.advice = goOn
		p.ending.Store(false)
		burst.OnStart = func() {
			call(plan.OnStart)
			p.meter.start()
		}
		at := func(rec *record.Recorder) time.Duration {
			if n == 0 {
				return 0
			}
			return rec.Began().Sub(began)
		}
		delivered := 0
		if together.all != nil {
			delivered = len(together.all.Windows)
		}
		rec, err := together.run(ctx, e, burst, n, connections, p.closed, func(rec *record.Recorder, w bench.Window) {
			// The few milliseconds that it takes to end the burst are still to come into its last
			// window.
			if w.Start += at(rec); !p.ending.Load() {
				delivered++
				onWindow(w)
			}
		})
		if err != nil {
			return bench.Load{}, err
		}
		if rec == nil {
			break
		}
		together.all.AddBurst(rec, at(rec), p.window)
		for _, w := range together.all.Windows[delivered:] {
			onWindow(w)
		}
		if n == 0 {
			began = rec.Began()
		}
		if p.advice == isSettled {
			w := together.all.Windows[len(together.all.Windows)-1]
			together.all.Settled = w.Start + w.Length
			break
		}
		least, most := restLeast*p.window, restMost*p.window
		if fixed := plan.Step.Pulses; fixed != nil {
			least, most = fixed.Rest, fixed.Rest
		}
		left := plan.Step.Duration - time.Since(began)
		if left <= least {
			break // no burst would come behind the rest
		}
		p.rest(ctx, least, min(most, left))
	}
	load, err := together.finish(ctx, e, plan)
	if p.rests.Count > 0 {
		load.Rests = &p.rests
	}
	return load, err
}

// pulses is the state of a step in bursts.
type pulses struct {
	plan   Plan
	window time.Duration
	rule   settling
	advice advice // what the last window of a burst has come to
	ending atomic.Bool
	meter  meter
	rests  bench.Rests
}

// closed takes in a window of a burst, and tells whether the burst ends with it.
func (p *pulses) closed(w bench.Window) (stop bool) {
	if !p.plan.Step.Settle || p.advice != goOn {
		return false
	}
	cpu, known := p.meter.sinceLast()
	if w.Length < p.window*9/10 {
		return false
	}
	cost := 0.
	if known && w.Succeeded > 0 {
		cost = float64(cpu) / float64(w.Succeeded)
	}
	p.advice = p.rule.add(w.Throughput(), cost)
	if p.advice == restNow && p.plan.Step.Pulses != nil {
		p.advice = goOn // one comes anyhow
	}
	p.ending.Store(p.advice != goOn)
	return p.advice != goOn
}

// rest lets the contender alone: for least, and then for as long as it is at work, but not longer
// than most.
func (p *pulses) rest(ctx context.Context, least, most time.Duration) {
	p.rule.rested()
	p.rests.Count++
	p.meter.start()
	began, used, known := time.Now(), time.Duration(0), true
	for rested := least; ; rested += least {
		slice := time.Now()
		pause(ctx, least)
		cpu, ok := p.meter.sinceLast()
		used, known = used+cpu, known && ok
		busy := ok && float64(cpu) > restBusy*float64(time.Since(slice))
		if !busy || rested+least > most || ctx.Err() != nil {
			break
		}
	}
	p.rests.Time += time.Since(began)
	switch {
	case !known || p.rests.Count > 1 && p.rests.CPU == nil:
		p.rests.CPU = nil
	case p.rests.CPU == nil:
		p.rests.CPU = &used
	default:
		*p.rests.CPU += used
	}
}

// pause waits, but not beyond the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// meter reads the contender's CPU time. The beginning of a burst and its windows are seen by
// different goroutines.
type meter struct {
	read func() (time.Duration, bool) // nil: nobody can

	mu    sync.Mutex
	last  time.Duration
	known bool
}

// start reads for the first time.
func (m *meter) start() { m.sinceLast() }

// sinceLast is what was used since the last reading; ok is false where one of the two is missing.
func (m *meter) sinceLast() (used time.Duration, ok bool) {
	if m.read == nil {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.last, m.known
	m.last, m.known = m.read()
	return m.last - before, known && m.known && m.last >= before
}
