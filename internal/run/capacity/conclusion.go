package capacity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	minHeld     = 2    // confirming probes that passed; fewer are an observation, not a result
	minRequests = 1000 // of a probe, for high percentiles
)

// Conclude returns what an output says first about a search; caveats are those of its runs.
func (r Record) Conclude(caveats []conclusion.Caveat) conclusion.Conclusion {
	s := searched{Record: r, who: safe.Line(r.Contender.String(), 60), best: r.best()}
	c := conclusion.Conclusion{
		Kind: conclusion.Search, Title: "Capacity of " + s.who, About: s.about(), Confidence: s.confidence(), Cost: s.cost(),
		Table: s.table(), Caveats: slices.Concat(s.caveats(), caveats),
	}
	c.Verdict, c.Tone = s.verdict()
	c.Verdict += s.memory()
	c.Failures, c.Failed = s.failures()
	c.Next, c.Command = s.next()
	return c
}

// searched is a search whose conclusion is in the making.
type searched struct {
	Record
	who  string
	best *Point // the cheapest for the usual rate, else the one with the highest rate; nil: none held a rate
}

// best returns the point with the lowest cost of the usual rate, or without CPU limits the one with
// the highest rate; nil if none held a rate.
func (r Record) best() (best *Point) {
	order := func(a, b Point) int {
		x, _ := r.Monthly(a, conclusion.UsualRate)
		y, _ := r.Monthly(b, conclusion.UsualRate)
		return cmp.Or(cmp.Compare(math.Round(100*x), math.Round(100*y)), // of equal cost: the fewest replicas
			cmp.Compare(instances(a, conclusion.UsualRate), instances(b, conclusion.UsualRate)),
			cmp.Compare(a.Limits.Memory, b.Limits.Memory))
	}
	if !r.priced() {
		order = func(a, b Point) int { return cmp.Compare(b.Result.Rate, a.Result.Rate) }
	}
	for i := range r.Points {
		if p := &r.Points[i]; p.Result.Rate > 0 && (best == nil || order(*p, *best) < 0) {
			best = p
		}
	}
	return best
}

// priced reports whether the cost of each limit is known: the price is that of CPUs.
func (r Record) priced() bool {
	return !slices.ContainsFunc(r.Points, func(p Point) bool { return p.Limits.CPUs <= 0 })
}

// instances returns how many instances under the limits of a point serve a rate.
func instances(p Point, rate float64) float64 { return math.Ceil(rate / p.Result.Rate) }

// Monthly returns the price in US dollars of serving a rate for a month under the limits of a
// point, in whole replicas; ok is false without a CPU limit or a sustained rate.
func (r Record) Monthly(p Point, rate float64) (dollars float64, ok bool) {
	if p.Limits.CPUs <= 0 || p.Result.Rate <= 0 {
		return 0, false
	}
	return instances(p, rate) * p.Limits.CPUs * r.price() * conclusion.HoursOfMonth, true
}

func (r Record) price() float64 {
	if r.Price > 0 {
		return r.Price
	}
	return stats.DefaultPrice
}

// Common returns the limits that are the same in all points.
func (r Record) Common() (same bench.Limits) {
	for i, p := range r.Points {
		if i == 0 {
			same = p.Limits
		}
		same = same.Own(same.Own(p.Limits))
	}
	return same
}

// ByMemory reports whether the points differ in memory, not in CPUs.
func (r Record) ByMemory() bool {
	return len(r.Points) > 1 && r.Common().Memory == 0 && r.Points[0].Limits.Memory > 0 && r.Common().CPUs == r.Points[0].Limits.CPUs
}

// Name returns the limits of a point for people: those that differ from the others', or all.
func (r Record) Name(p Point) string {
	if len(r.Points) > 1 {
		return safe.Line(cmp.Or(p.Label, p.Limits.Words()), 60)
	}
	return bench.Limits{CPUs: p.Limits.CPUs, Memory: p.Limits.Memory}.Words()
}

// of returns a text about a point, with its name if there are several.
func (s searched) of(p Point, text string) string {
	if len(s.Points) > 1 {
		return s.Name(p) + ": " + text
	}
	return text
}

func (s searched) slo() string { return strings.ReplaceAll(safe.Line(s.SLO, 200), ",", ", ") }

func (s searched) about() string {
	parts := []string{"SLO " + s.slo()}
	if len(s.Points) > 1 {
		parts = append(parts, units.Plural(len(s.Points), "limit"))
	}
	if l := s.Common(); l.CPUs > 0 || l.Memory > 0 {
		parts = append(parts, bench.Limits{CPUs: l.CPUs, Memory: l.Memory}.String())
	}
	if !s.Started.IsZero() {
		parts = append(parts, s.Started.Format("2 Jan 2006"))
	}
	return strings.Join(parts, " · ")
}

// finished reports whether the search of a point ended by itself.
func finished(p Point) bool {
	return p.Failure == "" && slices.Contains([]State{Found, AtLeast, None, Undecided}, p.Result.State)
}

// settled reports whether nothing that the search left open can change its conclusion: the best
// rate passed several probes, and no other limit may turn out to be cheaper.
func (s searched) settled() bool {
	if s.best == nil || s.best.Result.Held < minHeld {
		return false
	}
	cost, priced := s.Monthly(*s.best, conclusion.UsualRate)
	for i, p := range s.Points {
		least := p.Limits.CPUs * s.price() * conclusion.HoursOfMonth // of one replica
		open := p.Result.State == Undecided || p.Result.State == AtLeast && &s.Points[i] != s.best
		if !finished(p) || open && (!priced || least < cost) {
			return false
		}
	}
	return true
}

// verdict says which rate holds, or which of several limits is the cheapest.
func (s searched) verdict() (string, conclusion.Tone) {
	tone, prefix, verb := conclusion.Good, "", "holds"
	if !s.settled() {
		tone, prefix, verb = conclusion.Neutral, "So far: ", "held"
	}
	p := s.best
	if p == nil {
		return s.nothing()
	}
	if cost, ok := s.Monthly(*p, conclusion.UsualRate); ok && len(s.Points) > 1 {
		atMost := ""
		if p.Result.State != Found && instances(*p, conclusion.UsualRate) > 1 {
			atMost = "at most "
		}
		text := fmt.Sprintf("%s with %s: %s requests/s for %s%s a month.", s.who, s.replicas(*p), units.Count(conclusion.UsualRate),
			atMost, units.Dollars(cost))
		if prefix == "" {
			text = "Run " + text
		}
		most := slices.MaxFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.Result.Rate, b.Result.Rate) })
		with := ""
		if most.Result.Rate > p.Result.Rate {
			with = " with " + s.Name(most)
		}
		return fmt.Sprintf("%s%s One%s %s %s.", prefix, text, with, verb, rate(most)), tone
	}
	text := fmt.Sprintf("%s%s %s %s requests/s%s", prefix, s.who, verb, rate(*p), s.with(*p))
	if len(s.Points) > 1 {
		return fmt.Sprintf("%s: the highest of %s.", text, units.Plural(len(s.Points), "limit")), tone
	}
	if o, ok := p.Confirming(); ok {
		text += ": p99 " + units.Duration(o.P99)
	}
	return text + ".", tone
}

// memory says how much the contender of the best limits uses at the sustained rate, and which limit
// leaves room; "" if it is not known.
func (s searched) memory() string {
	if s.best == nil {
		return ""
	}
	bytes, sampled := s.best.Memory()
	if bytes == 0 {
		return ""
	}
	who, most := " It", "at most "
	if len(s.Points) > 1 {
		who = " With " + s.Name(*s.best) + " it"
	}
	if sampled {
		most = "≥ "
	}
	return fmt.Sprintf("%s uses %s%s of memory: a limit of %s leaves room.", who, most, units.Bytes(bytes), units.Bytes(s.best.Room()))
}

// nothing is the verdict of a search that confirmed no rate.
func (s searched) nothing() (string, conclusion.Tone) {
	if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Result.State != None }) || len(s.Points) == 0 {
		return "No result: no rate of " + s.who + " was confirmed.", conclusion.Neutral
	}
	text := s.who + " meets the SLO at no rate"
	if len(s.Points) > 1 {
		return fmt.Sprintf("%s, with none of %s.", text, units.Plural(len(s.Points), "limit")), conclusion.Bad
	}
	p := s.Points[0]
	return fmt.Sprintf("%s%s: even %s/s fails.", text, s.with(p), units.Number(p.Result.Above)), conclusion.Bad
}

// with returns " with 1 CPU"; "" without limits.
func (s searched) with(p Point) string {
	if p.Limits.CPUs <= 0 && p.Limits.Memory <= 0 {
		return ""
	}
	return " with " + s.Name(p)
}

// rate returns the sustained rate of a point: "1,450", "at least 1,450".
func rate(p Point) string {
	if p.Result.State != Found {
		return "at least " + units.Number(p.Result.Rate)
	}
	return units.Number(p.Result.Rate)
}

// replicas returns what serves the usual rate: "3 × 0.25 CPUs"; "1 CPU" if one replica does.
func (s searched) replicas(p Point) string {
	if n := instances(p, conclusion.UsualRate); n > 1 {
		return units.Count(int64(n)) + " × " + s.Name(p)
	}
	return s.Name(p)
}

// confidence says how many probes the best rate passed, and at which rate the next ones failed.
func (s searched) confidence() string {
	if s.best == nil {
		probes := 0
		for _, p := range s.Points {
			probes += p.Result.Probes
		}
		return fmt.Sprintf("No rate passed %d of %s; %s in total", s.Need, units.Plural(s.Of, "probe"), units.Plural(probes, "probe"))
	}
	p := *s.best
	text := s.of(p, fmt.Sprintf("%s/s passed %d of %s", units.Number(p.Result.Rate), p.Result.Held, units.Plural(p.Result.Tried, "probe")))
	if p.Result.Held < minHeld {
		text += fmt.Sprintf(", %d needed", minHeld)
	}
	return text + "; " + s.above(p)
}

// above says what is known about rates above the sustained one.
func (s searched) above(p Point) string {
	next := fmt.Sprintf("%s/s, %.1f%% above,", units.Number(p.Result.Above), 100*(p.Result.Above/p.Result.Rate-1))
	switch {
	case !finished(p):
		return "at least: the search did not finish"
	case p.Result.Above <= 0:
		return "at least: no higher rate was tried (--max-rate)"
	case p.Result.Client:
		return "at least: at " + next + " the client or this machine was the limit"
	case p.Result.State == AtLeast:
		return fmt.Sprintf("at least: %s failed, and the search ended after %s", next, units.Plural(p.Result.Probes, "probe"))
	}
	return next + " failed: " + reason(p)
}

// reason returns why the next rate failed: the first reason, which is a missed condition if there
// is one.
func reason(p Point) string {
	first, _, _ := strings.Cut(p.Refusal(), "; ")
	return cmp.Or(safe.Line(first, 160), "no reason is known")
}

// cost says what the usual rate costs a month.
func (s searched) cost() string {
	if s.best == nil {
		return "not known: no rate was confirmed"
	}
	dollars, ok := s.Monthly(*s.best, conclusion.UsualRate)
	if !ok {
		return "not known: no CPU limit"
	}
	text := fmt.Sprintf("$%s per vCPU-hour, %d h, whole replicas; memory has no price", strconv.FormatFloat(s.price(), 'g', 4, 64), conclusion.HoursOfMonth)
	if len(s.Points) == 1 { // else the verdict says it
		text = fmt.Sprintf("%s a month for %s requests/s, %s; %s", units.Dollars(dollars), units.Count(conclusion.UsualRate),
			units.Plural(int64(instances(*s.best, conclusion.UsualRate)), "replica"), text)
	}
	costs, unmeasured := s.needs(*s.best)
	if with := conclusion.WithNeeds(dollars, costs, unmeasured); with != "" {
		text += "; " + conclusion.NeedsByTime + s.of(*s.best, with)
	}
	return text
}

// needs returns what the CPU time of each need costs a month at the usual rate, and those whose CPU
// time is not known.
func (s searched) needs(p Point) (costs map[string]float64, unmeasured []string) {
	costs = map[string]float64{}
	o, _ := p.Confirming()
	for name, each := range o.Needs {
		if billion, ok := stats.CostPerBillion(each, 1, s.price()); ok {
			costs[name] = conclusion.Month(billion, conclusion.UsualRate)
		}
	}
	for _, name := range s.External {
		if _, known := costs[name]; !known {
			unmeasured = append(unmeasured, name)
		}
	}
	return costs, unmeasured
}

// failures says at which limits no rate was found, and why.
func (s searched) failures() (text string, failed bool) {
	var all []string
	for _, p := range s.Points {
		if why := failure(p); why != "" {
			all = append(all, s.of(p, why))
		}
	}
	switch {
	case len(s.Points) == 0:
		return "nothing was searched", true
	case len(all) > 2:
		return fmt.Sprintf("%d of %s: %s; %d more", len(all), units.Plural(len(s.Points), "limit"), all[0], len(all)-1), true
	case len(all) > 0:
		return strings.Join(all, "; "), true
	case len(s.Points) > 1:
		return fmt.Sprintf("None: a rate meets the SLO at each of %s", units.Plural(len(s.Points), "limit")), false
	}
	return "None: the SLO is met at " + units.Number(s.best.Result.Rate) + "/s", false
}

// failure returns why the search of a point has no result; "" if it has one.
func failure(p Point) string {
	switch {
	case p.Failure != "":
		return "stopped early: " + safe.Line(p.Failure, 300)
	case !finished(p):
		return "the search did not finish"
	case p.Result.State == None:
		return fmt.Sprintf("even %s/s misses the SLO: %s", units.Number(p.Result.Above), reason(p))
	case p.Result.Rate <= 0:
		return "no rate was confirmed within " + units.Plural(p.Result.Probes, "probe")
	}
	return ""
}

// caveats returns what limits the meaning of the rates.
func (s searched) caveats() (all []conclusion.Caveat) {
	add := func(text string) { all = append(all, conclusion.Caveat{Text: text}) }
	var few []string
	for i, p := range s.Points {
		if p.Result.State == AtLeast && &s.Points[i] != s.best {
			add(s.of(p, units.Number(p.Result.Rate)+"/s is "+s.above(p)))
		}
		if o, ok := p.Confirming(); ok && o.Rate*s.Length.Seconds() < minRequests {
			few = append(few, s.Name(p))
		}
	}
	if s.best != nil {
		if most := slices.MaxFunc(s.best.Outcomes, func(a, b Outcome) int { return cmp.Compare(a.Memory, b.Memory) }); most.Memory > s.best.Room() {
			add(s.of(*s.best, fmt.Sprintf("at %s/s memory rose to %s: with a limit of %s it may be killed in such an overload",
				units.Number(most.Rate), units.Bytes(most.Memory), units.Bytes(s.best.Room()))))
		}
	}
	if len(few) > 0 {
		text := fmt.Sprintf("Fewer than %s requests per probe: too few for high percentiles; use a longer --probe", units.Count(minRequests))
		if len(s.Points) > 1 {
			text = strings.Join(few, ", ") + ": f" + text[1:]
		}
		add(safe.Line(text, 300))
	}
	return all
}
