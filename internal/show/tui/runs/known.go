package runs

import (
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// known is what the page shows of a folder that was read.
type known struct {
	changed time.Time // of the entry that was read
	run     *analysis.Run
	err     error // of reading a part of the folder
	said    conclusion.Conclusion
	since   string // what changed since the run before of its profile
	differs string // options that were given, other than the profile and the contenders
}

// read reads a folder and compares it with the run before.
func read(source ui.Source, e results.Entry, before *results.Entry) *known {
	run, trials, err := source.Load(e.Dir)
	a := analysis.Of(run, trials)
	k := &known{changed: e.Changed, run: a, err: err, said: conclusion.Of(a, source.Floor(run, run, e.Dir)),
		differs: differs(run)}
	k.since = since(source, a, e, before, question(k.said.Kind))
	return k
}

// differs returns the options in the command of a run.
func differs(run bench.Run) string {
	var options []string
	for _, word := range run.Given {
		if strings.HasPrefix(word, "--") && !strings.HasPrefix(word, "--profile=") {
			options = append(options, word)
		}
	}
	return conclusion.Command(options)
}

// question is the measure that runs of a kind are about.
func question(kind conclusion.Kind) measure.ID {
	switch kind {
	case conclusion.Arrivals:
		return measure.P99Half
	case conclusion.FirstRequests:
		return measure.StartUp
	}
	return measure.Throughput
}

// since returns what has changed since the run before of the same profile: "vs 20 Nov 08:00:
// rs-actix worse −12.1%", on another day without the time.
func since(source ui.Source, a *analysis.Run, e results.Entry, before *results.Entry, id measure.ID) string {
	if before == nil {
		return "first of its profile"
	}
	at := when(before)
	if day := at[:len("_2 Jan")]; day != when(&e)[:len(day)] {
		at = day
	}
	head := "vs " + strings.TrimSpace(at) + ": "
	r, err := ui.Since(source, before.Dir, a, e.Dir)
	if err != nil {
		return head + "not comparable"
	}
	return head + r.Brief(id)
}
