package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

func sayNothingMeasured(f Figures) string {
	if len(f.Contenders) == 0 {
		return "No leg has run: nothing can be said."
	}
	if failed := func(c Contender) bool { return c.Unsound != nil && c.Unsound.NoSoundStep && c.Unsound.Errors >= 1 }; !slices.ContainsFunc(f.Contenders, func(c Contender) bool { return !failed(c) }) {
		return "Every request failed: nothing can be said about how fast anybody is."
	}
	return "No throughput was measured: nothing can be said about how fast anybody is."
}

// sayUnsound says who takes part in no claim, and why.
func sayUnsound(c Contender) string {
	return fmt.Sprintf("%s is not compared with anybody: it %s.", c.Label, safe.Line(c.Unsound.String(), 2*maxWords))
}

func sayOneContender(f Figures) string {
	c := f.Contenders[0]
	return fmt.Sprintf("One contender, so that nothing is compared: %s reached %s at %s (%s).",
		c.Label, measure.PerSecond.Text(c.Peak.Throughput.Median), StepWords(c.Peak.Step), spread(measure.PerSecond, c.Peak.Throughput))
}

func sayUnequalConditions(Figures) string {
	return "Nothing can be said about who is ahead: the contenders did not run under the same limits and runtime."
}

type group struct {
	what  string
	names []string
}

// grouped adds a contender to those that have the same.
func grouped(all []group, what, name string) []group {
	i := slices.IndexFunc(all, func(g group) bool { return g.what == what })
	if i < 0 {
		return append(all, group{what, []string{name}})
	}
	all[i].names = append(all[i].names, name)
	return all
}

// requests are the contenders by the requests that their peaks are of.
func requests(f Figures) (all []group) {
	for _, c := range f.Contenders {
		if c.HasPeak {
			all = grouped(all, c.Peak.Step.Request, c.Label)
		}
	}
	return all
}

func sayDifferentRequests(f Figures) string {
	var words []string
	for _, g := range requests(f) {
		words = append(words, safe.Line(cmp.Or(g.what, "the mix"), 60)+": "+list(g.names))
	}
	return "Nothing can be said about who has the highest throughput: the peaks are of different requests (" +
		strings.Join(words, "; ") + ")."
}

func tooShort(n int) string {
	return fmt.Sprintf("%s of the %d that it takes", units.Plural(n, "round"), stats.MinInterval)
}

// reasons are why contenders are not compared, grouped: "a and b: 1 round".
func reasons(f Figures, out []outside) string {
	var all []group
	for _, o := range out {
		all = grouped(all, o.why, f.of(o.contender).Label)
	}
	var words []string
	for _, g := range all {
		words = append(words, list(g.names)+": "+g.what)
	}
	return strings.Join(words, "; ")
}

func sayTooFew(f Figures, s analysis.Standing) Sentence {
	text := "Nothing can be said about who has the highest throughput: "
	most, allShort := 0, len(s.Members) == 0
	for _, o := range leftOut(s) {
		n := f.of(o.contender).rounds()
		most = max(most, n)
		allShort = allShort && o.why == tooShort(n)
	}
	if allShort {
		return Sentence{Text: fmt.Sprintf("%sthere %s of each contender, and a difference can be told from chance from %d on (--rounds %d).",
			text, atMost(f, s, most), stats.MinInterval, stats.MinInterval)}
	}
	return Sentence{Text: text + "fewer than two contenders can be compared (" + reasons(f, leftOut(s)) + ")."}
}

func atMost(f Figures, s analysis.Standing, most int) string {
	rounds := units.Plural(most, "round")
	switch {
	case slices.ContainsFunc(leftOut(s), func(o outside) bool { return f.of(o.contender).rounds() != most }):
		return "are at most " + rounds
	case most == 1:
		return "is " + rounds
	}
	return "are " + rounds
}

// labels are those of some members, cleaned.
func labels(s analysis.Standing, members []int) (names []string) {
	for _, i := range members {
		names = append(names, label(s, i))
	}
	return names
}

func label(s analysis.Standing, member int) string {
	return safe.Line(s.Member(member).Contender, maxLabel)
}

func everybody(s analysis.Standing) (names []string) {
	for i := range s.Members {
		names = append(names, label(s, i))
	}
	return names
}

// valueOf is a member's median with the step that it is of; a whole life has none.
func valueOf(f Figures, s analysis.Standing, member int) (value, at string) {
	p := s.Member(member)
	if !ofLife(s) {
		at = " at " + StepWords(f.of(p.Contender).Peak.Step)
	}
	return p.Text(), at
}

// evidence is the leader's figure, the next one's, their ratio with its interval, and the p value.
func evidence(f Figures, s analysis.Standing, over []int) string {
	first, next := s.Tiers[0][0], slices.Min(over)
	c, _ := s.Pair(first, next)
	a, atA := valueOf(f, s, first)
	b, atB := valueOf(f, s, next)
	return fmt.Sprintf("%s%s, %s against the %s%s of %s; p %.2g after Holm over %s, %d and %s",
		a, atA, c.Ratio.Words(), b, atB, label(s, next), c.Adjusted, units.Plural(s.Pairs, "pair"),
		len(s.Member(first).Value.Values), units.Plural(len(s.Member(next).Value.Values), "round"))
}

// ofThem names the compared where somebody is left out.
func ofThem(f Figures, s analysis.Standing) string {
	if len(s.Members) == len(f.Contenders) {
		return ""
	}
	return "Of " + list(everybody(s)) + ", "
}

func sayWinner(f Figures, s analysis.Standing) Sentence {
	leaders, over := s.Ahead()
	text := ofThem(f, s) + label(s, leaders[0]) + " " + measure.Get(s.Measure).Claim.Best + ": " + evidence(f, s, over)
	if len(over) > 1 {
		text += fmt.Sprintf("; it is ahead of %s as well", list(labels(s, slices.DeleteFunc(slices.Clone(over), func(i int) bool { return i == slices.Min(over) }))))
	}
	return Sentence{Text: text + ".", Leaders: labels(s, leaders), Over: labels(s, over)}
}

func sayGroup(f Figures, s analysis.Standing) Sentence {
	leaders, over := s.Ahead()
	names := labels(s, leaders)
	text := fmt.Sprintf("%sno single one %s: the rounds do not tell %s apart from %s. %s is ahead of %s: %s.",
		ofThem(f, s), measure.Get(s.Measure).Claim.Best, list(names[1:]), names[0], names[0], list(labels(s, over)), evidence(f, s, over))
	if ofThem(f, s) == "" {
		text = "N" + text[1:]
	}
	return Sentence{Text: text, Leaders: names, Over: labels(s, over)}
}

func sayLacking(f Figures, s analysis.Standing) Sentence {
	return Sentence{Text: fmt.Sprintf("Nothing can be said about who %s: among %s (%s) so few rounds cannot part any two, however far apart they are; %s of each would.",
		measure.Get(s.Measure).Claim.Best, units.Plural(len(s.Members), "contender"), units.Plural(s.Pairs, "pair"), units.Plural(s.Lacking, "more round"))}
}

func saySame(f Figures, s analysis.Standing) Sentence {
	c, _ := s.Pair(0, len(s.Members)-1)
	return Sentence{Text: fmt.Sprintf("%s have the same %s, within %.3g %%; %s to %s it is %s.",
		list(everybody(s)), measure.Get(s.Measure).Claim.Noun, 100*c.Rule.Margin, label(s, 0),
		label(s, len(s.Members)-1), c.Ratio.Words())}
}

func sayNoDifference(f Figures, s analysis.Standing) Sentence {
	last := len(s.Members) - 1
	c, _ := s.Pair(0, last)
	between := label(s, 0) + " and " + label(s, last)
	if last > 1 {
		between += ", the highest and the lowest median of " + units.Count(int64(last+1))
		if !measure.Get(s.Measure).Higher {
			between = strings.Replace(between, "the highest and the lowest", "the lowest and the highest", 1)
		}
	}
	return Sentence{Text: fmt.Sprintf("Nothing can be said about who %s: between %s, %s.", measure.Get(s.Measure).Claim.Best, between, c.Sentence())}
}

func sayLeftOut(f Figures, s analysis.Standing) Sentence {
	return Sentence{Text: "Not compared in throughput: " + reasons(f, leftOut(s)) + "."}
}

func sayBounds(f Figures) []Sentence {
	if len(f.Contenders) > few {
		return nil
	}
	return ofEach(func(c Contender) bool { return c.HasPeak && c.Bound.Bound != "" }, sayBound)(f)
}

func sayBound(c Contender) string {
	how := c.Bound.Words()
	if c.Bound.Rounds > 1 {
		how += fmt.Sprintf(" (so in %d of %s; the figures are of the last)", c.Bound.Agree, units.Plural(c.Bound.Rounds, "round"))
	}
	if c.Bound.Bound == verdict.Unclear {
		return fmt.Sprintf("What bound %s at its peak (%s) is not clear: %s.", c.Label, StepWords(c.Peak.Step), how)
	}
	return fmt.Sprintf("%s was bound by %s at its peak (%s): %s.", c.Label, boundWords(c.Bound.Bound), StepWords(c.Peak.Step), how)
}

func boundBy(f Figures) (all []group) {
	for _, c := range f.Contenders {
		if c.HasPeak && c.Bound.Bound != "" {
			all = grouped(all, string(c.Bound.Bound), c.Label)
		}
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(len(b.names), len(a.names)) })
	return all
}

func sayManyBound(f Figures) string {
	var words []string
	for _, g := range boundBy(f) {
		name := boundWords(verdict.Bound(g.what))
		if g.what == string(verdict.Unclear) {
			name = "not clear"
		}
		words = append(words, name+" ("+list(g.names)+")")
	}
	return "What bound them at their peaks: " + strings.Join(words, "; ") + "."
}

func sharedBy(f Figures, b verdict.Bound) (names []string) {
	for _, c := range f.Contenders {
		if c.HasPeak && c.Bound.Bound == b {
			names = append(names, c.Label)
		}
	}
	return names
}

func saySharedCeiling(f Figures) string {
	var words []string
	for _, b := range []verdict.Bound{verdict.Store, verdict.Machine} {
		if names := sharedBy(f, b); len(names) > 0 {
			words = append(words, boundWords(b)+" bound "+list(names))
		}
	}
	return "With another store or machine the order may be another: " + strings.Join(words, ", ") + " at the peak."
}

func stillRising(f Figures) []string { return sharedBy(f, verdict.Connections) }

func sayLimitsNotEnforced(c Contender) string {
	return fmt.Sprintf("The limits of %s were not enforced in %d of %s: its figures are not those that the profile asks for.", c.Label, c.Unlimited, units.Plural(c.Legs, "round"))
}

func errorList(f Figures) (words []string) {
	for _, c := range f.Contenders {
		failed := c.ErrorsTotal()
		if failed <= 0 {
			continue
		}
		all := failed
		for _, s := range c.Steps {
			all += max(s.Succeeded, 0)
		}
		words = append(words, fmt.Sprintf("%s %s (%s)", c.Label, units.Ratio(float64(failed)/float64(all)), kinds(c.Errors)))
	}
	return words
}

func failedChecks(f Figures) (words []string) {
	for _, c := range f.Contenders {
		if failed := c.Checks[bench.CheckFailed]; failed > 0 {
			words = append(words, fmt.Sprintf("%d of %s of %s", failed, units.Plural(failed+c.Checks[bench.CheckPassed], "check"), c.Label))
		}
	}
	return words
}

func sayNotWhole(f Figures) string {
	return fmt.Sprintf("The run is not whole: %d of %s did not run to the end.", f.Unfinished, units.Plural(f.Legs, "leg"))
}

// maxFailed is how many failed rounds are reported with what became of each.
const maxFailed = 2

func sayFailedRounds(c Contender) string {
	if len(c.Failed) > maxFailed {
		return fmt.Sprintf("%s failed in %d of %s, the first time in %s.", c.Label, len(c.Failed), units.Plural(c.Legs, "round"), c.Failed[0])
	}
	return fmt.Sprintf("%s failed in %d of %s: %s.", c.Label, len(c.Failed), units.Plural(c.Legs, "round"), list(c.Failed))
}

// missed are the thresholds of the profile that a contender has missed, and in how many steps.
func missed(f Figures) (words []string) {
	for _, c := range f.Contenders {
		if c.Missed > 0 {
			words = append(words, fmt.Sprintf("%s in %d of %s", c.Label, c.Missed, units.Plural(c.Judged, "judgement")))
		}
	}
	return words
}

const maxKinds = 6 // of warnings that are named

// apart says how the rounds of a contender's peak do not belong together.
func apart(c Contender) bench.Findings {
	if !c.HasPeak {
		return nil
	}
	return stats.Doubts(c.Peak.Throughput.Values)
}

func sayRoundsApart(c Contender) string {
	var texts []string
	for _, d := range apart(c) {
		texts = append(texts, d.Text)
	}
	return fmt.Sprintf("The rounds of %s differ in throughput at its peak more than chance makes them: %s.", c.Label, list(texts))
}

func saySteered(c Contender) string {
	return fmt.Sprintf("Somebody intervened in %d of %s of %s.", c.Steered, units.Plural(c.Legs, "round"), c.Label)
}

func sayBusyMachine(f Figures) string {
	return fmt.Sprintf("The machine was at work before the run (load %s on %s): what differs may be that work.", f.Busy, units.Plural(f.CPUs, "CPU"))
}

// maxRunWarnings is how many warnings of the whole run are reported.
const maxRunWarnings = 3

func sayRunWarnings(f Figures) (said []Sentence) {
	for i, w := range f.Warnings {
		if i == maxRunWarnings {
			return append(said, Sentence{Text: "Warned of the whole run: " + strconv.Itoa(len(f.Warnings)-i) + " more things, listed below."})
		}
		said = append(said, Sentence{Text: "Warned of the whole run: “" + safe.Line(w.Text, maxWords) + "”."})
	}
	return said
}

// sayStepsInDoubt writes one sentence for each kind of warning, those with the most steps first.
func sayStepsInDoubt(f Figures) (said []Sentence) {
	var all []kind
	known := map[string]int{}
	for _, c := range f.Contenders {
		for _, d := range c.Doubtful {
			i, ok := known[d.What]
			if !ok {
				i = len(all)
				known[d.What] = i
				all = append(all, kind{what: d.What})
			}
			all[i].places = grouped(all[i].places, stepList(d.Steps), c.Label)
			all[i].steps += len(d.Steps)
		}
	}
	slices.SortStableFunc(all, func(a, b kind) int { return cmp.Compare(b.steps, a.steps) })
	for i, k := range all {
		if i == maxKinds {
			return append(said, Sentence{Text: "Warned of " + strconv.Itoa(len(all)-maxKinds) + " more things, listed below."})
		}
		said = append(said, Sentence{Text: "Warned of “" + k.what + "”: " + k.where() + "."})
	}
	return said
}

// stepList says what steps have in common once: "16, 64 and 256 connections".
func stepList(steps []string) string {
	const common = " connections"
	short := make([]string, len(steps))
	for i, s := range steps {
		var ok bool
		if short[i], ok = strings.CutSuffix(s, common); !ok {
			return list(steps)
		}
	}
	if len(short) > maxNames {
		return strconv.Itoa(len(short)) + " steps from " + short[0] + " to " + short[len(short)-1] + common
	}
	return list(short) + common
}

// kind is a kind of warning and who has it at which steps.
type kind struct {
	what   string
	places []group // contenders by their steps
	steps  int
}

// where lists the places; of many the first, since each may be long.
func (k *kind) where() string {
	const most = 4
	var words []string
	for i, p := range k.places {
		if i == most {
			words = append(words, "and at other steps "+units.Plural(len(k.places)-most, "more time"))
			break
		}
		words = append(words, list(p.names)+" at "+p.what)
	}
	return strings.Join(words, "; ")
}

// StepWords names a step by what it does.
func StepWords(s bench.Step) string { return safe.Line(s.Words(), 140) }

func boundWords(b verdict.Bound) string {
	return cmp.Or(map[verdict.Bound]string{
		verdict.Memory: "its memory limit", verdict.Quota: "its CPU quota",
		verdict.Client: "the client, locbench itself",
		verdict.Store:  "the store", verdict.Machine: "the machine's CPUs", verdict.Errors: "its errors",
		verdict.Rate: "nothing but the rate that was asked", verdict.Connections: "the number of connections",
		verdict.Contender: "itself, with CPUs left idle",
	}[b], string(b))
}

// maxNames is how many names a sentence lists.
const maxNames = 6

// list is "a, b and c"; of many the first, and how many more.
func list(names []string) string {
	if n := len(names) - maxNames; n > 1 {
		return strings.Join(names[:maxNames], ", ") + " and " + units.Count(int64(n)) + " more"
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// spread is the interval of a median, or why there is none.
func spread(u measure.Unit, v stats.Value) string {
	switch {
	case v.Interval != nil:
		return fmt.Sprintf("95 %% interval %s to %s, %s", u.Text(v.Interval.Low), u.Text(v.Interval.High), units.Plural(len(v.Values), "round"))
	case len(v.Values) > 1:
		return fmt.Sprintf("%s, %s to %s, too few for an interval", units.Plural(len(v.Values), "round"), u.Text(slices.Min(v.Values)), u.Text(slices.Max(v.Values)))
	}
	return "1 round, no interval"
}

// kinds are errors by kind, the most frequent first.
func kinds(errors map[bench.ErrorKind]int64) string {
	all := slices.DeleteFunc(slices.Collect(maps.Keys(errors)), func(k bench.ErrorKind) bool { return errors[k] <= 0 })
	slices.SortFunc(all, func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, k := range all {
		words = append(words, safe.Line(string(k), 40)+" "+units.Count(errors[k]))
	}
	if len(words) > maxNames {
		words = append(words[:maxNames], "…")
	}
	return strings.Join(words, ", ")
}
