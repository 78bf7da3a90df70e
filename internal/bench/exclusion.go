package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DefaultMaxErrors is the share of failed requests up to which the figures of a step support a
// claim, where a profile says nothing else.
const DefaultMaxErrors = 0.01

// UsesData reports whether the data set has a part in a run of the profile: it fills the store, is
// what answers are compared with, or has the ids that are asked for.
func (p Profile) UsesData() bool {
	compared := p.CompareBodies > 0 && slices.ContainsFunc(p.Requests, Request.NamesCity) // with the response that it knows
	return !p.Store.Kind.Traits().None || compared || p.DrawsIDs()
}

// ErrorsAllowed returns the profile's max_errors, or the default.
func (p Profile) ErrorsAllowed() float64 { return cmp.Or(p.MaxErrors, DefaultMaxErrors) }

// WorstErrors returns the highest share of failed requests: of all, or of one kind of request, which is
// then named. A kind that always fails may be few of the requests.
func (l Load) WorstErrors() (ratio float64, request string) {
	ratio = l.ErrorRate()
	for _, r := range l.Requests {
		if own := (Load{Succeeded: r.Succeeded, Failed: r.Failed}).ErrorRate(); own > ratio {
			ratio, request = own, r.Name
		}
	}
	return ratio, request
}

// Exclusion is why a contender takes part in no claim of a run: what it answered was wrong, or it did
// not respond.
type Exclusion struct {
	FailedChecks int     `json:"failed_checks,omitempty"`
	Checks       int     `json:"checks,omitempty"`        // that passed or failed
	NoValidStep  bool    `json:"no_valid_step,omitempty"` // more requests failed than max_errors in every measured step
	Errors       float64 `json:"errors,omitempty"`        // the lowest such share of its steps
	First        string  `json:"first,omitempty"`         // of what was wrong: what was asked, wanted and answered
}

// Excluded returns what makes a trial excluded; nil where it is sound, or has measured nothing since it was
// ended from outside. maxErrors is Profile.ErrorsAllowed.
func (l TrialResult) Excluded(maxErrors float64) *Exclusion {
	var u Exclusion
	for _, c := range l.Checks {
		switch c.Status {
		case CheckFailed:
			if u.FailedChecks++; u.FailedChecks == 1 {
				u.First = firstOf(c)
			}
			u.Checks++
		case CheckPassed:
			u.Checks++
		}
	}
	measured, sound := 0, false
	for _, s := range l.Steps {
		if s.Step.WarmUp || s.Load.FailedTotal()+s.Load.AllSucceeded() == 0 {
			continue
		}
		measured++
		ratio, _ := s.Load.WorstErrors()
		sound = sound || ratio <= maxErrors
		if measured == 1 || ratio < u.Errors {
			u.Errors = ratio
		}
	}
	if u.NoValidStep = measured > 0 && !sound; u.NoValidStep && u.First == "" {
		u.First = l.firstError()
	}
	if !u.NoValidStep {
		u.Errors = 0
	}
	if u.FailedChecks == 0 && !u.NoValidStep {
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

// firstError returns the text of the most frequent kind of failure of its first step that has one.
func (l TrialResult) firstError() string {
	for _, s := range l.Steps {
		if kinds := s.Load.FailedKinds(); len(kinds) > 0 {
			return cmp.Or(s.Load.Examples[kinds[0]], kinds[0].Words())
		}
	}
	return ""
}

// FailedKinds returns the kinds of failures, the most frequent first.
func (l Load) FailedKinds() []ErrorKind {
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(l.Failed)), func(k ErrorKind) bool { return l.Failed[k] == 0 })
	slices.SortStableFunc(kinds, func(a, b ErrorKind) int { return cmp.Compare(l.Failed[b], l.Failed[a]) })
	return kinds
}

// Add takes in what was excluded in another trial of the same contender; either may be nil.
func (u *Exclusion) Add(o *Exclusion) *Exclusion {
	if u == nil || o == nil {
		return cmp.Or(u, o)
	}
	sum := *u
	sum.FailedChecks, sum.Checks = u.FailedChecks+o.FailedChecks, u.Checks+o.Checks
	if o.NoValidStep {
		if !u.NoValidStep || o.Errors < u.Errors {
			sum.Errors = o.Errors
		}
		sum.NoValidStep = true
	}
	sum.First = cmp.Or(u.First, o.First)
	return &sum
}

// Brief returns "failed 36 of 36 checks", "failed every request", or "failed 2.1% of its requests, or more, in every step".
func (u Exclusion) Brief() string {
	var parts []string
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

// String returns Brief with the first failure.
func (u Exclusion) String() string {
	if u.First == "" {
		return u.Brief()
	}
	return u.Brief() + "; first: " + u.First
}

// ExcludedContender is one with the label, over all its trials.
type ExcludedContender struct {
	Label string
	Exclusion
}

// Excluded returns the contenders that take part in no claim of the run, as far as its record says, by
// their labels.
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

// ExclusionOf returns what makes a trial of the run excluded, as far as the run minds: with AcceptFailedChecks
// failed checks do not, and in a search for capacity, whose steps are there to find errors, nothing.
func (r Run) ExclusionOf(trial TrialResult) *Exclusion {
	if r.Search != "" {
		return nil
	}
	if r.AcceptFailedChecks {
		trial.Checks = nil
	}
	return trial.Excluded(r.Profile.ErrorsAllowed())
}
