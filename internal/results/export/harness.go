package export

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// harnessFile is what the harness of the published comparison writes for each round,
// <name>-<n>.checks.bench.json: the checks by label, and readings after start-up, after the HTTP
// checks and after each step. Sizes are in MiB although the keys say MB.
type harnessFile struct {
	Checks map[string]any `json:"checks"`
	Stats  []harnessStat  `json:"stats"`
}

// harnessStat is a reading; nil is null: unknown. Totals count from the start.
type harnessStat struct {
	Message       string   `json:"message"`
	CPUTotal      *float64 `json:"cpu_total_s"`
	CPUNew        *float64 `json:"cpu_new_s"` // since the reading before, as all that is new
	MemoryUsed    *float64 `json:"mem_usage_mb"`
	MemoryMax     *float64 `json:"mem_max_mb"`
	RequestsTotal int64    `json:"requests_total"`
	RequestsNew   *int64   `json:"requests_new"`
	ErrorsTotal   int64    `json:"request_errors_total"`
	ErrorsNew     *int64   `json:"request_errors_new"`
	Connections   *int     `json:"connections"`
	P50           *float64 `json:"latency_50p_ms"`
	P90           *float64 `json:"latency_90p_ms"`
	P99           *float64 `json:"latency_99p_ms"`
	Throughput    *float64 `json:"requests_per_s"`
}

// harnessFiles gives each file the checks of all trials: the published renderer needs them.
func harnessFiles(run bench.Run, trials []bench.TrialResult, opt Options) []File {
	labels := map[string]any{}
	for _, trial := range trials {
		for label := range harnessChecks(trial) {
			labels[label] = "not run"
		}
	}
	return perTrial(".checks.bench.json", func(w io.Writer, trial bench.TrialResult) error {
		checks := harnessChecks(trial)
		for label, missing := range labels {
			if _, ok := checks[label]; !ok {
				checks[label] = missing
			}
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(harnessFile{checks, harnessStats(trial)})
	})(run, trials, opt)
}

// harnessChecks returns the checks of a trial.
func harnessChecks(trial bench.TrialResult) map[string]any {
	out := map[string]any{}
	for _, c := range slices.Backward(trial.Checks) { // the first of a name remains
		if c.Group != "lifecycle" || c.Name != bench.CheckImageSize && c.Name != bench.CheckStops {
			out[safe.Line(c.Group+": "+c.Name, 200)] = verdictOf(c)
		}
	}
	out["Startup time (to start responding) secs"] = ifSet(trial.StartUp, func(d bench.Duration) any { return d.Seconds() })
	out["Docker image size (MB)"] = ifKnown(mebibytes(trial.Artifact.ImageSize), trial.Artifact.ImageSize > 0)
	out["Stops gracefully"] = stopsOf(trial)
	return out
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// verdictOf returns a check in the harness' words: "Good, 404", "Bad: expected 404, got 500".
func verdictOf(c bench.CheckResult) string {
	join := func(word, separator, more string) string {
		if more == "" {
			return word
		}
		return word + separator + safe.Line(more, 300)
	}
	switch c.Status {
	case bench.CheckPassed:
		return join("Good", ", ", c.Value)
	case bench.CheckFailed:
		return join("Bad", ": ", c.Detail)
	case bench.CheckSkipped:
		return join("Skipped", ": ", c.Detail)
	}
	return safe.Line(c.Value, 300)
}

func stopsOf(trial bench.TrialResult) string {
	switch {
	case trial.Stop == nil:
		return "Bad, not known"
	case trial.Stop.Graceful:
		return fmt.Sprintf("Good, exited in %ss", number(trial.Stop.Took.Seconds()))
	case trial.Stop.ExitedBeforeStop:
		return "Bad, exited before stop"
	}
	return fmt.Sprintf("Bad, did not stop in %ss", number(trial.Stop.Took.Seconds()))
}

func harnessStats(trial bench.TrialResult) (out []harnessStat) {
	var cpu *float64 // CPU seconds of the previous reading
	var requests, errors int64
	add := func(s harnessStat, u *bench.Usage, newRequests, newErrors int64) {
		if u != nil {
			s.CPUTotal = new(u.CPU.Seconds())
			if cpu != nil {
				s.CPUNew = new(*s.CPUTotal - *cpu)
			}
			cpu = s.CPUTotal
			if u.Memory != nil {
				s.MemoryUsed, s.MemoryMax = new(mebibytes(u.Memory.Used)), new(mebibytes(u.Memory.Peak))
			}
		}
		requests, errors = requests+newRequests, errors+newErrors
		s.RequestsTotal, s.ErrorsTotal = requests, errors
		if len(out) > 0 {
			s.RequestsNew, s.ErrorsNew = &newRequests, &newErrors
		}
		out = append(out, s)
	}
	add(harnessStat{Message: "After startup"}, markOf(trial, "after start-up"), 0, 0)
	add(harnessStat{Message: "After HTTP checks"}, markOf(trial, "after checks"), 0, 0)
	for _, step := range trial.Steps {
		if step.Aborted != "" && step.After == nil {
			break // the harness has no reading of a step in which the service died
		}
		s := harnessStat{Message: "Bench"}
		if step.Step.Connections > 0 {
			s.Connections = &step.Step.Connections
		}
		if l := step.Load.Latency; l.Count > 0 {
			s.P50, s.P90, s.P99 = new(milliseconds(l.P50)), new(milliseconds(l.P90)), new(milliseconds(l.P99))
		}
		if step.Load.Elapsed > 0 {
			s.Throughput = new(step.Load.Throughput())
		}
		add(s, step.After, step.Load.Succeeded, step.Load.FailedTotal())
	}
	return out
}

func markOf(trial bench.TrialResult, name string) *bench.Usage {
	if i := slices.IndexFunc(trial.Marks, func(m bench.Mark) bool { return m.Name == name }); i >= 0 {
		return &trial.Marks[i].Usage
	}
	return nil
}
