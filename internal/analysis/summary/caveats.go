package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

func sayLimitsNotEnforced(c Contender) string {
	return fmt.Sprintf("Limits of %s not enforced in %d of %s: its results do not match the profile.", c.Label,
		c.Unlimited, units.Plural(c.Trials, "round"))
}

func errorList(f Facts) (words []string) {
	for _, c := range f.Contenders {
		if c.ErrorsTotal() <= 0 {
			continue
		}
		rate, _ := c.TotalErrorRate()
		about := ""
		if _, estimate := c.Compared(); estimate {
			about = "~"
		}
		words = append(words, fmt.Sprintf("%s %s%s (%s)", c.Label, about, units.Share(rate), kinds(c.Errors)))
	}
	return words
}

func failedChecks(f Facts) (words []string) {
	for _, c := range f.Contenders {
		if failed := c.Checks[bench.CheckFailed]; failed > 0 {
			words = append(words, fmt.Sprintf("%d of %s of %s", failed,
				units.Plural(failed+c.Checks[bench.CheckPassed], "check"), c.Label))
		}
	}
	return words
}

func sayIncomplete(f Facts) string {
	return fmt.Sprintf("Run incomplete: %d of %s did not finish.", f.Unfinished,
		units.Plural(f.Trials, "trial"))
}

// maxFailed is the number of failed rounds that are listed one by one.
const maxFailed = 2

func sayFailedRounds(c Contender) string {
	if len(c.Failed) > maxFailed {
		return fmt.Sprintf("%s failed in %d of %s, first in %s.", c.Label, len(c.Failed),
			units.Plural(c.Trials, "round"), c.Failed[0])
	}
	return fmt.Sprintf("%s failed in %d of %s: %s.", c.Label, len(c.Failed), units.Plural(c.Trials, "round"),
		list(c.Failed))
}

// missed returns the contenders that missed thresholds: "kt-ktor (2 of 6)".
func missed(f Facts) (words []string) {
	for _, c := range f.Contenders {
		if c.Missed > 0 {
			words = append(words, fmt.Sprintf("%s (%d of %d)", c.Label, c.Missed, c.Checked))
		}
	}
	return words
}

const maxKinds = 6 // of warnings with a sentence each

// roundWarnings returns the warnings about the rounds of a contender at its peak.
func roundWarnings(c Contender) bench.Warnings {
	if !c.HasPeak {
		return nil
	}
	return stats.RoundWarnings(c.Peak.Throughput.Values)
}

func sayRoundWarnings(c Contender) string {
	var texts []string
	for _, w := range roundWarnings(c) {
		texts = append(texts, w.Text)
	}
	return fmt.Sprintf("%s: peak throughput varies between rounds more than by chance: %s.", c.Label,
		list(texts))
}

func sayManualChanges(c Contender) string {
	return fmt.Sprintf("Changed by hand: %d of %s of %s.", c.ChangedByHand, units.Plural(c.Trials, "round"), c.Label)
}

func sayPlain(f Facts) string {
	return fmt.Sprintf("Not interleaved: %s. Small differences take more rounds.", safe.Line(f.Apart, maxWords))
}

func sayBusyMachine(f Facts) string {
	return fmt.Sprintf("Machine was busy before the run (load %s on %s); differences may come from that.", f.Busy,
		units.Plural(f.CPUs, "CPU"))
}

// maxRunWarnings is the number of warnings about the run that are quoted.
const maxRunWarnings = 3

func sayRunWarnings(f Facts) (said []Sentence) {
	for i, w := range f.Warnings {
		if i == maxRunWarnings {
			more := units.Plural(len(f.Warnings)-i, "more warning")
			return append(said, Sentence{Text: more + " about the run below."})
		}
		said = append(said, Sentence{Text: "Run warning: “" + safe.Line(w.Text, maxWords) + "”."})
	}
	return said
}

// sayStepsWithWarnings returns one sentence per kind of warning, the one with the most steps first.
func sayStepsWithWarnings(f Facts) (said []Sentence) {
	var all []kind
	for _, c := range f.Contenders {
		for _, w := range c.Warned {
			i := slices.IndexFunc(all, func(k kind) bool { return k.what == w.what })
			if i < 0 {
				i = len(all)
				all = append(all, kind{what: w.what})
			}
			all[i].places = grouped(all[i].places, stepList(w.names), c.Label)
			all[i].steps += len(w.names)
		}
	}
	slices.SortStableFunc(all, func(a, b kind) int { return cmp.Compare(b.steps, a.steps) })
	for i, k := range all {
		if i == maxKinds {
			return append(said, Sentence{Text: units.Plural(len(all)-maxKinds, "more kind") + " of warning below."})
		}
		said = append(said, Sentence{Text: "Warning “" + k.what + "”: " + k.where() + "."})
	}
	return said
}

// stepList returns steps with a common unit once: "16, 64 and 256 connections".
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

// kind is a kind of warning, with the contenders and steps that have it.
type kind struct {
	what   string
	places []group // contenders grouped by steps
	steps  int
}

// where returns the places; only the first of many, because each may be long.
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
