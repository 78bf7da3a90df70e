package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
)

// DefaultMaxErrors is the highest error rate of a valid step if the profile sets none.
const DefaultMaxErrors = 0.01

// ErrorsAllowed returns max_errors of the profile, or the default.
func (p Profile) ErrorsAllowed() float64 { return cmp.Or(p.MaxErrors, DefaultMaxErrors) }

// WorstErrors returns the highest error rate: of all requests, or of one kind of request, which it
// then names. A rare kind that always fails hardly changes the rate of all.
func (l Load) WorstErrors() (ratio float64, request string) {
	ratio = l.ErrorRate()
	for _, r := range l.Requests {
		if own := r.ErrorRate(); own > ratio {
			ratio, request = own, r.Name
		}
	}
	return ratio, request
}

// TooManyUnexpected reports whether the share of unexpected bodies among the compared ones is above
// Profile.MaxUnexpected, of all requests or of one kind, which it then names.
func (l Load) TooManyUnexpected(allowed float64) (request string, ok bool) {
	over := func(b Bodies) bool { return float64(b.Unexpected) > allowed*float64(b.Compared) }
	for _, r := range l.Requests {
		if over(r.bodies()) {
			return r.Name, true
		}
	}
	return "", over(l.bodies())
}

// Bodies counts the bodies of a trial that were compared with the expected ones.
type Bodies struct {
	Unexpected int64 `json:"unexpected,omitempty"`
	Compared   int64 `json:"compared"` // the unexpected ones included
}

// Bodies returns the bodies compared in all steps of the trial, warm-ups included; nil if there are
// none.
func (t TrialResult) Bodies() *Bodies {
	var b Bodies
	for _, s := range t.Steps {
		own := s.Load.bodies()
		b.Unexpected, b.Compared = b.Unexpected+own.Unexpected, b.Compared+own.Compared
	}
	if b.Compared == 0 {
		return nil
	}
	return &b
}

// Unexpected counts the unexpected bodies of a contender in all its steps. In at least one they
// were too many.
type Unexpected struct {
	Count       int64  `json:"count"`                 // unexpected bodies
	Compared    int64  `json:"compared"`              // bodies that were compared, the unexpected ones included
	Step        string `json:"step"`                  // first step with too many
	Connections int    `json:"connections,omitempty"` // connections of that step; 0: open loop
	Round       int    `json:"round"`                 // round of that step, from 1
	Request     string `json:"request,omitempty"`     // name of the request, if the step has several kinds
	First       string `json:"first,omitempty"`       // the expected and the actual body, bounded
	// of that step and, if set, that request, where a share is allowed; nil: none is
	InStep *Bodies `json:"in_step,omitempty"`
}

// Share returns "3 of 114 compared bodies were unexpected (2.6%)".
func (x Unexpected) Share() string { return x.counts() + " (" + x.share() + ")" }

func (x Unexpected) counts() string {
	verb := "were"
	if x.Count == 1 {
		verb = "was"
	}
	compared := max(x.Compared, x.Count)
	bodies := "bodies"
	if compared == 1 {
		bodies = "body"
	}
	return fmt.Sprintf("%s of %s compared %s %s unexpected", units.Count(x.Count), units.Count(compared), bodies, verb)
}

func (x Unexpected) share() string {
	return twoDigits(float64(x.Count) / float64(max(1, x.Compared, x.Count)))
}

// Interval returns the 95% confidence interval (Wilson) of the share, from 0 to 1.
func (x Unexpected) Interval() (low, high float64) {
	const z = 1.959964
	n := float64(max(1, x.Compared, x.Count))
	share := float64(x.Count) / n
	middle := share + z*z/(2*n)
	half := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	low, high = max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
	if share == 1 {
		high = 1 // without the error of the arithmetic
	}
	return low, high
}

// twoDigits returns a share in percent: "2.6%", "26%"; only all is "100%".
func twoDigits(share float64) string {
	switch {
	case share < 0.0995:
		return fmt.Sprintf("%.2g%%", 100*share)
	case share >= 0.995 && share < 1:
		return ">99%"
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// String returns Share over all steps, with its interval and the first step.
func (x Unexpected) String() string {
	low, high := x.Interval()
	text := fmt.Sprintf("%s (%s, 95%% CI %s to %s) in all steps", x.counts(), x.share(), twoDigits(low), twoDigits(high))
	if b := x.InStep; b != nil {
		text += ", first too many (" + units.Count(b.Unexpected) + " of " + units.Count(b.Compared) + ")"
	} else {
		text += ", first"
	}
	text += " in round " + fmt.Sprint(x.Round) + " at "
	switch at := plural(x.Connections, "connection"); {
	case x.Connections == 0:
		return text + "step " + x.Step
	case at == x.Step:
		return text + at
	default:
		return text + "step " + x.Step + " (" + at + ")"
	}
}

// unexpectedOf returns the unexpected bodies of a trial in all its steps, warm-ups included; nil if
// they were too many in none.
func (t TrialResult) unexpectedOf(allowed float64) *Unexpected {
	for _, s := range t.Steps {
		request, over := s.Load.TooManyUnexpected(allowed)
		if !over {
			continue
		}
		x := &Unexpected{
			Step: s.Step.Name, Connections: s.Step.Connections, Round: t.Trial.Round, Request: request,
			First: s.Load.Examples[ErrWrong],
		}
		own := s.Load.bodies()
		for _, r := range s.Load.Requests {
			if r.Name == request {
				x.First = cmp.Or(r.Examples[ErrWrong], x.First)
				own = r.bodies()
			}
		}
		x.Count, x.Compared = own.Unexpected, own.Compared
		if all := t.Bodies(); all != nil { // nil: a file from outside has counts by request only
			x.Count, x.Compared = max(x.Count, all.Unexpected), max(x.Compared, all.Compared)
		}
		if allowed > 0 {
			x.InStep = &own
		}
		return x
	}
	return nil
}

// Exclusion is why a contender is not compared: it failed, or had unexpected responses or too many
// errors.
type Exclusion struct {
	Cause        *Cause      `json:"cause,omitempty"`      // why it did not complete its first failed trial
	Unexpected   *Unexpected `json:"unexpected,omitempty"` // nil: no step had too many
	FailedChecks int         `json:"failed_checks,omitempty"`
	Checks       int         `json:"checks,omitempty"`        // checks that passed or failed
	NoValidStep  bool        `json:"no_valid_step,omitempty"` // every measured step had an error rate above max_errors
	Errors       float64     `json:"errors,omitempty"`        // lowest error rate of all requests of a measured step
	// first failure: the request, the expected and the actual response
	First string `json:"first,omitempty"`
}

// OnlyErrors reports whether errors are the only reason; also of nil.
func (e *Exclusion) OnlyErrors() bool {
	return e == nil || e.Cause == nil && e.Unexpected == nil && e.FailedChecks == 0
}

// Excluded returns why the trial is excluded; nil if it is valid or has measured nothing. maxErrors
// is Profile.ErrorsAllowed, maxUnexpected Profile.MaxUnexpected. The errors of a contender whose
// need has ended are not its own.
func (t TrialResult) Excluded(maxErrors, maxUnexpected float64) *Exclusion {
	if t.LostNeed() {
		return nil
	}
	u := Exclusion{Cause: t.WhyFailed()}
	if u.Unexpected = t.unexpectedOf(maxUnexpected); u.Unexpected != nil {
		u.First = u.Unexpected.First
		if u.Unexpected.Request != "" && u.First != "" {
			u.First = u.Unexpected.Request + ": " + u.First
		}
	}
	for _, c := range t.Checks {
		switch c.Status {
		case CheckFailed:
			if u.FailedChecks++; u.FailedChecks == 1 && u.First == "" {
				u.First = firstOf(c)
			}
			u.Checks++
		case CheckPassed:
			u.Checks++
		}
	}
	measured, valid := 0, false
	for _, s := range t.Steps {
		if s.Step.WarmUp || s.Load.Ended() == 0 {
			continue
		}
		measured++
		ratio, _ := s.Load.WorstErrors()
		valid = valid || ratio <= maxErrors
		if all := s.Load.ErrorRate(); measured == 1 || all < u.Errors {
			u.Errors = all // of all requests: the worst kind of request decides, but says nothing of the others
		}
	}
	if u.NoValidStep = measured > 0 && !valid; u.NoValidStep && u.First == "" {
		u.First = t.firstError()
	}
	if !u.NoValidStep {
		u.Errors = 0
	}
	if u.FailedChecks == 0 && !u.NoValidStep && u.Unexpected == nil && u.Cause == nil {
		return nil
	}
	return &u
}

func firstOf(c CheckResult) string {
	text := cmp.Or(c.Request, c.Group+": "+c.Name)
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}

// firstError returns an example of the most frequent kind of error in the first step with errors.
func (t TrialResult) firstError() string {
	for _, s := range t.Steps {
		if kinds := s.Load.FailedKinds(); len(kinds) > 0 {
			return cmp.Or(s.Load.Examples[kinds[0]], kinds[0].Words())
		}
	}
	return ""
}

// FailedKinds returns the kinds of errors, the most frequent first.
func (l Load) FailedKinds() []ErrorKind {
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(l.Failed)), func(k ErrorKind) bool { return l.Failed[k] == 0 })
	slices.SortStableFunc(kinds, func(a, b ErrorKind) int { return cmp.Compare(l.Failed[b], l.Failed[a]) })
	return kinds
}

// Add returns the sum of the exclusions of two trials of the same contender; either may be nil.
func (u *Exclusion) Add(o *Exclusion) *Exclusion {
	if u == nil || o == nil {
		return cmp.Or(u, o)
	}
	sum := *u
	sum.Cause = graver(u.Cause, o.Cause)
	sum.FailedChecks, sum.Checks = u.FailedChecks+o.FailedChecks, u.Checks+o.Checks
	if o.Unexpected != nil {
		all := *o.Unexpected
		if u.Unexpected != nil {
			all = *u.Unexpected
			all.Count += o.Unexpected.Count
			all.Compared += o.Unexpected.Compared
		}
		sum.Unexpected = &all
	}
	if o.NoValidStep {
		if !u.NoValidStep || o.Errors < u.Errors {
			sum.Errors = o.Errors
		}
		sum.NoValidStep = true
	}
	sum.First = cmp.Or(u.First, o.First)
	if u.Unexpected == nil && o.Unexpected != nil { // unexpected bodies are the first reason
		sum.First = cmp.Or(o.First, u.First)
	}
	return &sum
}

// Brief returns the cause of a failed trial, "sent unexpected bodies: 3 of 114 compared bodies were
// unexpected (2.6%, …) in all steps, …", "failed 36 of 36 checks", "failed every request" or
// "failed at least 2.1% of its requests in every step", or several of them.
func (u Exclusion) Brief() string {
	var parts []string
	if u.Cause != nil {
		parts = append(parts, u.Cause.Predicate())
	}
	if u.Unexpected != nil {
		parts = append(parts, "sent unexpected bodies: "+u.Unexpected.String())
	}
	if u.Cause != nil { // failed checks and errors are its symptoms
		return strings.Join(parts, ", and ")
	}
	if n := u.FailedChecks; n > 0 {
		parts = append(parts, fmt.Sprintf("failed %d of %s", n, plural(u.Checks, "check")))
	}
	switch {
	case !u.NoValidStep:
	case u.Errors >= 1:
		parts = append(parts, "failed every request")
	default:
		parts = append(parts, fmt.Sprintf("failed at least %.3g%% of its requests in every step", 100*u.Errors))
	}
	return strings.Join(parts, ", and ")
}

// String returns Brief and the first failure.
func (u Exclusion) String() string {
	if u.First == "" || u.Cause != nil && u.Unexpected == nil {
		return u.Brief()
	}
	return u.Brief() + "; first: " + u.First
}

// ExcludedContender is a contender with the exclusions of all its trials.
type ExcludedContender struct {
	Label string
	Exclusion
}

// SumExclusions returns the exclusion of a contender from its trials, of which Excluded and Bodies
// count; nil if none is excluded. Unexpected bodies are counted in all trials.
func SumExclusions(trials []TrialEntry) (sum *Exclusion) {
	for _, t := range trials {
		sum = sum.Add(t.Excluded)
	}
	if sum == nil || sum.Unexpected == nil {
		return sum
	}
	whole, all := *sum, *sum.Unexpected
	for _, t := range trials {
		if t.Bodies != nil && (t.Excluded == nil || t.Excluded.Unexpected == nil) {
			all.Count += t.Bodies.Unexpected
			all.Compared += t.Bodies.Compared
		}
	}
	whole.Unexpected = &all
	return &whole
}

// Excluded returns the excluded contenders of the run, sorted by label.
func (r Run) Excluded() (all []ExcludedContender) {
	of := map[string][]TrialEntry{}
	for _, e := range r.Trials {
		of[e.Trial.Label()] = append(of[e.Trial.Label()], e)
	}
	for _, label := range slices.Sorted(maps.Keys(of)) {
		if sum := SumExclusions(of[label]); sum != nil {
			all = append(all, ExcludedContender{label, *sum})
		}
	}
	return all
}

// ExclusionOf returns why a trial of the run is excluded. With AcceptFailedChecks, failed checks do
// not count, but unexpected bodies under load do: only MaxUnexpected permits them. A search for
// capacity excludes nothing, because its steps are meant to find errors.
func (r Run) ExclusionOf(trial TrialResult) *Exclusion {
	if r.Search != "" {
		return nil
	}
	if r.AcceptFailedChecks {
		trial.Checks = nil
	}
	return trial.Excluded(r.Profile.ErrorsAllowed(), r.Profile.MaxUnexpected)
}
