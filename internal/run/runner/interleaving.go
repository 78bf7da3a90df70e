package runner

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
)

const (
	// quotaPeriod is the period of the CPU quota of contenders, as locbench and the engine set it.
	quotaPeriod = 100 * time.Millisecond
	// periodLook is the time between two looks for the beginning of a period, and periodSlack how
	// much a slice may begin after it.
	periodLook  = 500 * time.Microsecond
	periodSlack = 2 * time.Millisecond
	// periodPatience is how long to look: a contender that has just started has used CPU time, and
	// its periods are counted until it has been idle for one.
	periodPatience = time.Second
	// unaligned is the least length of slices of a contender whose periods cannot be seen: the part
	// of a period at either end has a whole quota.
	unaligned = 2 * time.Second
)

// idleQuota is the share of its CPU quota up to which a contender of an open loop is interleaved.
const idleQuota = .7

// Stages of a load at which interleaved trials wait for each other.
const (
	stageBegin = iota
	stageAgree // an open loop has had all its slices
	stageEnd
	stages
)

// stageOf returns the stage of a load: a step, or a part of a warm-up; they count from 0.
func stageOf(load, stage int) int { return load*stages + stage }

// pace is what the contenders of a rotation know of a step in common. rotation.mu guards it.
type pace struct {
	load    int
	why     string        // why the step is not interleaved; "": it is
	longest time.Duration // mean time of an iteration of the slowest contender; 0: not known
	hint    time.Duration // that of the step before
}

// periods is when the periods of a contender's CPU quota begin. The kernel's timer of a group keeps
// its phase as long as the group exists, whether the group is busy or idle.
type periods struct {
	limited bool
	began   time.Time // a beginning; zero: not known
	look    sync.WaitGroup
}

// find looks for the beginning of a period of inst, which is busy or was so until now. It returns
// at once.
func (p *periods) find(ctx context.Context, inst bench.Instance) {
	info := inst.Info()
	if p.limited = info.Limits.CPUs > 0 && info.LimitsEnforced; !p.limited {
		return
	}
	count := func() (n int64, at time.Time, ok bool) {
		u, err := hostusage.ReadInstance(ctx, inst)
		if err != nil || u.Throttling == nil || !strings.HasPrefix(u.Source, "cgroup") {
			return 0, at, false
		}
		return u.Throttling.Periods, u.At, true
	}
	p.look.Go(func() {
		first, before, ok := count()
		tick := time.NewTicker(periodLook)
		defer tick.Stop()
		for began := time.Now(); ok && time.Since(began) < periodPatience; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			n, at, read := count()
			if ok = read; ok && n != first && at.Sub(before) < periodSlack {
				p.began = at.Add(-at.Sub(before) / 2)
				return
			}
			first, before = n, at
		}
	})
}

// align returns the first beginning of a period that is not before at, or at most periodSlack
// before it.
func (p *periods) align(at time.Time) time.Time {
	if p.began.IsZero() {
		return at
	}
	since := at.Sub(p.began) - periodSlack
	n := (since + quotaPeriod - 1) / quotaPeriod
	return p.began.Add(n * quotaPeriod)
}

// interleaving is that of a step of the slot.
type interleaving struct {
	slot *slot
	ctx  context.Context //nolint:containedctx // of the step, which the engine's calls have in common
	load int
	open bool
	read *readings
}

// interleave returns the interleaving of a step and its record; nil without a slot.
func (s *slot) interleave(ctx context.Context, load int, step bench.Step, read *readings) (bench.Interleaving, *bench.Interleave) {
	if s == nil {
		return nil, nil
	}
	t := s.rotation
	t.mu.Lock()
	if t.pace.load != load {
		t.pace = pace{load: load, hint: cmp.Or(t.pace.longest, t.pace.hint)}
	}
	t.mu.Unlock()
	s.periods.look.Wait()
	record := &bench.Interleave{Length: t.length, Since: t.since, With: s.others()}
	return &interleaving{slot: s, ctx: ctx, load: load, open: step.Open(), read: read}, record
}

func (t *interleaving) Length() time.Duration {
	one := t.slot.rotation.length
	if p := &t.slot.periods; p.limited {
		if one = (one + quotaPeriod - 1) / quotaPeriod * quotaPeriod; p.began.IsZero() {
			one = max(one, unaligned)
		}
	}
	return time.Duration(t.slot.inRow()) * one
}

func (t *interleaving) Align(at time.Time) time.Time { return t.slot.periods.align(at) }

func (t *interleaving) Fit(iteration time.Duration) time.Duration {
	r := t.slot.rotation
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pace.longest = max(r.pace.longest, iteration)
	return cmp.Or(r.pace.longest, r.pace.hint)
}

func (t *interleaving) Alternate(why string) {
	r := t.slot.rotation
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pace.why = cmp.Or(r.pace.why, t.slot.label+": "+why)
}

func (t *interleaving) Alternating() bool { return t.why() != "" }

func (t *interleaving) why() string {
	r := t.slot.rotation
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pace.why
}

func (t *interleaving) Next() {
	t.vote()
	t.read.wait(t.ctx, t.slot.next)
}

// vote looks at a slice that has ended: with the pauses between its slices, a contender of an open
// loop has more quota than without them.
func (t *interleaving) vote() {
	if t.open && t.read.ofQuota > idleQuota {
		t.Alternate("its rate takes most of its CPU quota")
	}
}

func (t *interleaving) Agree() bool {
	t.vote()
	t.slot.barrier(t.ctx, stageOf(t.load, stageAgree))
	return t.Alternating()
}

func (t *interleaving) Restart() { t.read.restart() }
