package plain

import (
	"locbench/internal/bench"
	"locbench/internal/safe"
	"locbench/internal/units"
)

// maxMissed is how many missed thresholds the final table lists; the report has them all.
const maxMissed = 20

// judgement is "p99 is 71.2ms, not <50ms, over 5s, after 9.00 s; ended the leg".
func judgement(j bench.Judgement) string {
	text := j.Text
	if j.Window > 0 {
		text += ", over " + j.Window.String()
	}
	if j.At > 0 {
		text += ", after " + units.Duration(j.At)
	}
	if j.Stopped != "" {
		text += "; ended the " + string(j.Stopped)
	}
	return text
}

// thresholds says how many were judged, and which were missed.
func thresholds(line func(string, ...any), legs []bench.LegResult) {
	judged, missed := 0, 0
	for _, leg := range legs {
		for _, s := range leg.Steps {
			judged += len(s.Thresholds)
			missed += len(s.Missed())
		}
	}
	if judged == 0 {
		return
	}
	line("thresholds: %d of %s missed", missed, units.Plural(judged, "judgement"))
	shown := 0
	for _, leg := range legs {
		for _, s := range leg.Steps {
			for _, j := range s.Missed() {
				if shown++; shown <= maxMissed {
					line("missed: %s, step %d (%s): %s", leg.Leg, s.Index+1, safe.Line(s.Step.Name, 60), safe.Line(judgement(j), 300))
				}
			}
		}
	}
	if missed > maxMissed {
		line("and %d more, in the report", missed-maxMissed)
	}
}
