package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// The harness of the published comparison writes a file for each round,
// <name>-<n>.checks.bench.json. It holds "checks", an object from label to value, and "stats", a
// list with a reading after start-up, one after the HTTP checks, and one after each step. Sizes are
// in MiB although the keys say MB; counters count from the start.
const (
	harnessSuffix = ".checks.bench.json"

	labelStartUp = "Startup time (to start responding) secs"
	labelImage   = "Docker image size (MB)"
	labelStops   = "Stops gracefully"

	messageStartUp = "After startup"
	messageChecks  = "After HTTP checks"
	messageStep    = "Bench"

	markStartUp = "after start-up"
	markChecks  = "after checks"
)

// harnessFile is a file of the harness. Values are kept as JSON.
type harnessFile struct {
	Checks []harnessCheck
	Stats  []harnessStat
}

type harnessCheck struct {
	label string
	value json.RawMessage
}

// harnessStat is one entry of stats, in the order of harnessKeys; nil is null.
type harnessStat []any

// harnessKeys returns the keys of an entry in their order in a file.
func harnessKeys() []string {
	return []string{
		"message", "cpu_total_s", "cpu_new_s", "mem_usage_mb", "mem_max_mb", "requests_total", "requests_new",
		"request_errors_total", "request_errors_new", "connections", "latency_50p_ms", "latency_90p_ms", "latency_99p_ms",
		"requests_per_s",
	}
}

func harnessFiles(run bench.Run, trials []bench.TrialResult, _ Options) (files []File, err error) {
	labels := harnessLabels(trials)
	for _, trial := range trials {
		if len(trial.Steps) > 0 {
			files = append(files, File{fileName(trial.Trial.String()) + harnessSuffix, func(w io.Writer) error {
				f := harnessFile{Checks: harnessChecks(trial), Stats: harnessStats(trial)}
				f.fill(labels)
				_, err := w.Write(f.encode())
				return err
			}})
		}
	}
	return files, nil
}

// notRun is the value of a check of other trials: the published renderer needs all checks.
const notRun = "not run"

// harnessLabels returns the labels of all trials' checks in order.
func harnessLabels(trials []bench.TrialResult) (labels []string) {
	for _, trial := range trials {
		for _, c := range harnessChecks(trial) {
			if !slices.Contains(labels, c.label) {
				labels = append(labels, c.label)
			}
		}
	}
	return labels
}

func (f *harnessFile) fill(labels []string) {
	for _, l := range labels {
		if !slices.ContainsFunc(f.Checks, func(c harnessCheck) bool { return c.label == l }) {
			f.Checks = append(f.Checks, harnessCheck{l, raw(notRun)})
		}
	}
}

// harnessChecks returns the checks of a trial.
func harnessChecks(trial bench.TrialResult) (out []harnessCheck) {
	var startUp, image any
	if trial.StartUp != nil {
		startUp = trial.StartUp.Seconds()
	}
	if trial.Artifact.ImageSize > 0 {
		image = float64(trial.Artifact.ImageSize) / (1 << 20)
	}
	out = []harnessCheck{{labelStartUp, raw(startUp)}, {labelImage, raw(image)}}
	seen := map[string]bool{labelStartUp: true, labelImage: true, labelStops: true}
	for _, c := range trial.Checks {
		if c.Group == "lifecycle" && (c.Name == bench.CheckImageSize || c.Name == bench.CheckStops) {
			continue
		}
		label := safe.Line(c.Group+": "+c.Name, 200)
		if !seen[label] {
			seen[label] = true
			out = append(out, harnessCheck{label, raw(verdictOf(c))})
		}
	}
	return append(out, harnessCheck{labelStops, raw(stopsOf(trial))})
}

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

func harnessStats(trial bench.TrialResult) []harnessStat {
	var out []harnessStat
	var cpu *float64 // CPU seconds of the previous entry
	var requests, errors int64
	entry := func(message string, u *bench.Usage, newRequests, newErrors int64) harnessStat {
		s := make(harnessStat, len(harnessKeys()))
		s[0] = message
		if u != nil {
			now := u.CPU.Seconds()
			s[1] = now
			if cpu != nil {
				s[2] = now - *cpu
			}
			cpu = &now
			if u.Memory != nil {
				s[3], s[4] = float64(u.Memory.Used)/(1<<20), float64(u.Memory.Peak)/(1<<20)
			}
		}
		requests, errors = requests+newRequests, errors+newErrors
		s[5], s[7] = requests, errors
		if len(out) > 0 { // not the first entry
			s[6], s[8] = newRequests, newErrors
		}
		return s
	}
	for _, m := range []struct{ message, name string }{{messageStartUp, markStartUp}, {messageChecks, markChecks}} {
		out = append(out, entry(m.message, markOf(trial, m.name), 0, 0))
	}
	for _, s := range trial.Steps {
		if s.Aborted != "" && s.After == nil {
			break // the harness has no entry for a step in which the service died
		}
		e := entry(messageStep, s.After, s.Load.Succeeded, s.Load.FailedTotal())
		if s.Step.Connections > 0 {
			e[9] = s.Step.Connections
		}
		l := s.Load.Latency
		for k, d := range []time.Duration{l.P50, l.P90, l.P99} {
			if l.Count > 0 {
				e[10+k] = float64(d) / 1e6
			}
		}
		if s.Load.Elapsed > 0 {
			e[13] = s.Load.Throughput()
		}
		out = append(out, e)
	}
	return out
}

func markOf(trial bench.TrialResult, name string) *bench.Usage {
	if i := slices.IndexFunc(trial.Marks, func(m bench.Mark) bool { return m.Name == name }); i >= 0 {
		return &trial.Marks[i].Usage
	}
	return nil
}

// raw returns v as JSON; null if JSON cannot hold v.
func raw(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // an infinite number
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// encode returns the file, with one line for each value of checks and stats.
func (f harnessFile) encode() []byte {
	var checks, stats []string
	for _, c := range f.Checks {
		checks = append(checks, fmt.Sprintf("\n    %s: %s", raw(c.label), c.value))
	}
	keys := harnessKeys()
	for _, s := range f.Stats {
		var parts []string
		for k, v := range s {
			parts = append(parts, fmt.Sprintf("%q: %s", keys[k], raw(v)))
		}
		stats = append(stats, "\n    {"+strings.Join(parts, ", ")+"}")
	}
	return fmt.Appendf(nil, "{\n  \"checks\": {%s\n  },\n  \"stats\": [%s\n  ]\n}\n", strings.Join(checks, ","),
		strings.Join(stats, ","))
}
