package board

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// verdict returns the bottleneck of a finished step of the shown trial; zero if unknown.
func (v *view) verdict(r *bench.StepResult) verdict.Verdict {
	i := slices.IndexFunc(v.trial.Result.Steps, func(s bench.StepResult) bool { return s.Index == r.Index })
	if i < 0 {
		return verdict.Verdict{}
	}
	return verdict.Trial(v.s.Run.Machine.CPUs, v.trial.Result)[i]
}

// covered are the kinds of warnings that say the same as a bottleneck.
var covered = map[verdict.Bound][]bench.WarningKind{
	verdict.Errors: {bench.WarnErrors},
	verdict.Quota:  {bench.WarnThrottled},
	verdict.Memory: {bench.WarnMemory},
	verdict.Client: {bench.WarnClientBound, bench.WarnClientMaybeBound},
	verdict.Rate:   {bench.WarnRateChanged},
}

// notes returns the bottleneck of a step and its warnings, without saying the same twice.
func (v *view) notes(r *bench.StepResult) string {
	words := warningWords(r, v.trial.Limits())
	bound := v.verdict(r).Bound
	same := func(w word) bool { return slices.Contains(covered[bound], w.kind) }
	text := v.l.Warn.S(v.own(join(words)))
	switch {
	case bound == "" || bound == verdict.Unclear && len(words) > 0 || slices.ContainsFunc(words, same):
		return text
	case len(words) == 0:
		return v.own(string(bound))
	}
	return v.own(string(bound)) + ", " + text
}

// word is one of the notes of a step.
type word struct {
	kind bench.WarningKind // bench.WarnOther: the word is not about a warning
	text string
}

func join(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, ", ")
}

// wordOf are the words for warnings. A warning and a counter with the same word are named once.
var wordOf = map[bench.WarningKind]string{
	bench.WarnWarmingUp:                     bench.StillWarmingUp,
	bench.WarnDrifting:                      bench.Unstable,
	bench.WarnErrors:                        "errors",
	bench.WarnDropped:                       "dropped",
	bench.WarnRejected:                      "rejected",
	bench.WarnNotLookedAt:                   "bodies not looked at",
	bench.WarnPace:                          "pace",
	bench.WarnThrottled:                     "quota",
	bench.WarnMemory:                        "memory",
	bench.WarnMemoryGrowth:                  "memory grows",
	bench.WarnClientBound:                   "client-bound",
	bench.WarnClientMaybeBound:              "client-bound",
	bench.WarnRunPaused:                     "paused",
	bench.WarningKind(bench.IncidentPaused): "paused",
	bench.WarnRateChanged:                   "rate changed",
	bench.WarnOOM:                           "OOM kill",
}

// warningWords returns a word for each reason to distrust a finished step, the gravest first. A
// warning without a word is a "warning" if there is no other word.
func warningWords(r *bench.StepResult, limits bench.Limits) (words []word) {
	if r.Ending != "" {
		words = append(words, word{text: string(r.Ending)})
	}
	if len(r.Missed()) > 0 {
		words = append(words, word{text: "missed"})
	}
	for _, m := range verdict.Marks(*r, limits) {
		words = append(words, word{m.Kind, wordOf[m.Kind] + " " + units.Tenths(m.Share)})
	}
	counted := len(words) > 0 || r.Drift != nil
	for _, f := range r.AllWarnings() {
		w := word{f.Kind, wordOf[f.Kind]}
		if w.text == "" || f.Kind == bench.WarnDropped {
			w = word{text: "warning"}
			if counted {
				continue
			}
		}
		if !slices.ContainsFunc(words, func(o word) bool { return o.text == w.text }) {
			words = append(words, w)
		}
	}
	return words
}
