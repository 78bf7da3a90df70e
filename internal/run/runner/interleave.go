package runner

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"locbench/internal/bench"
)

// Interleave are what an engine needs to run a step in turns.
type Interleave struct {
	Length time.Duration
	Next   func() // gives the turn away, and returns when it is this step's again
}

// Order plans the trials: every contender once in each round, in an order that is shuffled again for
// each round from seed, so a drift of the machine hits all alike and nobody always runs after
// the same neighbour.
func Order(contenders []bench.Selection, rounds int, seed uint64) []bench.TrialEntry {
	var trials []bench.TrialEntry
	for round := 1; round <= rounds; round++ {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		for _, i := range rng.Perm(len(contenders)) {
			trial := bench.Trial{Contender: contenders[i].Contender, Variant: contenders[i].Variant, Round: round}
			trials = append(trials, bench.TrialEntry{Trial: trial, State: bench.TrialPending, File: trial.String() + ".json"})
		}
	}
	return trials
}

// together runs several trials at the same time. Only one of them does anything at any
// moment, so the others' idling is all that it can notice of them: they are started one after
// the other, meet before each step, and take turns in it.
func (r *runner) together(ctx context.Context, trials []int) []error {
	if len(trials) == 1 {
		return []error{r.trial(ctx, r.cfg.Run.Trials[trials[0]].Trial, trials[0]+1, nil)}
	}
	t := &rotation{length: r.cfg.Run.Profile.Interleave, since: time.Now(), stalls: r.cfg.Stalls, steering: r.steering}
	t.changed = sync.NewCond(&t.mu)
	var controls []*controlled
	for n, i := range trials {
		s := &slot{rotation: t, number: n, label: r.cfg.Run.Trials[i].Trial.Label(), controlled: &controlled{}, stage: -1}
		t.slots, controls = append(t.slots, s), append(controls, s.controlled)
	}
	r.steering.share(controls)
	defer r.steering.share(nil)
	errs := make([]error, len(trials))
	var wg sync.WaitGroup
	for n, i := range trials {
		wg.Go(func() {
			s := t.slots[n]
			s.take()
			defer s.leave()
			errs[n] = r.trial(ctx, r.cfg.Run.Trials[i].Trial, i+1, s)
		})
	}
	wg.Wait()
	if t.still != nil {
		t.still.Stop()
	}
	return errs
}

// rotation is the order in which trials that are alive together are loaded.
type rotation struct {
	length   time.Duration
	since    time.Time
	still    Stalls // from the first load on; who has the turn may use it
	stalls   func() Stalls
	steering *steering

	mu      sync.Mutex
	changed *sync.Cond
	slots   []*slot
	at      int // turns that there have been
}

// slot is the place of one trial in the rotation.
type slot struct {
	rotation   *rotation
	number     int
	label      string
	controlled *controlled
	stage      int // that it has come to
	gone       bool
}

// holder returns whose turn it is: from the first to the last and back again, so of two it is A B B
// A, and a machine that becomes slower or faster in the course of it does so for both.
func (t *rotation) holder() int {
	n := len(t.slots)
	at := t.at % (2 * n)
	return min(at, 2*n-1-at)
}

// take waits for the turn. Who holds it ends with the context, and gives it away.
func (s *slot) take() {
	s.rotation.mu.Lock()
	for s.rotation.holder() != s.number {
		s.rotation.changed.Wait()
	}
	s.rotation.mu.Unlock()
	s.rotation.steering.turnTo(s.controlled)
}

func (s *slot) pass() {
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	for range 2 * len(s.rotation.slots) {
		s.rotation.at++
		if !s.rotation.slots[s.rotation.holder()].gone {
			break
		}
	}
	s.rotation.changed.Broadcast()
}

func (s *slot) next() {
	s.pass()
	s.take()
}

func (s *slot) leave() {
	s.rotation.mu.Lock()
	s.gone = true
	s.rotation.mu.Unlock()
	s.pass()
}

// barrier waits until all who have not left have come as far as stage.
func (s *slot) barrier(ctx context.Context, stage int) {
	s.rotation.mu.Lock()
	s.stage = stage
	s.rotation.mu.Unlock()
	for !s.met(stage) && ctx.Err() == nil {
		s.next()
	}
}

func (s *slot) met(stage int) bool {
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	return !slices.ContainsFunc(s.rotation.slots, func(other *slot) bool { return !other.gone && other.stage < stage })
}

// meter watches the machine for all trials of the rotation. It begins when the first of them is
// loaded: this process may be kept to fewer CPUs before.
func (s *slot) meter() Stalls {
	if s.rotation.still == nil {
		s.rotation.still = s.rotation.stalls()
	}
	return s.rotation.still
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

// interleave returns how the engine runs a step, and its record; nil and nil without a slot.
func (s *slot) interleave() (*Interleave, *bench.Interleave) {
	if s == nil {
		return nil, nil
	}
	t := s.rotation
	return &Interleave{Length: t.length, Next: s.next}, &bench.Interleave{Length: t.length, Since: t.since, With: s.others()}
}
