// Package capacity finds the highest rate at which a contender still meets an SLO.
//
// Search is only the algorithm: it returns the next rate to probe and takes the verdict; it starts
// no load and reads no clock. Assess returns the verdict on a finished open-loop step. Other
// packages launch, load and keep results.
//
// The search doubles or halves a start rate until the capacity is between two rates, the bracket.
// Probes at the geometric mean then narrow the bracket down to the resolution. Up to here a rate is
// too high only after two failed probes, so one machine stall does not exclude everything above.
// Then both ends are confirmed with new probes, since chance helped to choose them: the lower end
// must pass Need of Of probes, and the upper end must fail so often that it cannot. If the lower
// end is not confirmed the search moves down, if the upper end passes it moves up, in growing
// steps, and confirms again until it has two neighboring rates: one confirmed, one refused.
package capacity

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Config has the parameters of a search.
type Config struct {
	Start      float64 // requests per second of the first probe
	Min, Max   float64 // the bounds of all rates
	Resolution float64 // the final distance of the bracket's ends as a share, such as 0.03
	Need, Of   int     // a rate is confirmed if Need of Of probes pass
	Probes     int     // the maximum number of probes
}

// Phase is the purpose of a probe.
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
	Rate   float64 `json:"rate"`   // scheduled requests per second
	Phase  Phase   `json:"phase"`
	Try    int     `json:"try"` // from 1, per rate and phase
}

// Verdict is the outcome of a probe.
type Verdict struct {
	Sustained bool
	// Client means that the client or other work on its machine was the reason for not sustaining
	// the rate, so the probe says nothing about the contender.
	Client bool
}

// State is the state of a search.
type State string

// The states.
const (
	Searching State = "searching"
	Found     State = "found"    // Rate was confirmed, and Above, within the resolution, was refused
	AtLeast   State = "at least" // Rate was confirmed; higher rates are above Max or the client's limit
	None      State = "none"     // the lowest rate was not sustained
	Undecided State = "undecided"
)

// Result is what a search has found so far.
type Result struct {
	State   State   `json:"state"`
	Rate    float64 `json:"rate,omitempty"`     // the highest confirmed rate; 0: none
	Above   float64 `json:"above,omitempty"`    // the lowest higher rate that was not sustained; 0: none tried
	Held    int     `json:"held,omitempty"`     // confirming probes of Rate that passed
	Tried   int     `json:"tried,omitempty"`    // confirming probes of Rate
	Probes  int     `json:"probes"`             // all probes
	Client  bool    `json:"client,omitempty"`   // the client or its machine did not keep up at Above
	AtBound bool    `json:"at_bound,omitempty"` // the search ended at Config.Max, Config.Min or Config.Probes
}

// Search is a search in progress.
type Search struct {
	cfg     Config
	probe   Probe
	votes   votes   // on the rate of probe, in its phase
	low     float64 // the highest rate considered sustained; 0: none yet
	high    float64 // the lowest rate considered too high; 0: none yet
	refused bool    // confirming probes have refused high
	fall    float64 // the last step down from an unconfirmed rate, as a share
	rise    float64 // the last step up from a confirmed rate, as a share
	result  Result
	client  bool // high failed because of the client
}

type votes struct{ held, failed, client int }

// New returns a search, or an error for an invalid cfg.
func New(cfg Config) (*Search, error) {
	finite := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	if !finite(cfg.Min) || !finite(cfg.Max) || cfg.Min > cfg.Max {
		return nil, fmt.Errorf("search rates from %g to %g: the lowest must be above 0 and at most the highest",
			cfg.Min, cfg.Max)
	}
	if !finite(cfg.Start) {
		return nil, fmt.Errorf("search from rate %g: must be above 0", cfg.Start)
	}
	if !(cfg.Resolution >= 0.001 && cfg.Resolution <= 1) {
		return nil, fmt.Errorf("resolution %g: must be from 0.001 to 1", cfg.Resolution)
	}
	if cfg.Need < 1 || cfg.Of < cfg.Need {
		return nil, fmt.Errorf("%d of %d confirmations: must be at least 1, and at most all probes",
			cfg.Need, cfg.Of)
	}
	if cfg.Probes < 1 {
		return nil, errors.New("a search needs at least 1 probe")
	}
	s := &Search{cfg: cfg, result: Result{State: Searching}}
	s.probe = Probe{Number: 1, Phase: Bracket, Try: 1, Rate: min(max(cfg.Start, cfg.Min), cfg.Max)}
	return s, nil
}

// Next returns the probe to run now, the same until Record; ok is false when the search is over.
func (s *Search) Next() (p Probe, ok bool) { return s.probe, s.result.State == Searching }

// Result returns what has been found so far.
func (s *Search) Result() Result { return s.result }

// Record takes the verdict on the probe of Next.
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
	need, most := 1, 2 // one probe passed, or two failed
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
	s.high, s.client, s.refused = rate, s.votes.client*2 > s.votes.failed, s.probe.Phase == Confirm
	switch {
	case s.probe.Phase == Narrow, s.probe.Phase == Bracket && s.low > 0:
		s.closer()
	case s.probe.Phase == Confirm && s.result.Rate > 0: // a lower rate is confirmed
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

// confirmed continues after the lower end was confirmed.
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
	case !s.refused:
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

// narrow reports whether the bracket's ends are within the resolution; 1e-9 allows for rounding.
func (s *Search) narrow() bool { return s.high <= s.low*(1+s.cfg.Resolution)*(1+1e-9) }

func (s *Search) try(p Phase, rate float64) {
	s.votes = votes{}
	s.probe.Phase, s.probe.Rate, s.probe.Try = p, rate, 1
}

func (s *Search) end(state State) {
	s.result.Above, s.result.Client = s.high, s.client
	if state == Undecided && s.result.Rate > 0 || state == Found && s.client {
		state = AtLeast
	}
	s.result.State = state
}

// perHalving is how many probes halve the bracket: half of them fail and are repeated, and the
// confirming ones have to move the more, the closer the bracket is.
const perHalving = 2

// Left returns an estimate of the probes left, for a contender whose limit varies by a few percent
// from probe to probe.
func (s *Search) Left() int {
	if s.result.State != Searching {
		return 0
	}
	halvings := func(ratio float64) int {
		return max(0, int(math.Ceil(math.Log2(math.Log(ratio)/math.Log1p(s.cfg.Resolution)))))
	}
	confirming := s.cfg.Of + 1 // to confirm one end and refuse the other
	left := confirming - s.votes.held - s.votes.failed
	switch s.probe.Phase {
	case Bracket:
		left = 3 + perHalving*halvings(2) + confirming
	case Narrow:
		left = perHalving*halvings(s.high/s.low) + confirming
	case Confirm:
		if s.result.Rate > 0 {
			left = s.cfg.Of - s.cfg.Need + 1 - s.votes.failed
		}
	}
	return max(1, min(left, s.cfg.Probes-s.result.Probes))
}

// next returns what to do next, and the command for it.
func (s searched) next() (text, command string) {
	if len(s.Points) == 0 || slices.ContainsFunc(s.Points, func(p Point) bool { return !finished(p) }) {
		return "Search again", s.again()
	}
	more := func(p Point) (string, string) {
		return "Allow more probes", s.again("--max-probes", strconv.Itoa(2*p.Result.Probes))
	}
	if s.best == nil {
		if i := slices.IndexFunc(s.Points, func(p Point) bool { return p.Result.State == Undecided }); i >= 0 {
			return more(s.Points[i])
		}
		return s.withCPUs(2, "Give it more", "Set an SLO that it can meet")
	}
	p := *s.best
	confirm := []string{"--confirm", fmt.Sprintf("%d/%d", min(s.Need+1, 50), min(s.Of+2, 100))}
	switch {
	case p.Result.Held < minHeld:
		return "Confirm it", s.again("--confirm", "2/3")
	case p.Result.Client:
		return s.withCPUs(.5, "Find its own limit", "Run the client on another machine")
	case p.Result.Above <= 0:
		return "Try higher rates", s.again("--max-rate", fmt.Sprintf("%.0f", min(2*p.Result.Rate, 1e6)))
	case p.Result.State == AtLeast:
		return more(p)
	case p.Room() > 0 && p.Limits.CPUs > 0 && p.Room() < p.Limits.Memory*3/4 && p.most().Memory <= p.Room():
		return "Try it with less memory", s.again(append(cpus(p.Limits.CPUs), memory(p.Room())...)...)
	case len(s.Points) > 1:
		return "Probe the choice more", s.again(append(confirm, s.limits(p.Limits.CPUs, p.Limits.Memory)...)...)
	}
	return "Probe it more", s.again(confirm...)
}

func cpus(n float64) []string {
	return []string{"--limits", "cpus=" + strconv.FormatFloat(n, 'g', 4, 64)}
}

func memory(bytes int64) []string {
	return []string{"--limits", "memory=" + strictyaml.FormatBytes(bytes)}
}

// limits returns the flags for one of the limits that the search had, or for others of the same kind.
func (s searched) limits(n float64, bytes int64) (flags []string) {
	if !s.ByMemory() {
		flags = cpus(n)
	}
	given := func(arg string) bool { return strings.HasPrefix(strings.TrimPrefix(arg, "--limits="), "memory=") }
	if s.ByMemory() || slices.ContainsFunc(s.Command, given) {
		flags = append(flags, memory(bytes)...)
	}
	return flags
}

// withCPUs proposes a search with a multiple of the CPUs, or something else if there are none to
// change.
func (s searched) withCPUs(factor float64, text, other string) (string, string) {
	var of bench.Limits
	for _, p := range s.Points {
		of.CPUs, of.Memory = max(of.CPUs, p.Limits.CPUs), max(of.Memory, p.Limits.Memory)
	}
	if s.best != nil {
		of = s.best.Limits
	}
	if of.CPUs <= 0 || s.ByMemory() {
		return other, ""
	}
	return text, s.again(s.limits(factor*of.CPUs, of.Memory)...)
}

// again returns the command of the search with other flags and into a new folder; "" if it is
// unknown.
func (r Record) again(flags ...string) string {
	if len(r.Command) == 0 {
		return ""
	}
	left := []string{"--out", "-o"}
	for i := 0; i < len(flags); i += 2 {
		left = append(left, flags[i])
		if key, _, ok := strings.Cut(flags[i+1], "="); ok {
			left = append(left, "--"+key) // --cpus is wrong with --limits cpus=1
		}
	}
	var args []string
	for i := 0; i < len(r.Command); i++ {
		arg := safe.Line(r.Command[i], 200)
		name, _, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(left, name):
			args = append(args, arg)
		case !joined:
			i++ // its value
		}
	}
	return conclusion.Command(append(args, flags...))
}
