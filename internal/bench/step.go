package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
)

// Step is one load level of a trial. Exactly one of Connections, Rate (or PeakShare, from which
// Rate is computed) and Arrivals is set.
type Step struct {
	Name string `json:"name" yaml:"name" strict:"min=1,max=100"` // such as "64 connections"; not unique
	// closed loop: number of connections; each sends its next request after the response
	Connections int `json:"connections,omitempty"`
	// open loop: scheduled requests per second; at the start of a ramp, or the mean of a wave
	Rate   float64 `json:"rate,omitempty"`
	RampTo float64 `json:"ramp_to,omitempty"` // rate at the end of a linear ramp from Rate; 0: no ramp
	Wave   *Wave   `json:"wave,omitempty"`    // sine around Rate; nil: none
	// Rate as a share of the highest throughput of the earlier steps; see AtPeak
	PeakShare float64 `json:"peak_share,omitempty"`
	// the throughput is that of the slowest contender of the round: the rate is the same for all
	LowestPeak bool      `json:"lowest_peak,omitempty"`
	Arrivals   *Arrivals `json:"arrivals,omitempty" yaml:"arrivals"`
	// open loop: maximum number of open connections; 0: chosen by the client
	MaxConnections int `json:"max_connections,omitempty"`
	// closed loop: number of connections at the start of a ramp to Connections; 0: no ramp
	RampFrom int `json:"ramp_from,omitempty"`
	// name of the only kind of request that is sent; "": the whole mix
	Request string `json:"request,omitempty" yaml:"request" strict:"min=1,max=100"`
	WarmUp  bool   `json:"warm_up,omitempty" yaml:"warm_up"` // the step is shown but not compared
	// the warm-up continues beyond Duration while compilers of a runtime are at work, to a minute at most
	UntilWarm   bool     `json:"until_warm,omitempty"`
	Duration    Duration `json:"duration_ns" yaml:"duration" strict:"min=100ms,max=24h"`
	MaxRequests int64    `json:"max_requests,omitempty" yaml:"max_requests" strict:"min=1"` // ends the step early; 0: no limit
	// number of single requests whose times are kept; 0: none
	KeepRequests int `json:"keep_requests,omitempty" yaml:"keep_requests" strict:"min=1,max=10000"`
}

// Arrivals are users that arrive within a time, each with its own connection.
type Arrivals struct {
	Users    int      `json:"users" yaml:"users" strict:"required,min=1,max=1000000" example:"4000"`
	Over     Duration `json:"over_ns" yaml:"over" strict:"required,min=1ms,max=24h" example:"5s"`
	Requests int      `json:"requests" yaml:"requests" strict:"min=1,max=100000"` // requests of each user, one after the other
}

// Wave is a rate that follows a sine, starting at its mean and rising.
type Wave struct {
	// requests per second above and below the mean; less than the mean
	Amplitude float64  `json:"amplitude" yaml:"amplitude" strict:"required,min=0.01,max=1000000" example:"500"`
	Period    Duration `json:"period_ns" yaml:"period" strict:"required,min=100ms,max=24h" example:"20s"`
}

// Open reports whether the step is an open loop.
func (s Step) Open() bool { return s.Rate > 0 || s.PeakShare > 0 || s.Arrivals != nil }

// AtPeak returns the step with the rate computed from PeakShare and a peak in iterations per second.
// A peak of 0 means not known; the step is then not run.
func (s Step) AtPeak(peak float64) Step {
	if s.PeakShare > 0 {
		s.Rate = s.PeakShare * peak
	}
	return s
}

// Peak returns the most iterations per second of the complete, measured closed-loop steps, or 0: the
// throughput, if no request of a profile is one of a session.
func Peak(steps []StepResult, requests []Request) float64 {
	peak := 0.
	for _, s := range steps {
		if s.Step.Connections > 0 && !s.Step.WarmUp && s.Aborted == "" {
			peak = max(peak, s.Load.iterations(requests))
		}
	}
	return peak
}

// iterations returns single requests and sessions per second.
func (l Load) iterations(requests []Request) float64 {
	if len(l.Sessions) == 0 {
		return l.Throughput()
	}
	n := 0.
	for _, s := range l.Sessions { // of the whole step
		n += float64(s.Begun) * float64(l.Succeeded) / float64(max(1, l.AllSucceeded()))
	}
	for _, r := range l.Requests {
		if slices.ContainsFunc(requests, func(of Request) bool { return of.Name == r.Name && of.Session == "" }) {
			n += float64(r.Succeeded)
		}
	}
	return n / max(l.Elapsed.Seconds(), 1e-9)
}

// The limits of a step.
const (
	MaxConnections = 65535 // ports of one address
	MaxRate        = 1e6   // scheduled requests per second
	MaxUsers       = 1_000_000
)

// DefaultName returns the name of a step that has none: "64 connections", "80% of peak".
func (s Step) DefaultName() string {
	var name string
	switch {
	case s.Arrivals != nil:
		name = plural(s.Arrivals.Users, "user") + " over " + units.Exact(s.Arrivals.Over)
	case s.LowestPeak:
		name = s.share() + " of lowest peak"
	case s.PeakShare != 0:
		name = s.share() + " of peak"
	case s.RampTo != 0:
		name = number(s.Rate) + " to " + number(s.RampTo) + "/s"
	case s.Wave != nil:
		name = number(s.Rate) + " ± " + number(s.Wave.Amplitude) + "/s"
	case s.Rate != 0:
		name = number(s.Rate) + "/s"
	case s.RampFrom > 0:
		name = fmt.Sprintf("%d to %d connections", s.RampFrom, s.Connections)
	default:
		name = plural(s.Connections, "connection")
	}
	return s.asking(name)
}

// Title returns the name of a step, with " (warm-up)" for a warm-up.
func (s Step) Title() string { return s.warm(s.Name) }

// Words returns the load of a step, whatever its name: "64 connections", "1,000 requests/s".
func (s Step) Words() string {
	words := s.Name
	switch {
	case s.Connections > 0:
		words = units.Plural(s.Connections, "connection")
	case s.Rate > 0:
		words = units.Number(s.Rate) + " requests/s"
	case s.Arrivals != nil:
		words = units.Plural(s.Arrivals.Users, "user") + " over " + units.Duration(s.Arrivals.Over)
	}
	return s.warm(s.asking(words))
}

// Short returns a name for narrow columns and axes: "64", "w 1" for a warm-up, "500/s".
func (s Step) Short() string {
	name := s.Name
	switch {
	case s.Connections > 0:
		name = units.Count(int64(s.Connections))
	case s.PeakShare > 0:
		name = s.share()
	case s.Rate > 0:
		name = units.Number(s.Rate) + "/s"
	case s.Arrivals != nil:
		name = units.Plural(s.Arrivals.Users, "user")
	}
	if s.WarmUp {
		name = strings.TrimSpace("w " + name)
	}
	return name
}

// At returns a name to put after a result: "64 conns", or the name of the step.
func (s Step) At() string {
	if s.Connections > 0 && s.Request == "" {
		return units.Plural(s.Connections, "conn")
	}
	return s.Name
}

// asking adds the only kind of request.
func (s Step) asking(text string) string {
	if s.Request != "" {
		text += ", " + s.Request
	}
	return text
}

func (s Step) warm(text string) string {
	if s.WarmUp {
		text += " (warm-up)"
	}
	return text
}

// share returns PeakShare in percent with up to three decimals, as in profiles.
func (s Step) share() string { return number(math.Round(s.PeakShare*1e5)/1e3) + "%" }

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Same reports whether two steps have the same load; their durations may differ. Rates computed
// from the same PeakShare count as the same.
func (s Step) Same(other Step) bool {
	if s.WarmUp != other.WarmUp || s.Request != other.Request {
		return false
	}
	if s.PeakShare > 0 && s.PeakShare == other.PeakShare {
		return s.LowestPeak == other.LowestPeak
	}
	return s.Name == other.Name && s.Connections == other.Connections && s.RampFrom == other.RampFrom &&
		s.Rate == other.Rate && s.RampTo == other.RampTo &&
		equal(s.Wave, other.Wave) && equal(s.Arrivals, other.Arrivals)
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// CheckInterleave returns an error that says why a step cannot be interleaved; nil if it can.
func (s Step) CheckInterleave() error {
	switch {
	case s.RampFrom > 0 || s.RampTo > 0 || s.Wave != nil:
		return errors.New("its load varies")
	case s.Arrivals != nil:
		return errors.New("it has arrivals")
	case s.MaxRequests > 0:
		return errors.New("it ends after a number of requests")
	}
	return nil
}

// Validate returns everything that is wrong with a step, but for the bounds of single values, which their tags have.
func (s Step) Validate() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	ways := 0
	for _, is := range []bool{s.Connections != 0, s.Rate != 0 || s.PeakShare != 0, s.Arrivals != nil} {
		if is {
			ways++
		}
	}
	switch {
	case ways > 1:
		bad("a step has either connections, a rate or arrivals")
	case s.Arrivals != nil:
		if s.MaxRequests != 0 {
			bad("at most %d requests: not with arrivals, which set the number of requests", s.MaxRequests)
		}
	case s.PeakShare != 0 && s.Rate == 0:
		bad("the rate is %g%% of peak, but no earlier step has one", 100*s.PeakShare)
	case s.Rate != 0:
		rates := []float64{s.Rate, s.Rate + s.Swing(), s.Rate - s.Swing()}
		if s.RampTo != 0 {
			rates = append(rates, s.RampTo)
		}
		if i := slices.IndexFunc(rates, func(rate float64) bool { return !(rate > 0 && rate <= MaxRate) }); i >= 0 {
			bad("rate %g: must be above 0 and at most %.0f", rates[i], MaxRate)
		}
		if s.RampTo != 0 && s.Wave != nil || s.Wave != nil && s.Wave.Period <= 0 {
			bad("a rate is constant, a ramp or a wave with a period")
		}
	case s.RampFrom != 0 && (s.RampFrom < 1 || s.RampFrom >= s.Connections):
		bad("ramp from %d to %d connections: must start with at least 1 and with fewer than at the end", s.RampFrom,
			s.Connections)
	case s.Connections < 1 || s.Connections > MaxConnections:
		bad("%d connections: must be 1 to %d", s.Connections, MaxConnections)
	}
	if s.MaxConnections < 0 || s.MaxConnections > MaxConnections {
		bad("at most %d connections: must be 1 to %d", s.MaxConnections, MaxConnections)
	}
	if s.Duration <= 0 {
		bad("duration %s: must be positive", s.Duration)
	}
	return errs
}

// Swing returns the amplitude of the wave; 0 without one.
func (s Step) Swing() float64 {
	if s.Wave == nil {
		return 0
	}
	return math.Abs(s.Wave.Amplitude)
}

// Threshold is a pass/fail condition of a profile on the measured steps.
type Threshold struct {
	Condition string `json:"condition" yaml:"condition" strict:"required,min=1,max=500" example:"p99<50ms"` // one or more comparisons: "p99<50ms,errors<0.1%"
	// number of the first step that is checked, from 1, warm-ups included; 0: the first step
	FromStep int   `json:"from_step,omitempty" yaml:"from_step" strict:"min=1,max=1000"`
	Stop     Scope `json:"stop,omitempty" yaml:"stop" strict:"oneof=trial|true|run|false"` // what ends after a step that fails it; "": nothing
}

// Scope is what a failed threshold ends.
type Scope string

// The scopes.
const (
	ScopeTrial Scope = "trial"
	ScopeRun   Scope = "run"
)

// AppliesTo reports whether the threshold applies to a step; index counts from 0.
func (t Threshold) AppliesTo(index int, step Step) bool { return !step.WarmUp && index+1 >= t.FromStep }

// ThresholdResult is the result of one condition of a threshold in one step.
type ThresholdResult struct {
	Condition string `json:"condition"` // one comparison: "p99<50ms"
	// value in ns, as a share from 0 to 1, or in successes per second; absent without successes
	Value   *float64 `json:"value,omitempty"`
	Passed  bool     `json:"passed"`
	Text    string   `json:"text"`              // the result as text: "p99 is 71.2ms, not <50ms"
	Stopped Scope    `json:"stopped,omitempty"` // what ended because of it
}

// Missed returns the conditions that the step did not pass.
func (s StepResult) Missed() (missed []ThresholdResult) {
	for _, r := range s.Thresholds {
		if !r.Passed {
			missed = append(missed, r)
		}
	}
	return missed
}
