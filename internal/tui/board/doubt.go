package board

import (
	"strings"

	"locbench/internal/bench"
	"locbench/internal/verdict"
)

// Shares from which on a figure is called in question.
const (
	doubtErrors    = 0.001
	doubtThrottled = 0.10
	doubtMemory    = 0.95
)

// verdict is what bound a finished step of the shown leg, by what is known so far; the zero Verdict where nobody can tell.
func (v *view) verdict(r *bench.StepResult) verdict.Verdict {
	steps := v.leg.Result.Steps
	for i := range steps {
		if steps[i].Index == r.Index {
			return verdict.Leg(v.s.Run.Machine.CPUs, v.leg.Result)[i]
		}
	}
	return verdict.Verdict{}
}

// judged is what bound a step, and what its figures may suffer from, which may be nothing; what both say is said once. It is "" only where
// there is no verdict either.
func (v *view) judged(r *bench.StepResult) string {
	bound, doubt := string(v.verdict(r).Bound), doubt(r, v.leg.Limits())
	switch {
	case bound == string(verdict.Unclear) && doubt != "" || strings.HasPrefix(doubt, bound) || bound == string(verdict.Client) && strings.Contains(doubt, "client"):
		bound = ""
	}
	text := v.l.Warn.S(v.own(doubt))
	switch {
	case bound == "":
		return text
	case doubt == "":
		return v.own(bound)
	}
	return v.own(bound) + ", " + text
}

// doubt is a word or two about what a finished step's figures may suffer from, the gravest first; "" when nothing speaks against
// them. A warning that has no word of its own is told as "warning".
func doubt(r *bench.StepResult, limits bench.Limits) string {
	var words []string
	switch {
	case strings.Contains(r.Aborted, "skipped"):
		words = append(words, "skipped")
	case strings.Contains(r.Aborted, "died"):
		words = append(words, "died")
	case r.Aborted != "":
		words = append(words, "aborted")
	}
	if len(r.Missed()) > 0 {
		words = append(words, "missed")
	}
	if ratio := r.Load.ErrorRatio(); ratio >= doubtErrors {
		words = append(words, "errors "+percent(ratio))
	}
	if n := r.Load.Dropped; n > 0 && r.Load.Scheduled > 0 {
		words = append(words, "dropped "+percent(float64(n)/float64(r.Load.Scheduled)))
	}
	if t, ok := r.Throttling(); ok && t.Periods > 0 {
		if share := float64(t.Throttled) / float64(t.Periods); share >= doubtThrottled {
			words = append(words, "quota "+percent(share))
		}
	}
	if r.After != nil && r.After.Memory != nil && limits.Memory > 0 {
		if share := float64(r.After.Memory.Used) / float64(limits.Memory); share >= doubtMemory {
			words = append(words, "memory "+percent(share))
		}
	}
	if r.Drift != nil {
		words = append(words, r.Drift.Name())
	}
	words = append(words, warned(append(append([]string(nil), r.Load.Warnings...), r.Warnings...), len(words) > 0)...)
	return strings.Join(words, ", ")
}

// warned has a word for the warnings; those that a figure has told already need none.
func warned(warnings []string, told bool) []string {
	var words []string
	seen := map[string]bool{}
	for _, w := range warnings {
		word := ""
		switch {
		case strings.Contains(w, "client-bound"), strings.Contains(w, "the client may be"):
			word = "client-bound"
		case strings.Contains(w, "paused"):
			word = "paused"
		case strings.Contains(w, "rate was"), strings.Contains(w, "rate set"):
			word = "rate changed"
		case strings.Contains(w, "want of memory"):
			word = "OOM kill"
		case !told:
			word = "warning"
		}
		if word != "" && !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}
