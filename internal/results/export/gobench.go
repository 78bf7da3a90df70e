package export

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// writeGoBench writes Go's benchmark format: one line per step and round. The name has the
// contender and the step but not the round: benchstat takes rounds as samples, and finds the same
// name in other results. Warm-ups and steps that stopped early are left out.
func writeGoBench(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	var b strings.Builder
	config := func(key, value string) {
		// benchstat compares only equal configurations, so nothing here may differ between runs.
		if value = safe.Line(value, 200); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	config("goos", run.Machine.OS)
	config("goarch", run.Machine.Arch)
	config("cpu", run.Machine.CPUModel)
	config("pkg", "locbench/"+benchName(run.Profile.Name))
	for _, trial := range trials {
		if d, ok := trial.Definition(); ok { // benchstat does not compare different definitions
			config("measured-step", d.String())
			break
		}
	}
	units := benchUnits()
	for _, m := range units {
		fmt.Fprintf(&b, "Unit %s better=%s\n", m.Benchmark, better(m))
	}
	for r := range rows(run, trials) {
		if !r.Step.WarmUp && r.Aborted == "" {
			benchLine(&b, units, r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// benchUnits returns the measures that are units of Go's benchmark format.
func benchUnits() []measure.Measure {
	return slices.DeleteFunc(measure.All(), func(m measure.Measure) bool { return m.Benchmark == "" })
}

func better(m measure.Measure) string {
	if m.Higher {
		return "higher"
	}
	return "lower"
}

func benchLine(b *strings.Builder, units []measure.Measure, r row) {
	// The index distinguishes steps of the same name and keeps their order in sorted output.
	fmt.Fprintf(b, "BenchmarkLoad/contender=%s/step=%02d_%s %d",
		benchName(r.trial.Trial.Label()), r.Index+1, benchName(r.Step.Name), max(r.Load.Succeeded, 1))
	for _, m := range units {
		v, ok := m.Of(r.StepResult)
		switch {
		case m.ID == measure.MemoryPeak && v == 0:
		case ok && m.Unit.Whole():
			fmt.Fprintf(b, " %d %s", int64(v), m.Benchmark)
		case ok || m.ID == measure.Throughput:
			fmt.Fprintf(b, " %s %s", number(v), m.Benchmark)
		}
	}
	b.WriteByte('\n')
}

// benchName returns s as one word, without slashes and the -N at the end that means N processors.
func benchName(s string) string {
	s = strings.Map(func(r rune) rune {
		if plainIn(r, ".:_-") {
			return r
		}
		return '_'
	}, safe.Line(s, 100))
	if s == "" {
		return "unnamed"
	}
	if i := strings.LastIndexByte(s, '-'); i >= 0 && strings.Trim(s[i+1:], "0123456789") == "" {
		s = s[:i] + "_" + s[i+1:]
	}
	return s
}
