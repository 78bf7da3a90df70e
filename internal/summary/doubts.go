package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/stats"
	"locbench/internal/units"
)

const maxKinds = 6 // of warnings that are named

// apart says how the rounds of a contender's peak do not belong together.
func apart(c Contender) []string {
	if !c.HasPeak {
		return nil
	}
	return stats.Doubts(c.Peak.Throughput.Values)
}

func sayRoundsApart(c Contender) string {
	return fmt.Sprintf("The rounds of %s differ in throughput at its peak more than chance makes them: %s.", c.Label, list(apart(c)))
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
		said = append(said, Sentence{Text: "Warned of the whole run: “" + w + "”."})
	}
	return said
}

// sayStepsInDoubt writes one sentence for each kind of warning, those with the most steps first.
func sayStepsInDoubt(f Figures) (said []Sentence) {
	var all []kind
	for _, c := range f.Contenders {
		for _, d := range c.Doubtful {
			i := slices.IndexFunc(all, func(k kind) bool { return k.same(d) })
			if i < 0 {
				i = len(all)
				all = append(all, kind{Doubtful: d})
			}
			all[i].merge(d)
			all[i].add(c.Label, stepList(d.Steps))
			all[i].steps += len(d.Steps)
		}
	}
	slices.SortStableFunc(all, func(a, b kind) int { return cmp.Compare(b.steps, a.steps) })
	for i, k := range all {
		if i == maxKinds {
			return append(said, Sentence{Text: "Warned of " + strconv.Itoa(len(all)-maxKinds) + " more things, listed below."})
		}
		said = append(said, Sentence{Text: "Warned of “" + k.What + "”: " + k.where() + "."})
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
	Doubtful
	places []place
	steps  int
}

type place struct {
	names []string
	at    string
}

// add puts contenders with the same steps together.
func (k *kind) add(name, at string) {
	i := slices.IndexFunc(k.places, func(p place) bool { return p.at == at })
	if i < 0 {
		i = len(k.places)
		k.places = append(k.places, place{at: at})
	}
	k.places[i].names = append(k.places[i].names, name)
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
		words = append(words, list(p.names)+" at "+p.at)
	}
	return strings.Join(words, "; ")
}
