package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

func sayNothingMeasured(f Facts) string {
	if len(f.Contenders) == 0 {
		return "No results: no trial was run."
	}
	responded := func(c Contender) bool { return c.Excluded == nil || !c.Excluded.NoValidStep || c.Excluded.Errors < 1 }
	if !slices.ContainsFunc(f.Contenders, responded) {
		return "No results: every request failed."
	}
	return "No results: no throughput was measured."
}

// sayExcluded returns why a contender is excluded.
func sayExcluded(c Contender) string {
	return fmt.Sprintf("%s is excluded: it %s.", c.Label, safe.Line(c.WhyExcluded(), 2*maxWords))
}

// sayMemoryGrowth returns the warning of the step in which memory grew the fastest.
func sayMemoryGrowth(c Contender) string {
	return fmt.Sprintf("%s: %s.", c.Label, safe.Line(c.Growth, 2*maxWords))
}

func sayOneContender(f Facts) string {
	c := f.Contenders[0]
	return fmt.Sprintf("%s peaked at %s with %s (%s). One contender: no ranking.",
		c.Label, measure.PerSecond.Text(c.Peak.Throughput.Median), StepWords(c.Peak.Step),
		spread(measure.PerSecond, c.Peak.Throughput))
}

func sayUnequalConditions(Facts) string {
	return "No ranking: contenders ran under different limits or runtimes."
}

// group is a property, and the names of the contenders or steps that have it.
type group struct {
	what  string
	names []string
}

// grouped adds a name to the group of a property.
func grouped(all []group, what, name string) []group {
	i := slices.IndexFunc(all, func(g group) bool { return g.what == what })
	if i < 0 {
		return append(all, group{what, []string{name}})
	}
	all[i].names = append(all[i].names, name)
	return all
}

// requests groups the contenders by the kind of request of their peak step.
func requests(f Facts) (all []group) {
	for _, c := range f.Contenders {
		if c.HasPeak {
			all = grouped(all, c.Peak.Step.Request, c.Label)
		}
	}
	return all
}

func sayDifferentRequests(f Facts) string {
	var words []string
	for _, g := range requests(f) {
		words = append(words, safe.Line(cmp.Or(g.what, "the mix"), 60)+": "+list(g.names))
	}
	return "No ranking by throughput: the peaks are of different requests (" +
		strings.Join(words, "; ") + ")."
}

// reasons returns the reasons why contenders are not compared: "a and b: 1 round, need ≥ 6".
func reasons(out []analysis.Place) string {
	var all []group
	for _, p := range out {
		all = grouped(all, p.Missing(), safe.Line(p.Contender, maxLabel))
	}
	var words []string
	for _, g := range all {
		words = append(words, list(g.names)+": "+g.what)
	}
	return strings.Join(words, "; ")
}

func sayTooFew(f Facts, s analysis.Standing) Sentence {
	text := "No ranking by throughput: "
	rounds := func(p analysis.Place) int { return len(p.Value.Values) }
	short := func(p analysis.Place) bool { return p.Out == "" && rounds(p) > 0 && rounds(p) < stats.MinInterval }
	if slices.ContainsFunc(s.Places, func(p analysis.Place) bool { return !short(p) }) {
		return Sentence{Text: text + "fewer than two comparable contenders (" + reasons(leftOut(s)) + ")."}
	}
	most := 0
	for _, p := range s.Places {
		most = max(most, rounds(p))
	}
	atMost := ""
	if slices.ContainsFunc(s.Places, func(p analysis.Place) bool { return rounds(p) != most }) {
		atMost = "at most "
	}
	rerun := stats.MinInterval
	if f.Plain != nil && f.Plain.Reason == bench.PlainRounds {
		rerun = stats.MinPaired // interleaved
	}
	return Sentence{Text: fmt.Sprintf("%s%s%s per contender, %d needed. Run again with --rounds %d.",
		text, atMost, units.Plural(most, "round"), stats.MinInterval, rerun)}
}

// labels returns the labels of some members, safe for a terminal.
func labels(s analysis.Standing, members []int) (names []string) {
	for _, i := range members {
		names = append(names, label(s, i))
	}
	return names
}

func label(s analysis.Standing, member int) string {
	return safe.Line(s.Member(member).Contender, maxLabel)
}

func allLabels(s analysis.Standing) (names []string) {
	for i := range s.Members {
		names = append(names, label(s, i))
	}
	return names
}

// valueOf returns the median of a member, and its step unless the measure is of whole trials.
func valueOf(s analysis.Standing, member int) (value, at string) {
	p := s.Member(member)
	if !fromStartToStop(s) {
		at = " at " + StepWords(p.Step)
	}
	return p.Text(), at
}

// evidence returns the value of the leader and of the next contender, their ratio, and the p value.
func evidence(s analysis.Standing, behind []int) string {
	first, next := s.Tiers[0][0], slices.Min(behind)
	c, _ := s.Pair(first, next)
	a, atA := valueOf(s, first)
	b, atB := valueOf(s, next)
	return fmt.Sprintf("%s%s, %s vs %s%s of %s; p %.2g (Holm, %s), %d and %s",
		a, atA, c.Ratio.Words(), b, atB, label(s, next), c.Adjusted, units.Plural(c.Family, "test"),
		len(s.Member(first).Value.Values), units.Plural(len(s.Member(next).Value.Values), "round"))
}

// ofThem names the compared contenders if some are not compared.
func ofThem(f Facts, s analysis.Standing) string {
	if len(s.Members) == len(f.Contenders) {
		return ""
	}
	return "Of " + list(allLabels(s)) + ", "
}

func sayWinner(f Facts, s analysis.Standing) Sentence {
	leaders, behind := s.Leaders()
	text := ofThem(f, s) + label(s, leaders[0]) + " " + measure.Get(s.Measure).Comparison.Best + ": " +
		evidence(s, behind)
	if len(behind) > 1 {
		others := slices.DeleteFunc(slices.Clone(behind), func(i int) bool { return i == slices.Min(behind) })
		text += "; it also leads " + list(labels(s, others))
	}
	return Sentence{Text: text + ".", Leaders: labels(s, leaders), Behind: labels(s, behind)}
}

func sayGroup(f Facts, s analysis.Standing) Sentence {
	leaders, behind := s.Leaders()
	names := labels(s, leaders)
	text := fmt.Sprintf("%sno single contender %s: %s are too close. %s leads %s: %s.",
		ofThem(f, s), measure.Get(s.Measure).Comparison.Best, list(names), names[0], list(labels(s, behind)),
		evidence(s, behind))
	if ofThem(f, s) == "" {
		text = "N" + text[1:]
	}
	return Sentence{Text: text, Leaders: names, Behind: labels(s, behind)}
}

func sayTooFewRounds(f Facts, s analysis.Standing) Sentence {
	return Sentence{Text: fmt.Sprintf("Unclear which contender %s: %s (%s) need %s.",
		measure.Get(s.Measure).Comparison.Best, units.Plural(len(s.Members), "contender"), units.Plural(s.Tests, "test"),
		units.Plural(s.RoundsNeeded, "more round"))}
}

func saySame(f Facts, s analysis.Standing) Sentence {
	c, _ := s.Pair(0, len(s.Members)-1)
	return Sentence{Text: fmt.Sprintf("%s have the same %s within %.3g%%; %s to %s: %s.",
		list(allLabels(s)), measure.Get(s.Measure).Comparison.Noun, 100*c.Rule.Margin, label(s, 0),
		label(s, len(s.Members)-1), c.Ratio.Words())}
}

func sayNoDifference(f Facts, s analysis.Standing) Sentence {
	last := len(s.Members) - 1
	c, _ := s.Pair(0, last)
	between := label(s, 0) + " and " + label(s, last)
	if last > 1 {
		extremes := "lowest and highest" // the best median first
		if measure.Get(s.Measure).Higher {
			extremes = "highest and lowest"
		}
		between += ", " + extremes + " median of " + units.Count(int64(last+1))
	}
	return Sentence{Text: fmt.Sprintf("Unclear which contender %s. %s: %s.",
		measure.Get(s.Measure).Comparison.Best, between, c.Sentence())}
}

func sayLeftOut(f Facts, s analysis.Standing) Sentence {
	return Sentence{Text: "No throughput ranking for: " + reasons(leftOut(s)) + "."}
}

func sayBounds(f Facts) []Sentence {
	if len(f.Contenders) > few {
		return nil
	}
	return ofEach(func(c Contender) bool { return c.HasPeak && c.Bound.Bound != "" }, sayBound)(f)
}

func sayBound(c Contender) string {
	how := c.Bound.Words()
	if c.Bound.Rounds > 1 {
		how += fmt.Sprintf(" (in %d of %s; values of the last)", c.Bound.Agree,
			units.Plural(c.Bound.Rounds, "round"))
	}
	if c.Bound.Bound == verdict.Unclear {
		return fmt.Sprintf("Bottleneck of %s at its peak (%s) unclear: %s.", c.Label, StepWords(c.Peak.Step), how)
	}
	return fmt.Sprintf("%s was bound by %s at its peak (%s): %s.", c.Label, boundWords(c.Bound.Bound),
		StepWords(c.Peak.Step), how)
}

func boundBy(f Facts) (all []group) {
	for _, c := range f.Contenders {
		if c.HasPeak && c.Bound.Bound != "" {
			all = grouped(all, string(c.Bound.Bound), c.Label)
		}
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(len(b.names), len(a.names)) })
	return all
}

func sayManyBound(f Facts) string {
	var words []string
	for _, g := range boundBy(f) {
		name := boundWords(verdict.Bound(g.what))
		if g.what == string(verdict.Unclear) {
			name = "unclear"
		}
		words = append(words, name+" ("+list(g.names)+")")
	}
	return "Bottlenecks at peak: " + strings.Join(words, "; ") + "."
}

func sharedBy(f Facts, b verdict.Bound) (names []string) {
	for _, c := range f.Contenders {
		if c.HasPeak && c.Bound.Bound == b {
			names = append(names, c.Label)
		}
	}
	return names
}

func saySharedCeiling(f Facts) string {
	var words []string
	for _, b := range []verdict.Bound{verdict.Store, verdict.Machine} {
		if names := sharedBy(f, b); len(names) > 0 {
			words = append(words, boundWords(b)+" limited "+list(names))
		}
	}
	return "Another store or machine may change the order: " + strings.Join(words, ", ") + " at peak."
}

func stillRising(f Facts) []string { return sharedBy(f, verdict.Connections) }

// StepWords returns the load of a step as text, safe for a terminal.
func StepWords(s bench.Step) string { return safe.Line(s.Words(), 140) }

func boundWords(b verdict.Bound) string {
	return cmp.Or(map[verdict.Bound]string{
		verdict.Memory: "its memory limit", verdict.Quota: "its CPU quota",
		verdict.Client: "the client",
		verdict.Store:  "the store", verdict.Machine: "the machine's CPUs", verdict.Errors: "its errors",
		verdict.Rate: "the requested rate", verdict.Connections: "the number of connections",
		verdict.Contender: "itself, with idle CPUs",
	}[b], string(b))
}

// maxNames is the number of names that a sentence lists.
const maxNames = 6

// list returns "a, b and c", or the first of many and the number of the rest.
func list(names []string) string {
	if n := len(names) - maxNames; n > 1 {
		return strings.Join(names[:maxNames], ", ") + " and " + units.Count(int64(n)) + " more"
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// spread returns the CI of a median, or why there is none.
func spread(u measure.Unit, v stats.Value) string {
	switch {
	case v.Interval != nil:
		return fmt.Sprintf("95%% CI %s to %s, %s", u.Text(v.Interval.Low), u.Text(v.Interval.High),
			units.Plural(len(v.Values), "round"))
	case len(v.Values) > 1:
		return fmt.Sprintf("%s, %s to %s, too few for a CI", units.Plural(len(v.Values), "round"),
			u.Text(slices.Min(v.Values)), u.Text(slices.Max(v.Values)))
	}
	return "1 round, no CI"
}

// kinds returns errors by kind, the most frequent first.
func kinds(errors map[bench.ErrorKind]int64) string {
	all := slices.DeleteFunc(slices.Collect(maps.Keys(errors)), func(k bench.ErrorKind) bool { return errors[k] <= 0 })
	slices.SortFunc(all, func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, k := range all {
		words = append(words, safe.Line(k.Words(), 40)+" "+units.Count(errors[k]))
	}
	if len(words) > maxNames {
		words = append(words[:maxNames], "…")
	}
	return strings.Join(words, ", ")
}
