package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/stats"
)

const (
	busyLoad = 0.5 // load average per CPU before a run from which others were at work on the machine
	maxKinds = 6   // of warnings that are named
)

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
	return fmt.Sprintf("Somebody intervened in %d of %s of %s.", c.Steered, plural(c.Legs, "round"), c.Label)
}

func sayBusyMachine(f Figures) string {
	return fmt.Sprintf("The machine was at work before the run (load %s on %s): what differs may be that work.", f.Busy, plural(f.CPUs, "CPU"))
}

// maxRunWarnings is how many warnings of the whole run are told.
const maxRunWarnings = 3

func sayRunWarnings(f Figures) (told []Sentence) {
	for i, w := range f.Warnings {
		if i == maxRunWarnings {
			return append(told, Sentence{Text: "Warned of the whole run: " + strconv.Itoa(len(f.Warnings)-i) + " more things, listed below."})
		}
		told = append(told, Sentence{Text: "Warned of the whole run: “" + w + "”."})
	}
	return told
}

// sayStepsInDoubt writes one sentence for each kind of warning, those with the most steps first.
func sayStepsInDoubt(f Figures) (told []Sentence) {
	type kind struct {
		Doubtful
		places []string
		steps  int
	}
	var all []kind
	for _, c := range f.Contenders {
		for _, d := range c.Doubtful {
			i := slices.IndexFunc(all, func(k kind) bool { return k.kind() == d.kind() })
			if i < 0 {
				i = len(all)
				all = append(all, kind{Doubtful: d})
			}
			if all[i].What != d.What {
				all[i].What = d.kind()
			}
			all[i].places = append(all[i].places, c.Label+" at "+stepList(d.Steps))
			all[i].steps += len(d.Steps)
		}
	}
	slices.SortStableFunc(all, func(a, b kind) int { return cmp.Compare(b.steps, a.steps) })
	for i, k := range all {
		if i == maxKinds {
			return append(told, Sentence{Text: "Warned of other things too: " + strconv.Itoa(len(all)-maxKinds) + " more of them are listed below."})
		}
		told = append(told, Sentence{Text: "Warned of “" + k.What + "”: " + places(k.places) + "."})
	}
	return told
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

// places are not as many as list shows, since each may be long.
func places(all []string) string {
	const most = 4
	if n := len(all) - most; n > 1 {
		return strings.Join(all[:most], "; ") + "; and " + strconv.Itoa(n) + " more contenders"
	}
	return strings.Join(all, "; ")
}
