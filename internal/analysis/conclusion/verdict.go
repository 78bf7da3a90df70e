package conclusion

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// verdict returns the conclusion to the question of the run, with the flaws of contenders: before
// everything else if a leader has one. The verdict is not Good then. Of two contenders it is that of
// their comparison, the one that 'compare' says first.
func (d *draft) verdict() (string, Tone) {
	if d.pair() != nil {
		text, tone := d.pair().Verdict()
		if len(d.ranked()) < 2 || len(d.silent()) > 0 {
			return text, Bad
		}
		return text, tones[tone]
	}
	text, tone := d.byKind()
	if tone == Good && (d.unequal || len(d.ratios) > 0) { // other limits are not better contenders
		tone = Neutral
	}
	flaws := analysis.Flaws(d.all, nil)
	first := len(d.all) <= 2
	var found []string
	for _, f := range flaws {
		found = append(found, f.Text)
		for _, i := range f.Of {
			if leads := d.leads(d.all[i]); leads && tone == Good {
				tone, first = Neutral, true
			} else {
				first = first || leads
			}
		}
	}
	said := append(found, text)
	if !first {
		said = append([]string{text}, found...)
	}
	return strings.Join(said, " "), tone
}

// leads reports whether no contender is significantly better in throughput, so the verdict may
// recommend this one; in other kinds of runs each one may be.
func (d *draft) leads(c analysis.Contender) bool {
	s := d.standing(measure.Throughput)
	if d.kind != Steps || !d.comparable(s) || len(s.Members) < 2 {
		return true
	}
	leaders, _ := s.Leaders()
	return slices.ContainsFunc(leaders, func(i int) bool { return s.Member(i).Contender == c.Label })
}

// byKind returns the conclusion to the question of the run. If nothing succeeded in a contender,
// that is said first.
func (d *draft) byKind() (string, Tone) {
	first, _ := analysis.Silences(d.all, func(i int) string { return label(d.all[i]) })
	switch silent := len(d.silent()); {
	case silent == 0:
		return d.conclude()
	case silent == len(d.ranked()) && len(d.ranked()) < len(d.all):
		return first + " All other contenders failed or gave unexpected responses.", Bad
	case silent == len(d.ranked()):
		return first, Bad
	}
	text, _ := d.conclude()
	return first + " " + text, Bad
}

// conclude returns the conclusion from the contenders with a success.
func (d *draft) conclude() (string, Tone) {
	ranked := d.ranked()
	switch {
	case len(d.all) == 0:
		return "No results: no trial was run.", Bad
	case len(ranked) == 0 && len(d.all) == 1:
		return label(d.all[0]) + " " + briefly(d.all[0]) + ".", Bad
	case len(ranked) == 0:
		return fmt.Sprintf("No contender can be compared: each of the %d failed or gave unexpected responses.", len(d.all)), Bad
	case len(ranked) == 1 && len(d.all) > 1:
		return fmt.Sprintf("Run %s: the only one of %d without a failure.", label(ranked[0]), len(d.all)), Bad
	}
	switch d.kind {
	case Single:
		return d.single(ranked[0])
	case Requests:
		return d.requests()
	case Arrivals:
		return d.arrivals()
	case FirstRequests:
		return d.first()
	}
	return d.steps(ranked)
}

// steps ranks by throughput and says which contender costs the least.
func (d *draft) steps(ranked []analysis.Contender) (string, Tone) {
	s := d.standing(measure.Throughput)
	if n := len(d.ratios); n > 0 { // the limits are the subject: neither is better
		return strings.Join(d.ratios[:min(n, 2)], " "), Neutral
	}
	if !d.comparable(s) || len(s.Members) < 2 {
		return d.soFar(ranked), Neutral
	}
	leaders, behind := s.Leaders()
	switch {
	case len(behind) > 0:
		next := slices.Min(behind)
		c, _ := s.Pair(s.Tiers[0][0], next)
		subject := names(s, leaders)
		if len(leaders) > 1 {
			subject += ": " + d.together(s, leaders)
		} else {
			subject += " has the highest throughput:"
		}
		text := withoutRatio(s, s.Tiers[0][0], next)
		if text == "" {
			text = above(*c.Ratio, nameOf(s, next))
		}
		return d.recommended(subject+" "+text+"."+d.cheapest(s), s, leaders)
	case s.Alike():
		return d.recommended(names(s, leaders)+": same throughput."+d.cheapest(s), s, leaders)
	}
	return d.soFar(ranked), Neutral
}

// recommended returns what is said of the leaders, with the measure in which one is several times
// worse: the verdict is not Good then.
func (d *draft) recommended(text string, s analysis.Standing, leaders []int) (string, Tone) {
	if but := d.drawback(s, leaders); but != "" {
		return text + but, Neutral
	}
	return text, Good
}

// together returns how the leaders compare with each other.
func (d *draft) together(s analysis.Standing, leaders []int) string {
	for i, b := range leaders {
		for _, a := range leaders[:i] {
			if c, ok := s.Pair(a, b); !ok || c.Verdict != stats.Same {
				return "no significant difference in throughput,"
			}
		}
	}
	return "same throughput,"
}

// above returns "2.6 times that of b (2.5 to 2.7)", or "36% above b (30% to 41%)".
func above(r stats.Ratio, of string) string {
	if r.Estimate >= 2 {
		return fmt.Sprintf("%.3g times that of %s (%.3g to %.3g)", r.Estimate, of, r.Low, r.High)
	}
	return fmt.Sprintf("%s above %s (%s to %s)", percent(r.Estimate), of, percent(r.Low), percent(r.High))
}

// percent returns the size of a change: "13.6%".
func percent(ratio float64) string { return fmt.Sprintf("%.1f%%", 100*math.Abs(ratio-1)) }

// cheapest names the contender with the lowest cost, if its CPU time per request leads.
func (d *draft) cheapest(throughput analysis.Standing) string {
	s := d.standing(measure.CPURequest)
	if !d.comparable(s) || len(s.Members) < len(throughput.Members) {
		return ""
	}
	if leaders, _ := s.Leaders(); len(leaders) == 1 {
		return " " + nameOf(s, leaders[0]) + " costs the least CPU per request."
	}
	return ""
}

// soFar says what was observed, without a verdict: "Cannot tell yet: a 21,000/s
// and b 8,000/s."
func (d *draft) soFar(ranked []analysis.Contender) string {
	if d.unequal {
		return "No ranking: the contenders ran under different limits or runtimes."
	}
	m := measure.Get(measure.Throughput)
	type observed struct {
		name  string
		value float64
	}
	var all []observed
	for _, c := range ranked {
		if r := m.Contender(c.Contender); r.Known && r.Value > 0 {
			all = append(all, observed{label(c), r.Value})
		}
	}
	slices.SortStableFunc(all, func(a, b observed) int { return cmp.Compare(b.value, a.value) })
	if len(all) == 0 {
		return "No results: no throughput was measured."
	}
	var said []string
	for _, o := range all {
		said = append(said, o.name+" "+m.Unit.Text(o.value))
	}
	return "Cannot tell yet: " + analysis.List(said) + "."
}

// drawback says in which other measure one of the leaders is several times worse than another
// contender: " Its peak memory is 9.3 times that of b (8.9 to 9.8)."; "" if none is.
func (d *draft) drawback(throughput analysis.Standing, leaders []int) (text string) {
	most := float64(stats.SeveralTimes)
	for _, m := range d.Run.Tested() {
		s := d.standing(m.ID)
		if m.ID == throughput.Measure || !d.comparable(s) {
			continue
		}
		for i := range s.Members {
			if !slices.ContainsFunc(leaders, func(l int) bool { return throughput.Member(l).Contender == s.Member(i).Contender }) {
				continue
			}
			for better := range i {
				c, ok := s.Pair(better, i)
				if !ok || c.Verdict != stats.Better || c.Ratio == nil {
					continue
				}
				if times := 1 / c.Ratio.Estimate; times >= most && !m.Higher {
					most = times
					text = fmt.Sprintf(" But %s has %.2g times the %s of %s (%.2g to %.2g).", nameOf(s, i), times,
						m.Comparison.Title, nameOf(s, better), 1/c.Ratio.High, 1/c.Ratio.Low)
				}
			}
		}
	}
	return text
}

func names(s analysis.Standing, members []int) string {
	var all []string
	for _, i := range members {
		all = append(all, nameOf(s, i))
	}
	if n := len(all); n > 4 {
		all = append(all[:3], fmt.Sprintf("%d more", n-3))
	}
	return analysis.List(all)
}

func nameOf(s analysis.Standing, member int) string { return cut(s.Member(member).Contender) }

var tones = map[table.Tone]Tone{table.Good: Good, table.Bad: Bad}

// pair returns the comparison of the two contenders of a run that is about their throughput; nil in
// other runs.
func (d *draft) pair() *compare.Contender {
	if len(d.all) != 2 || d.kind != Versions && d.kind != Steps {
		return nil
	}
	if d.change == nil {
		all := d.InProfile()
		c := compare.Pair(all[0], all[1], nil, compare.Options{Floor: d.floor})
		d.change = &c
	}
	return d.change
}

// single says what one contender reached, and what limited it.
func (d *draft) single(c analysis.Contender) (string, Tone) {
	peak, ok := c.PeakStep()
	if !ok {
		return label(c) + ": no valid step was measured.", Bad
	}
	value := measure.PerSecond.Text(peak.Throughput.Median)
	if peak.Step.Open() {
		p99 := measure.Get(measure.P99).Contender(c.Contender)
		text := label(c) + " served " + value
		if p99.Known {
			text += " with p99 " + measure.Nanoseconds.Text(p99.Value)
		}
		return text + ".", Neutral
	}
	by := c.Bounds[peak.Index].Bound
	limited := limitedBy[by]
	if by.Need() {
		limited.what, limited.other = safe.Line(string(by), maxWords), true
	}
	if limited.other || limited.rising {
		value = "at least " + value
	}
	text := label(c) + " reached " + value
	if limited.what != "" {
		text += "; bottleneck: " + limited.what
	}
	if limited.other {
		text += ", not " + label(c)
	}
	return text + ".", Neutral
}

// limitedBy says what a bottleneck means for the throughput at peak.
var limitedBy = map[verdict.Bound]struct {
	what   string
	other  bool // not the contender: it may reach more
	rising bool // more connections may reach more
}{
	verdict.Memory:      {what: "its memory limit"},
	verdict.Quota:       {what: "its CPU quota"},
	verdict.Disk:        {what: "its waiting for a disk"},
	verdict.Errors:      {what: "its errors"},
	verdict.Threads:     {what: "one busy thread, with CPUs left"},
	verdict.Contender:   {what: "itself, with idle CPUs"},
	verdict.Client:      {what: "locbench", other: true},
	verdict.Machine:     {what: "this machine", other: true},
	verdict.Connections: {what: "too few connections", rising: true},
}
