package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Standing is the result of comparing all contenders of a run in one measure: tiers, not ranks.
type Standing struct {
	Measure measure.ID
	Places  []Place // by tier, in each tier the leader first; contenders without a tier last
	Members []int   // indices in Places of the compared contenders, the best median first
	Tiers   [][]int // indices in Members; in each tier the leader first
	Paired  bool    // the contenders were interleaved: rounds are compared in pairs
	pairs   map[[2]int]stats.Comparison
}

// Place is the place of one contender.
type Place struct {
	Contender string     // label
	Step      bench.Step // at which it is compared, if any
	Tier      int        // from 1; 0: none
	Value     stats.Value
	Out       string // why it can be in no tier: rounds or requests failed, client-bound, or an open loop
}

// Standing groups the contenders into tiers by one measure. A contender in a lower tier is
// significantly worse than the leader of every higher tier (Mann-Whitney, or signed ranks for
// interleaved rounds), and by more than the noise floor. A tier takes stats.MinInterval rounds. The
// difference has to hold after Holm's correction over all pairs of contenders in this measure, and
// over all measures of the two contenders: compare.Pair of the two gives the same p value.
//
// Throughput is taken at each contender's own peak; CPU and p99 at one step for all, by reference.
func (r *Run) Standing(id measure.ID, rule stats.Rule) Standing {
	m := measure.Get(id)
	s := Standing{Measure: id, pairs: map[[2]int]stats.Comparison{}}
	if len(r.Contenders) == 0 {
		return s
	}
	f := r.family()
	own := f.row(id)
	if own.ID == "" { // not tested, such as the CPU time of an external need
		return s
	}
	values, places := make([][]float64, len(f.all)), make([]Place, len(f.all))
	var compared [][]float64
	s.Paired = true
	for i, c := range f.all {
		places[i] = Place{Contender: c.Label, Step: c.StepOf(m, f.ref).Step,
			Value: stats.NewValue(own.values[i]), Out: safe.Line(own.out[i], 400)}
		if own.inPair(i) {
			values[i], compared = own.values[i], append(compared, own.values[i])
			s.Paired = s.Paired && f.paired[i]
		}
	}
	s.Paired = s.Paired && len(compared) > 1 && stats.SameLength(compared...)
	rule.Within = m.Comparison.Near
	t := rule.Tiers(values, m.Higher, s.Paired, func(a, b int) ([]stats.Weighted, float64) {
		return f.otherMeasures(id, a, b)
	})
	s.Members = make([]int, len(t.Order))
	member := map[int]int{} // index in Order of a contender
	for k, i := range t.Order {
		member[i] = k
	}
	for n, tier := range t.Tiers {
		s.Tiers = append(s.Tiers, nil)
		for _, i := range tier {
			places[i].Tier = n + 1
			s.Members[member[i]] = len(s.Places)
			s.Tiers[n] = append(s.Tiers[n], member[i])
			s.Places = append(s.Places, places[i])
		}
	}
	for _, i := range t.Unknown {
		s.Places = append(s.Places, places[i])
	}
	for pair, c := range t.Pairs {
		s.pairs[[2]int{member[pair[0]], member[pair[1]]}] = c.Said(stats.Words{Text: m.Unit.Text, Zero: m.Comparison.Zero,
			Sides: [2]string{safe.Line(f.all[pair[1]].Label, 60), safe.Line(f.all[pair[0]].Label, 60)}})
	}
	return s
}

// outside returns why c can be in no tier of m; see stats.Outside.
func (c Contender) outside(m measure.Measure, ref Contender) string {
	peak, ok := c.PeakStep()
	clientBound := ok && c.Bounds[peak.Index].Bound == verdict.Client
	return cmp.Or(stats.Outside(m.Comparison.Kind, c.Contender, c.StepOf(m, ref), clientBound), c.unlike(m, ref),
		c.unanswered(m, ref))
}

// Pair returns the comparison of two members, the better median first.
func (s Standing) Pair(a, b int) (c stats.Comparison, ok bool) {
	c, ok = s.pairs[[2]int{a, b}]
	return c, ok
}

// Member returns the place of a member, by its index in Members.
func (s Standing) Member(i int) Place { return s.Places[s.Members[i]] }

// Leaders returns the leader of the first tier with the members that are not significantly worse,
// and the members behind it.
func (s Standing) Leaders() (leaders, behind []int) {
	for i := range s.Members {
		if c, ok := s.Pair(s.Tiers[0][0], i); ok && c.Verdict == stats.Better {
			behind = append(behind, i)
		} else {
			leaders = append(leaders, i)
		}
	}
	return leaders, behind
}

// Alone reports whether the contender with a label differs significantly from each of the others.
func (s Standing) Alone(label string) bool {
	i := slices.IndexFunc(s.Members, func(place int) bool { return safe.Line(s.Places[place].Contender, 60) == label })
	for k := range s.Members {
		if c, ok := s.Pair(min(i, k), max(i, k)); k != i && (!ok || c.Verdict != stats.Better) {
			return false
		}
	}
	return i >= 0 && len(s.Members) > 1
}

// Alike reports whether all pairs are the same within the margin.
func (s Standing) Alike() bool {
	for _, c := range s.pairs {
		if c.Verdict != stats.Same {
			return false
		}
	}
	return len(s.pairs) > 0
}

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
