package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// LongestProposal is the longest run that is proposed to settle what is open.
const LongestProposal = 30 * time.Minute

// Open is an inconclusive measure of two contenders.
type Open struct {
	Measure measure.ID
	Rounds  int     // per side; of the smaller side
	More    int     // stats.Comparison.More
	Most    float64 // the largest ratio within the CI, 1.07 also for 1 / 1.07; 0: not known
	Kinds   bool    // the rounds of a side are of two kinds
}

// OpenOf returns an inconclusive comparison of these values of the rounds as an Open.
func OpenOf(id measure.ID, before, after []float64, more int, ratio *stats.Ratio) Open {
	kinds, _ := stats.TwoKinds(before)
	others, _ := stats.TwoKinds(after)
	return Open{id, min(len(before), len(after)), more, ratio.Most(), kinds+others > 0}
}

// Open returns the inconclusive pairs of the contenders in tiers.
func (s Standing) Open() (all []Open) {
	for b := range s.Members {
		for a := range b {
			if c, ok := s.Pair(a, b); ok && c.Verdict == stats.Inconclusive && (c.Ratio != nil || c.More > 0) {
				all = append(all, OpenOf(s.Measure, c.Old.Values, c.New.Values, c.More, c.Ratio))
			}
		}
	}
	return all
}

// Settling is what settles inconclusive measures.
type Settling struct {
	Text    string   // a sentence; "": there is nothing to say
	Changes []string // options of another run with the profile, "--rounds=12"; none: no run is proposed
	About   string   // the time of that run, ", about 12 min"; "": not known
}

// SettleOpen returns what settles the first of the inconclusive measures, with the time that it
// takes: interleaving, if the run was not interleaved for a reason that the user can change, or
// more rounds. What takes longer than LongestProposal is not proposed: the sentence then says how
// large the difference can be, and what else settles it. Of contenders of two runs, run is the older
// one, and together is false.
func SettleOpen(open []Open, run *Run, paired, together bool) Settling {
	var best Open
	for _, o := range open {
		if o.More > 0 && (best.More == 0 || o.More < best.More) {
			best = o
		}
	}
	switch {
	case len(open) == 0:
		return Settling{}
	case slices.ContainsFunc(open, func(o Open) bool { return o.Kinds && o.Measure == measure.Throughput }):
		return Settling{Text: "More rounds do not help: the rounds of one contender are of two kinds. Look for what differs between two of its starts."}
	case best.More == 0:
		return Settling{Text: "More rounds do not help: the changes are below the noise floor."}
	}
	title, all := measure.Get(best.Measure).Comparison.Title, best.Rounds+best.More
	again := func(rounds int, changes ...string) (s Settling, ok bool) {
		total, about := run.about(rounds)
		s = Settling{Changes: append(changes, fmt.Sprintf("--rounds=%d", rounds)), About: about}
		return s, total <= LongestProposal
	}
	if how, can := run.interleaving(); can && together && !paired && all > stats.MinPaired {
		if s, ok := again(stats.MinPaired, how...); ok {
			s.Text = fmt.Sprintf("Interleaving settles it soonest: run again with %s%s.", s.words(), s.About)
			return s
		}
	}
	s, ok := again(all)
	switch soonest := fmt.Sprintf("Soonest settled: %s, by %s", title, units.Plural(best.More, "more round")); {
	case !ok || best.More >= stats.MaxRounds:
		return Settling{Text: run.instead(best, title)}
	case !together:
		return Settling{Text: soonest + " per side; sooner in one run, interleaved."}
	default:
		s.Text = fmt.Sprintf("%s: run again with %s%s.", soonest, s.words(), s.About)
		return s
	}
}

// words returns the changes, written out: "--rounds 12".
func (s Settling) words() string { return strings.ReplaceAll(strings.Join(s.Changes, " "), "=", " ") }

// instead says how large the difference of a measure can be, and what else than rounds settles it.
func (r *Run) instead(o Open, title string) string {
	text := "No verdict within 30 min"
	if o.Most >= 2 {
		text += fmt.Sprintf(": %s is less than ×%.3g apart (95%% CI)", title, o.Most)
	} else if o.Most > 0 {
		text += fmt.Sprintf(": %s is less than %.3g%% apart (95%% CI)", title, 100*(o.Most-1))
	}
	text += ". Longer steps settle more per round"
	if r != nil && slices.ContainsFunc(r.Run.Profile.Needs, func(n bench.NeedSpec) bool { return n.Restarts }) {
		text += "; so does `keep: true` of the needs, which are then not restored before each trial"
	}
	return text + "."
}

// interleaving returns the options that interleave another run with the same profile; ok is false
// if that is not possible, or not known.
func (r *Run) interleaving() (changes []string, ok bool) {
	if r == nil || r.Run.Plain == nil {
		return nil, false
	}
	switch r.Run.Plain.Reason {
	case bench.PlainRounds:
		return nil, true
	case bench.PlainChosen:
		return []string{"--interleave=auto"}, true
	}
	return nil, false
}

// about returns the time of rounds like those of the run: 4 minutes, ", about 4 min"; 0 and "" if it
// is not known.
func (r *Run) about(rounds int) (total time.Duration, words string) {
	if r == nil {
		return 0, ""
	}
	each, ok := r.Run.RoundTime(r.Trials)
	switch total = time.Duration(rounds) * each; {
	case !ok || total <= 0:
		return 0, ""
	case total < time.Minute:
		return total, ", less than 1 min"
	default:
		return total, fmt.Sprintf(", about %.0f min", total.Minutes())
	}
}
