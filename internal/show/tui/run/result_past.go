package run

import (
	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

func floorOf(past ui.Source, run bench.Run) *compare.Floor {
	if past == nil {
		return nil
	}
	return past.Floor(run, run)
}

// previous returns the last complete run of the same profile before a run.
func previous(past ui.Source, now bench.Run) (last results.Entry, ok bool) {
	if past == nil {
		return last, false
	}
	entries, _ := past.List()
	for _, e := range entries {
		if e.Err == nil && !e.Live && e.Profile == now.Profile.Name && e.State == bench.RunComplete && e.ID != now.ID &&
			e.Started.Before(now.Started) && e.Started.After(last.Started) {
			last = e
		}
	}
	return last, last.Dir != ""
}

// since says how the throughput changed since the previous run; "" if there is none.
func since(past ui.Source, now *analysis.Run) string {
	last, ok := previous(past, now.Run)
	if !ok {
		return ""
	}
	r, err := ui.Since(past, last.Dir, now)
	if err != nil {
		return ""
	}
	return "Throughput since " + last.Started.Format("2 Jan 15:04") + ": " + r.Brief(measure.Throughput) + "."
}
