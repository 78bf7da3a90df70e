package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// firsts are the first responses of a contender at a load: of each round the longest of all steps
// with the load, warm-ups included.
type firsts struct {
	values []float64 // one per round that has one, in ns
	median time.Duration
	frozen bool // in most rounds, by verdict.Froze
	warm   bool // in most rounds the longest one is of a warm-up
	least  bool // in most rounds it did not come within the timeout
}

// firstsAt returns the first responses at a load.
func (c Contender) firstsAt(load bench.Step) (f firsts) {
	var frozen, warm, least int
	for _, trial := range c.Results {
		var longest bench.StepResult
		froze := false
		for _, s := range trial.Steps {
			if d, ok := s.FirstResponses(); !ok || s.Aborted != "" || !loadOf(s.Step).Same(load) {
				continue
			} else if d > longest.Load.FirstResponse {
				longest = s
			}
			froze = froze || verdict.Froze(s)
		}
		if longest.Load.FirstResponse == 0 {
			continue
		}
		f.values = append(f.values, float64(longest.Load.FirstResponse))
		for n, is := range map[*int]bool{&frozen: froze, &warm: longest.Step.WarmUp,
			&least: verdict.FirstTimedOut(longest.Load)} {
			if is {
				*n++
			}
		}
	}
	most := func(n int) bool { return 2*n > len(f.values) }
	median, _ := stats.Median(f.values)
	f.median, f.frozen, f.warm, f.least = time.Duration(median), most(frozen), most(warm), most(least)
	return f
}

// loadOf returns a step as the load that it has in common with warm-ups.
func loadOf(s bench.Step) bench.Step {
	s.WarmUp, s.Name = false, ""
	return s
}

// freeze returns the load at which c froze longest in most of its rounds; ok is false without one.
// One in which nothing succeeded did not freeze: it gave no response at all; see Silence.
func (c Contender) freeze() (load bench.Step, longest firsts, ok bool) {
	if _, silent := c.Silence(); silent {
		return load, longest, false
	}
	var seen []bench.Step
	for _, trial := range c.Results {
		for _, s := range trial.Steps {
			one := loadOf(s.Step)
			if slices.ContainsFunc(seen, one.Same) {
				continue
			}
			seen = append(seen, one)
			if f := c.firstsAt(one); f.frozen && f.median > longest.median {
				load, longest, ok = one, f, true
			}
		}
	}
	return load, longest, ok
}

// firstSamples returns the first responses of two sides, one per round that has one, at the load at
// which one of them froze longest, and that load in words; none if no side froze in most rounds.
func firstSamples(a, b Contender) (old, fresh []float64, at string) {
	load, x, ok := a.freeze()
	other, y, also := b.freeze()
	if also && (!ok || y.median > x.median) {
		load, ok = other, true
	}
	if !ok {
		return nil, nil, ""
	}
	return a.firstsAt(load).values, b.firstsAt(load).values, load.Words()
}

// maxOthers is how many contenders that did not freeze a sentence names.
const maxOthers = 3

// Freezes returns which contenders froze in most of their rounds, the longest freeze first: "The
// first responses of a at 64 connections took 8.00 s (b: 1.90 s).". One that froze less than half
// as long as another at the same load is not the subject of the sentence. name returns the name of
// a contender; nil: its label.
func Freezes(all []Contender, name func(i int) string) (found []Flaw) {
	if name == nil {
		name = func(i int) string { return safe.Line(all[i].Label, 60) }
	}
	type frozen struct {
		index int
		load  bench.Step
		firsts
	}
	var each []frozen
	for i, c := range all {
		if load, f, ok := c.freeze(); ok {
			each = append(each, frozen{i, load, f})
		}
	}
	slices.SortStableFunc(each, func(a, b frozen) int { return cmp.Compare(b.median, a.median) })
	for len(each) > 0 {
		worst := each[0]
		with := func(f frozen) bool { return f.load.Same(worst.load) }
		var freeze Flaw
		var names, times, others []string
		for _, f := range each {
			if with(f) && 2*f.median > worst.median {
				freeze.Of = append(freeze.Of, f.index)
				names, times = append(names, name(f.index)), append(times, f.words())
			}
		}
		for i, c := range all {
			if f := c.firstsAt(worst.load); len(f.values) > 0 && !slices.Contains(freeze.Of, i) {
				others = append(others, name(i)+": "+f.words())
			}
		}
		at := worst.load
		at.WarmUp = worst.warm
		freeze.Text = "The first responses of " + List(names) + " at " + safe.Line(at.Words(), 100) + " took " +
			List(times)
		if n := len(others) - maxOthers; n > 1 {
			others = append(others[:maxOthers], units.Count(int64(n))+" more")
		}
		if len(others) > 0 {
			freeze.Text += " (" + strings.Join(others, ", ") + ")"
		}
		freeze.Text += "."
		found = append(found, freeze)
		each = slices.DeleteFunc(each, with)
	}
	return found
}

// words returns "8.00 s", or "at least 10.0 s".
func (f firsts) words() string {
	if f.least {
		return "at least " + units.Duration(f.median)
	}
	return units.Duration(f.median)
}

// MaxNames is how many names a sentence has.
const MaxNames = 6

// List returns "a, b and c", or the first of many and the number of the rest.
func List(all []string) string {
	if n := len(all) - MaxNames; n > 1 {
		return strings.Join(all[:MaxNames], ", ") + fmt.Sprintf(" and %d more", n)
	}
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + " and " + all[n]
	}
	return strings.Join(all, "")
}
