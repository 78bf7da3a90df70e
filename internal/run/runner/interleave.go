package runner

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
)

// Order plans the trials: every contender once per round. seed shuffles each odd round, and the
// round after it is in the opposite order: a machine that drifts, and a place in the order that is
// cheaper, affect all contenders alike, and no contender always follows the same one.
func Order(contenders []bench.Selection, rounds int, seed uint64) []bench.TrialEntry {
	var trials []bench.TrialEntry
	var order []int
	for round := 1; round <= rounds; round++ {
		if round%2 == 0 {
			slices.Reverse(order)
		} else {
			order = rand.New(rand.NewPCG(seed, uint64(round))).Perm(len(contenders))
		}
		for _, i := range order {
			trial := bench.Trial{Contender: contenders[i].Contender, Variant: contenders[i].Variant, Round: round}
			trials = append(trials, bench.TrialEntry{Trial: trial, State: bench.TrialPending, File: trial.String() + ".json"})
		}
	}
	return trials
}

// interleaved runs several trials at the same time. They start one after the other, wait for each
// other before each step, and only one of them is loaded at any moment.
func (r *runner) interleaved(ctx context.Context, trials []int) []error {
	if len(trials) == 1 {
		return []error{r.trial(ctx, r.cfg.Run.Trials[trials[0]].Trial, trials[0]+1, nil)}
	}
	t := &rotation{length: r.cfg.Run.Profile.Interleave, since: time.Now(), stalls: r.cfg.Observer.WatchStalls, steering: r.steering}
	t.changed = sync.NewCond(&t.mu)
	var controls []*controlled
	for n, i := range trials {
		s := &slot{rotation: t, number: n, trial: r.cfg.Run.Trials[i].Trial, label: r.cfg.Run.Trials[i].Trial.Label(), controlled: &controlled{}, stage: -1}
		t.slots, controls = append(t.slots, s), append(controls, s.controlled)
	}
	r.steering.share(controls)
	defer r.steering.share(nil)
	errs := make([]error, len(trials))
	var wg sync.WaitGroup
	for n, i := range trials {
		wg.Go(func() {
			s := t.slots[n]
			s.await()
			defer s.leave()
			errs[n] = r.trial(ctx, r.cfg.Run.Trials[i].Trial, i+1, s)
		})
	}
	wg.Wait()
	if t.meter != nil {
		t.meter.Stop()
	}
	return errs
}

// rotation is the order in which interleaved trials are loaded.
type rotation struct {
	length   time.Duration
	since    time.Time
	meter    Stalls // set at the first load; used only by the active trial
	stalls   func() Stalls
	steering *steering

	mu      sync.Mutex
	changed *sync.Cond
	slots   []*slot
	at      int // how often the slot to load has been chosen so far
	pace    pace
	ended   map[int]map[int]bench.StepResult // results by load, and by the number of the slot
}

// slot is the place of one trial in the rotation.
type slot struct {
	rotation   *rotation
	number     int
	trial      bench.Trial
	label      string
	controlled *controlled
	stage      int // the stage that the trial has reached
	gone       bool
	periods    periods // used only while the slot is the active one
}

// active returns the number of the slot to load: from the first to the last and back again. Of two it is A B B A, so a machine that becomes slower or faster affects both alike.
func (t *rotation) active(at int) int {
	n := len(t.slots)
	at %= 2 * n
	return min(at, 2*n-1-at)
}

// await returns when the slot is the active one. It needs no context: when that ends, the active
// trial ends and switches to the next.
func (s *slot) await() {
	s.rotation.mu.Lock()
	for s.rotation.active(s.rotation.at) != s.number {
		s.rotation.changed.Wait()
	}
	s.rotation.mu.Unlock()
	s.rotation.steering.switchTo(s.controlled)
}

// pass makes the next slot of another trial that still runs the active one.
func (s *slot) pass() {
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	for range 2 * len(s.rotation.slots) {
		s.rotation.at++
		if next := s.rotation.slots[s.rotation.active(s.rotation.at)]; next != s && !next.gone {
			break
		}
	}
	s.rotation.changed.Broadcast()
}

// inRow returns how often in a row the active slot is loaded, 1 or 2: between them would be a pause
// for nothing.
func (s *slot) inRow() int {
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	if s.rotation.active(s.rotation.at+1) == s.number {
		return 2
	}
	return 1
}

func (s *slot) next() {
	s.pass()
	s.await()
}

func (s *slot) leave() {
	s.rotation.mu.Lock()
	s.gone = true
	s.rotation.mu.Unlock()
	s.pass()
}

// barrier waits until all trials that have not left have reached stage.
func (s *slot) barrier(ctx context.Context, stage int) {
	s.rotation.mu.Lock()
	s.stage = stage
	s.rotation.mu.Unlock()
	for !s.met(stage) && ctx.Err() == nil {
		s.next()
	}
}

// exchange waits until all trials that have not left have ended a load, counted from 0, and returns the
// results of the others.
func (s *slot) exchange(ctx context.Context, load int, res bench.StepResult) (others []bench.StepResult) {
	t := s.rotation
	t.mu.Lock()
	if t.ended[load] == nil {
		t.ended = map[int]map[int]bench.StepResult{load - 1: t.ended[load-1], load: {}}
	}
	t.ended[load][s.number] = res
	t.mu.Unlock()
	s.barrier(ctx, stageOf(load, stageEnd))
	t.mu.Lock()
	defer t.mu.Unlock()
	for number, result := range t.ended[load] {
		if number != s.number {
			others = append(others, result)
		}
	}
	return others
}

func (s *slot) met(stage int) bool {
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	return !slices.ContainsFunc(s.rotation.slots, func(other *slot) bool { return !other.gone && other.stage < stage })
}

// meter returns the stall meter of all trials of the rotation. It starts with the first load, since
// this process may be limited to fewer CPUs before.
func (s *slot) meter() Stalls {
	if s.rotation.meter == nil {
		s.rotation.meter = s.rotation.stalls()
	}
	return s.rotation.meter
}

func (s *slot) others() (labels []string) {
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	for _, other := range s.rotation.slots {
		if other != s && !other.gone {
			labels = append(labels, other.label)
		}
	}
	return labels
}

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

func (t *interleaving) Align(at time.Time) (time.Time, time.Duration) {
	if t.slot.periods.began.IsZero() {
		return at, 0
	}
	return t.slot.periods.align(at), quotaPeriod
}

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
