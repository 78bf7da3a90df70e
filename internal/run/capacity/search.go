// Package capacity finds the highest rate that a contender sustains under a service level
// objective.
//
// Search is the algorithm alone: it says which rate to try next and learns how the probe went; it
// starts no load and reads no clock. Assess judges a finished step of open-loop load. Launching,
// loading and keeping results are left to others.
//
// The search brackets the answer by doubling (or halving) from a guess, narrows the bracket by
// probes in its geometric middle until it is as narrow as the resolution. On this way a rate counts
// as too high only when it has failed twice, so one hiccup of the machine does not cut off all
// that lies above. Then both ends are put to the vote: the lower one must hold in Need of Of fresh
// probes, because it was chosen for having held, and luck may have helped; the upper one must fail
// in as many as make that impossible, because bad luck may have. From a lower end that is not
// confirmed the search goes down, from an upper one that holds it goes up, in growing steps and by
// votes, until there are two neighbours, one confirmed and one refused.
package capacity

import (
	"errors"
	"fmt"
	"math"
)

// Config is what a search is made of.
type Config struct {
	Start      float64 // requests per second of the first probe
	Min, Max   float64 // no probe is below or above
	Resolution float64 // the bracket is narrow enough when its ends differ by this share, such as 0.03
	Need, Of   int     // confirmations: so many of so many probes must hold
	Probes     int     // at most so many in all
}

// Phase is what a probe is for.
type Phase string

// The phases.
const (
	Bracket Phase = "bracket"
	Narrow  Phase = "narrow"
	Confirm Phase = "confirm"
)

// Probe is a rate to try.
type Probe struct {
	Number int     `json:"number"` // from 1
	Rate   float64 `json:"rate"`   // requests due per second
	Phase  Phase   `json:"phase"`
	Try    int     `json:"try"` // from 1: of this rate in this phase
}

// Verdict is how a probe went.
type Verdict struct {
	Sustained bool
	// Client: not sustained, but because of the client or of other work on its machine, so nothing is
	// known about the contender.
	Client bool
}

// State says what a search has found.
type State string

// The states.
const (
	Searching State = "searching"
	Found     State = "found"    // Rate was confirmed, and Above, which is as close as the resolution, refused
	AtLeast   State = "at least" // Rate was confirmed; above it nothing could be tried, or only beyond the client's limit
	None      State = "none"     // not even the lowest rate was sustained
	Undecided State = "undecided"
)

// Result is what has been found so far.
type Result struct {
	State   State   `json:"state"`
	Rate    float64 `json:"rate,omitempty"`     // the highest rate that was confirmed; 0: none
	Above   float64 `json:"above,omitempty"`    // the lowest rate above it that was not sustained; 0: none was tried
	Held    int     `json:"held,omitempty"`     // of the confirming probes of Rate
	Tried   int     `json:"tried,omitempty"`    // confirming probes of Rate
	Probes  int     `json:"probes"`             // in all
	Client  bool    `json:"client,omitempty"`   // it was the client, or its machine, that did not keep up at Above
	AtBound bool    `json:"at_bound,omitempty"` // the search ended at Config.Max, Config.Min or Config.Probes
}

// Search is a search that is under way.
type Search struct {
	cfg    Config
	probe  Probe
	votes  ballot
	low    float64 // the highest rate taken for sustained; 0: none yet
	high   float64 // the lowest rate taken for too high; 0: none yet
	voted  bool    // high was refused by a vote
	fall   float64 // the last step down from a rate that was not confirmed, as a share
	rise   float64 // the last step up from one that was
	result Result
	client bool // high failed because of the client
}

type ballot struct{ held, failed, client int }

// New returns a search, or an error that says what in cfg makes no sense.
func New(cfg Config) (*Search, error) {
	finite := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	switch {
	case !finite(cfg.Min) || !finite(cfg.Max) || cfg.Min > cfg.Max:
		return nil, fmt.Errorf("search rates from %g to %g: the lowest must be above 0 and not above the highest",
			cfg.Min, cfg.Max)
	case !finite(cfg.Start):
		return nil, fmt.Errorf("search from rate %g: it must be above 0", cfg.Start)
	case !(cfg.Resolution >= 0.001 && cfg.Resolution <= 1):
		return nil, fmt.Errorf("resolution %g: it must be from 0.001 to 1", cfg.Resolution)
	case cfg.Need < 1 || cfg.Of < cfg.Need:
		return nil, fmt.Errorf("%d of %d confirmations: there must be at least one, and not more than probes",
			cfg.Need, cfg.Of)
	case cfg.Probes < 1:
		return nil, errors.New("a search needs at least one probe")
	}
	s := &Search{cfg: cfg, result: Result{State: Searching}}
	s.probe = Probe{Number: 1, Phase: Bracket, Try: 1, Rate: min(max(cfg.Start, cfg.Min), cfg.Max)}
	return s, nil
}

// Next returns the probe to run now, until Record gets its outcome; ok is false when the search is over.
func (s *Search) Next() (t Probe, ok bool) { return s.probe, s.result.State == Searching }

// Result returns what has been found so far.
func (s *Search) Result() Result { return s.result }

// Record takes in how the probe of Next went.
func (s *Search) Record(v Verdict) {
	if s.result.State != Searching {
		return
	}
	s.result.Probes++
	if v.Sustained {
		s.votes.held++
	} else {
		s.votes.failed++
		if v.Client {
			s.votes.client++
		}
	}
	need, most := 1, 2 // held once, or failed twice
	if s.probe.Phase == Confirm {
		need, most = s.cfg.Need, s.cfg.Of-s.cfg.Need+1
	}
	switch {
	case s.votes.held >= need:
		s.accepted()
	case s.votes.failed >= most:
		s.rejected()
	default:
		s.probe.Try++
	}
	s.probe.Number++
	if s.result.State == Searching && s.result.Probes >= s.cfg.Probes {
		s.result.AtBound = true
		s.end(Undecided)
	}
}

func (s *Search) accepted() {
	rate := s.probe.Rate
	s.low = rate
	if s.probe.Phase == Confirm {
		s.result.Rate, s.result.Held, s.result.Tried = rate, s.votes.held, s.votes.held+s.votes.failed
		s.confirmed()
		return
	}
	switch {
	case s.probe.Phase == Narrow || s.high > 0:
		s.closer()
	case rate >= s.cfg.Max:
		s.try(Confirm, rate)
	default:
		s.try(Bracket, min(2*rate, s.cfg.Max))
	}
}

func (s *Search) rejected() {
	rate := s.probe.Rate
	s.high, s.client, s.voted = rate, s.votes.client*2 > s.votes.failed, s.probe.Phase == Confirm
	switch {
	case s.probe.Phase == Narrow, s.probe.Phase == Bracket && s.low > 0:
		s.closer()
	case s.probe.Phase == Confirm && s.result.Rate > 0: // a confirmed one lies below
		s.low = s.result.Rate
		s.confirmed()
	case rate <= s.cfg.Min:
		s.result.AtBound = true
		s.end(None)
	case s.probe.Phase == Confirm:
		s.fall = max(s.cfg.Resolution, 2*s.fall)
		s.try(Confirm, max(rate/(1+s.fall), s.cfg.Min))
	default:
		s.try(Bracket, max(rate/2, s.cfg.Min))
	}
}

// confirmed continues from a lower end that was confirmed.
func (s *Search) confirmed() {
	switch {
	case s.high == 0 && s.low >= s.cfg.Max:
		s.result.AtBound = true
		s.end(AtLeast)
	case s.high == 0:
		s.rise = max(s.cfg.Resolution, 2*s.rise)
		s.try(Confirm, min(s.low*(1+s.rise), s.cfg.Max))
	case !s.narrow():
		s.try(Confirm, math.Sqrt(s.low*s.high))
	case !s.voted:
		rate := s.high
		s.high, s.client = 0, false
		s.try(Confirm, rate)
	default:
		s.end(Found)
	}
}

func (s *Search) closer() {
	if s.narrow() {
		s.try(Confirm, s.low)
		return
	}
	s.try(Narrow, math.Sqrt(s.low*s.high))
}

// narrow reports whether the ends of the bracket are as close as they have to be. The hair is for
// what rounding does to a step down by exactly that.
func (s *Search) narrow() bool { return s.high <= s.low*(1+s.cfg.Resolution)*(1+1e-9) }

func (s *Search) try(p Phase, rate float64) {
	s.votes = ballot{}
	s.probe.Phase, s.probe.Rate, s.probe.Try = p, rate, 1
}

func (s *Search) end(state State) {
	s.result.Above, s.result.Client = s.high, s.client && s.high > 0
	if state == Undecided && s.result.Rate > 0 || state == Found && s.client {
		state = AtLeast
	}
	s.result.State = state
}

// Left is about how many probes are still to come, if nothing unlucky happens.
func (s *Search) Left() int {
	if s.result.State != Searching {
		return 0
	}
	halvings := func(ratio float64) int {
		return max(0, int(math.Ceil(math.Log2(math.Log(ratio)/math.Log1p(s.cfg.Resolution)))))
	}
	votes := s.cfg.Of + 1 // to confirm one end and refuse the other
	left := votes - s.votes.held - s.votes.failed
	switch s.probe.Phase {
	case Bracket:
		left = 2 + halvings(2)*3/2 + votes // half of the narrowing probes fail, and are looked at twice
	case Narrow:
		left = halvings(s.high/s.low)*3/2 + votes
	case Confirm:
		if s.result.Rate > 0 {
			left = s.cfg.Of - s.cfg.Need + 1 - s.votes.failed
		}
	}
	return max(1, min(left, s.cfg.Probes-s.result.Probes))
}
