package run

import (
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
)

// Past is what the end of a run is compared with. Its methods may block: they are called in commands.
type Past interface {
	// List finds the results folders.
	List() (entries []results.Entry, left int)
	// Load returns the plan and the trials of a folder.
	Load(dir string) (bench.Run, []bench.TrialResult, error)
	// Floor returns the noise floor of two runs; nil: not known.
	Floor(old, fresh bench.Run, dirs ...string) *compare.Floor
}

func floorOf(past Past, run bench.Run) *compare.Floor {
	if past == nil {
		return nil
	}
	return past.Floor(run, run)
}

// previous returns the last complete run of the same profile before a run.
func previous(past Past, now bench.Run) (last results.Entry, ok bool) {
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
func since(past Past, now *analysis.Run) string {
	last, ok := previous(past, now.Run)
	if !ok {
		return ""
	}
	run, trials, err := past.Load(last.Dir)
	if err != nil {
		return ""
	}
	found, err := compare.Compare(compare.Set{Run: analysis.Of(run, trials)}, compare.Set{Run: now},
		compare.Options{Floor: past.Floor(run, now.Run, last.Dir)})
	if err != nil {
		return ""
	}
	return "Throughput since " + last.Started.Format("2 Jan 15:04") + ": " + changes(found) + "."
}

// changes returns the verdicts on the throughput of the contenders: "a better, b same".
func changes(found compare.Result) string {
	const most = 4
	var parts []string
	for _, c := range found.Contenders {
		for _, row := range c.Rows {
			switch {
			case row.Measure != measure.Throughput:
			case len(found.Contenders) == 1 && row.NotComparable != "":
				return "not comparable: " + row.NotComparable
			case len(found.Contenders) == 1:
				return row.Sentence
			case row.NotComparable != "":
				parts = append(parts, c.New+" not comparable")
			default:
				parts = append(parts, c.New+" "+row.Verdict.String())
			}
		}
	}
	text := strings.Join(parts[:min(len(parts), most)], ", ")
	if more := len(parts) - most; more > 0 {
		text += ", " + units.Plural(more, "more contender")
	}
	return text
}
