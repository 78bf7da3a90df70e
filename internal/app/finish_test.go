package app

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// largeRun returns a folder with the results of a run of 8 contenders, 6 rounds and 16 steps, made
// of one trial of a real run. Its 768 distributions all differ.
func largeRun(tb testing.TB) (dir string) {
	tb.Helper()
	run, trials, err := results.Read("../../testdata/results/burst")
	testenv.OK(tb, err)
	dir = tb.TempDir()
	write := func(name string, v any) {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		testenv.OK(tb, err)
	}
	run.Trials, run.Profile.Contenders = nil, nil
	for c := range 8 {
		name := fmt.Sprintf("contender-%d", c)
		run.Profile.Contenders = append(run.Profile.Contenders, bench.Selection{Contender: name})
		for round := 1; round <= 6; round++ {
			trial := trials[0]
			trial.Trial, trial.State, trial.Steps = bench.Trial{Contender: name, Round: round}, bench.TrialComplete, nil
			for i := range 16 {
				s := trials[0].Steps[0]
				s.Index, s.Step.Name, s.Step.WarmUp = i, fmt.Sprintf("%d connections", 1<<min(i, 10)+i), i == 0
				s.Load.Windows = slices.Clone(s.Load.Windows)
				h := hdr.New()
				for n := range 5000 {
					h.Record(time.Duration(1+c+i)*time.Millisecond + time.Duration(n*n*round)*time.Nanosecond)
				}
				s.Load.Latency = h.Latencies()
				trial.Steps = append(trial.Steps, s)
			}
			entry := bench.TrialEntry{Trial: trial.Trial, State: trial.State, File: fmt.Sprintf("%s-%d.json", name, round)}
			run.Trials = append(run.Trials, entry)
			write(entry.File, trial)
		}
	}
	write(results.RunFile, run)
	return dir
}

// BenchmarkFinish measures the end of a run: reading results, writing report and summary, printing
// the text. To compare two versions, run their test binaries alternately.
func BenchmarkFinish(b *testing.B) {
	dir := largeRun(b)
	env := console.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := finish(env, dir, true); err != nil {
			b.Fatal(err)
		}
	}
}
