package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locbench/internal/bench/units"
)

// DefaultMaxErrors is the highest error rate of a valid step if the profile sets none.
const DefaultMaxErrors = 0.01

// UsesData reports whether a run of the profile needs the data set: for the store, to compare
// responses with, or for the ids in requests.
func (p Profile) UsesData() bool {
	compared := p.CompareBodies > 0 && slices.ContainsFunc(p.Requests, Request.NamesCity)
	return !p.Store.Kind.Traits().None || compared || p.DrawsIDs()
}

// ErrorsAllowed returns max_errors of the profile, or the default.
func (p Profile) ErrorsAllowed() float64 { return cmp.Or(p.MaxErrors, DefaultMaxErrors) }

// WorstErrors returns the highest error rate: of all requests, or of one kind of request, which it
// then names. A rare kind that always fails hardly changes the rate of all.
func (l Load) WorstErrors() (ratio float64, request string) {
	ratio = l.ErrorRate()
	for _, r := range l.Requests {
		if own := r.errorRate(); own > ratio {
			ratio, request = own, r.Name
		}
	}
	return ratio, request
}

// errorRate returns Load.ErrorRate of one kind of request.
func (r RequestLoad) errorRate() float64 {
	return Load{Succeeded: r.Succeeded, Rejected: r.Rejected, Failed: r.Failed, Checked: r.Checked}.ErrorRate()
}

// TooManyUnexpected reports whether the share of unexpected bodies among the compared ones is above
// Profile.MaxUnexpected, of all requests or of one kind, which it then names.
func (l Load) TooManyUnexpected(allowed float64) (request string, ok bool) {
	over := func(failed map[ErrorKind]int64, checked int64) bool {
		n := failed[ErrWrong]
		return n > 0 && float64(n) > allowed*float64(max(n, checked))
	}
	for _, r := range l.Requests {
		if over(r.Failed, r.Checked) {
			return r.Name, true
		}
	}
	return "", over(l.Failed, l.Checked)
}

// Unexpected counts the unexpected bodies of a contender in the steps where they were too many.
type Unexpected struct {
	Count       int64  `json:"count"`                 // unexpected bodies
	Compared    int64  `json:"compared"`              // bodies that were compared, the unexpected ones included
	Step        string `json:"step"`                  // first of these steps
	Connections int    `json:"connections,omitempty"` // connections of that step; 0: open loop
	Round       int    `json:"round"`                 // round of that step, from 1
	Request     string `json:"request,omitempty"`     // name of the request, if the step has several kinds
	First       string `json:"first,omitempty"`       // the expected and the actual body, bounded
}

// Share returns "3 of 114 compared bodies were unexpected (2.6%)".
func (x Unexpected) Share() string {
	verb := "were"
	if x.Count == 1 {
		verb = "was"
	}
	compared := max(x.Compared, x.Count)
	bodies := "bodies"
	if compared == 1 {
		bodies = "body"
	}
	return fmt.Sprintf("%s of %s compared %s %s unexpected (%.2g%%)", units.Count(x.Count), units.Count(compared), bodies, verb,
		100*float64(x.Count)/float64(max(1, compared)))
}

// String returns Share with the first step.
func (x Unexpected) String() string {
	text := x.Share() + ", first in round " + fmt.Sprint(x.Round) + " at "
	switch at := plural(x.Connections, "connection"); {
	case x.Connections == 0:
		return text + "step " + x.Step
	case at == x.Step:
		return text + at
	default:
		return text + "step " + x.Step + " (" + at + ")"
	}
}

// unexpectedOf returns the unexpected bodies of a trial in all its steps, warm-ups included, in
// which they were too many; nil if there are none.
func (t TrialResult) unexpectedOf(allowed float64) (sum *Unexpected) {
	for _, s := range t.Steps {
		request, over := s.Load.TooManyUnexpected(allowed)
		if !over {
			continue
		}
		if sum == nil {
			sum = &Unexpected{Step: s.Step.Name, Connections: s.Step.Connections, Round: t.Trial.Round, Request: request}
			sum.First = s.Load.Examples[ErrWrong]
			for _, r := range s.Load.Requests {
				if r.Name == request {
					sum.First = cmp.Or(r.Examples[ErrWrong], sum.First)
				}
			}
		}
		sum.Count += s.Load.Failed[ErrWrong]
		sum.Compared += s.Load.Checked
	}
	return sum
}

// Exclusion is why a contender is not compared: it failed, or had unexpected responses or too many
// errors.
type Exclusion struct {
	Cause        *Cause      `json:"cause,omitempty"`      // why it did not complete its first failed trial
	Unexpected   *Unexpected `json:"unexpected,omitempty"` // nil: no step had too many
	FailedChecks int         `json:"failed_checks,omitempty"`
	Checks       int         `json:"checks,omitempty"`        // checks that passed or failed
	NoValidStep  bool        `json:"no_valid_step,omitempty"` // every measured step had an error rate above max_errors
	Errors       float64     `json:"errors,omitempty"`        // lowest error rate of its measured steps
	// first failure: the request, the expected and the actual response
	First string `json:"first,omitempty"`
}

// Excluded returns why the trial is excluded; nil if it is valid or has measured nothing. maxErrors
// is Profile.ErrorsAllowed, maxUnexpected Profile.MaxUnexpected.
func (t TrialResult) Excluded(maxErrors, maxUnexpected float64) *Exclusion {
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
		if measured == 1 || ratio < u.Errors {
			u.Errors = ratio
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
// unexpected (2.6%), …", "failed 36 of 36 checks", "failed every request" or "failed at least 2.1%
// of its requests in every step", or several of them.
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

// Excluded returns the excluded contenders of the run, sorted by label.
func (r Run) Excluded() (all []ExcludedContender) {
	of := map[string]*Exclusion{}
	for _, e := range r.Trials {
		if e.Excluded != nil {
			of[e.Trial.Label()] = of[e.Trial.Label()].Add(e.Excluded)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(of)) {
		all = append(all, ExcludedContender{label, *of[label]})
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
