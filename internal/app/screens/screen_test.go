package screens

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestAfterwards: after a run the normal screen has each warning, failure and error once.
func TestAfterwards(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state    bench.RunState
		ran      bool // a contender was started
		failures int  // how often the failure of the trial is printed
		logs     int  // lines of a contender's log
	}{
		"failed trial":      {bench.RunFailed, true, 1, 0},
		"nothing ran":       {bench.RunFailed, false, 1, 1},
		"no trial, failed":  {bench.RunFailed, false, 0, 0},
		"no trial, stopped": {bench.RunInterrupted, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			trial := bench.TrialResult{
				Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialFailed, Started: at,
				Failure: "exit code 3", LastLog: []bench.LogLine{{Text: "last words"}},
			}
			if c.ran {
				trial.Instance = &bench.InstanceInfo{Runtime: bench.RuntimeProcess}
			}
			run := bench.Run{
				Schema: bench.SchemaVersion, ID: "r", State: c.state, Started: at, Warnings: bench.Warnings{{Text: "a busy machine"}},
				Trials: []bench.TrialEntry{{Trial: trial.Trial, State: bench.TrialPending, File: "a-1.json"}},
			}
			if c.failures > 0 {
				run.Trials[0].State = trial.State
				testenv.OK(t, results.WriteJSON(filepath.Join(dir, "a-1.json"), trial))
			}
			testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
			var out bytes.Buffer
			env := console.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
			err := afterwards(env, dir, console.ExitContender, "locbench: some trials failed\x1b[2J\r\n")
			var reported console.Reported
			if !errors.As(err, &reported) || reported.Code != console.ExitContender || strings.Contains(out.String(), "\x1b") {
				t.Errorf("%v\n%s", err, &out)
			}
			for text, want := range map[string]int{
				"a busy machine": 1, "exit code 3": c.failures, "last words": c.logs, "locbench: some trials failed": 1,
			} {
				testenv.Equal(t, strings.Count(out.String(), text), want, text, &out)
			}
		})
	}
}

// TestDetached: the hint names a command that the system has.
func TestDetached(t *testing.T) {
	for system, stop := range map[string]string{"linux": "kill 42", "darwin": "kill 42", "windows": "taskkill /F /PID 42, then: locbench clean"} {
		testenv.Equal(t, detached(system, 42, "results/a"),
			"The run continues as process 42.\nWatch it: locbench tui results/a\nStop it:  "+stop, system)
	}
}
