package runner

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
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
