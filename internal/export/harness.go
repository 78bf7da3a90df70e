package export

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// The harness of the published comparison keeps each round in a file of its own,
// <name>-<n>.checks.bench.json: "checks", an object from label to value, and "stats", a list with a
// reading after start-up, one after the HTTP checks, and one after each step of load. Its sizes are
// in MiB although the keys say MB, and its counters run since the start.
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

	groupHarness = "harness"       // checks as the file has them
	groupStats   = "harness-stats" // numbers of the file that do not follow from the others: name is stats[2].cpu_new_s
)

// harnessFile is such a file. Values stay the JSON that they were.
type harnessFile struct {
	Checks []harnessCheck
	Stats  []harnessStat
}

type harnessCheck struct {
	label string
	value json.RawMessage
}

// harnessStat is one entry of stats, by the index of harnessKeys; nil: the key is not there.
type harnessStat []json.RawMessage

// harnessKeys are the keys of an entry in the order in which they are written.
func harnessKeys() []string {
	return []string{"message", "cpu_total_s", "cpu_new_s", "mem_usage_mb", "mem_max_mb", "requests_total", "requests_new", "request_errors_total",
		"request_errors_new", "connections", "latency_50p_ms", "latency_90p_ms", "latency_99p_ms", "requests_per_s"}
}

func harnessFiles(run bench.Run, legs []bench.LegResult, _ Options) (files []File, err error) {
	labels := harnessLabels(legs)
	for _, leg := range legs {
		if len(leg.Steps) == 0 {
			continue
		}
		files = append(files, File{fileName(leg.Leg.String()) + harnessSuffix, func(w io.Writer) error {
			f := toHarness(leg)
			f.fill(labels)
			_, err := w.Write(f.encode())
			return err
		}})
	}
	return files, nil
}

// notRun stands for a check that a leg has not run and another has: the published renderer wants
// every check in every file.
const notRun = "not run"

// harnessLabels are the checks of all legs, in the order in which they first appear; none where a
// leg came from the harness, whose files stay as they were.
func harnessLabels(legs []bench.LegResult) (labels []string) {
	seen := map[string]bool{}
	for _, leg := range legs {
		for _, c := range leg.Checks {
			if c.Group == groupHarness {
				return nil
			}
		}
		for _, c := range harnessChecks(leg) {
			if !seen[c.label] {
				seen[c.label] = true
				labels = append(labels, c.label)
			}
		}
	}
	return labels
}

// fill adds the checks that are missing.
func (f *harnessFile) fill(labels []string) {
	has := map[string]bool{}
	for _, c := range f.Checks {
		has[c.label] = true
	}
	for _, l := range labels {
		if !has[l] {
			f.Checks = append(f.Checks, harnessCheck{l, rawString(notRun)})
		}
	}
}

// toHarness turns a leg into the harness' form.
func toHarness(leg bench.LegResult) harnessFile {
	f := harnessFile{Checks: harnessChecks(leg), Stats: harnessStats(leg)}
	overrideStats(f.Stats, leg.Checks)
	return f
}

// harnessChecks are the checks of a leg. Those of an imported one are as they were.
func harnessChecks(leg bench.LegResult) (out []harnessCheck) {
	imported := false
	for _, c := range leg.Checks {
		if c.Group == groupHarness {
			imported = true
			out = append(out, harnessCheck{c.Name, rawOf(c.Value)})
		}
	}
	if imported {
		return out
	}
	startUp, image := json.RawMessage("null"), json.RawMessage("null")
	if leg.StartUp != nil {
		startUp = rawNumber(leg.StartUp.Seconds())
	}
	if leg.Artifact.ImageSize > 0 {
		image = rawNumber(float64(leg.Artifact.ImageSize) / (1 << 20))
	}
	out = []harnessCheck{{labelStartUp, startUp}, {labelImage, image}}
	seen := map[string]bool{labelStartUp: true, labelImage: true, labelStops: true}
	for _, c := range leg.Checks {
		if c.Group == groupStats || c.Group == "lifecycle" && (c.Name == bench.CheckImageSize || c.Name == bench.CheckStops) {
			continue
		}
		label := safe.Line(c.Group+": "+c.Name, 200)
		if !seen[label] {
			seen[label] = true
			out = append(out, harnessCheck{label, rawString(verdictOf(c))})
		}
	}
	return append(out, harnessCheck{labelStops, rawString(stopsOf(leg))})
}

// verdictOf is a check in the harness' words: "Good", "Good, 404", "Bad: wanted 404, got 500".
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

func stopsOf(leg bench.LegResult) string {
	switch {
	case leg.Stop == nil:
		return "Bad, not known"
	case leg.Stop.Graceful:
		return fmt.Sprintf("Good, exited in %ss", number(leg.Stop.Took.Seconds()))
	case leg.Stop.Already:
		return "Bad, had ended before"
	}
	return fmt.Sprintf("Bad, did not stop in %ss", number(leg.Stop.Took.Seconds()))
}

func harnessStats(leg bench.LegResult) []harnessStat {
	var out []harnessStat
	var cpu *float64 // of the entry before
	var requests, errors int64
	entry := func(message string, u *bench.Usage, newRequests, newErrors int64) harnessStat {
		s := harnessStat{rawString(message), null, null, null, null}
		if u != nil {
			now := u.CPU.Seconds()
			s[1] = rawNumber(now)
			if cpu != nil {
				s[2] = rawNumber(now - *cpu)
			}
			cpu = &now
			if u.Memory != nil {
				s[3], s[4] = rawNumber(float64(u.Memory.Used)/(1<<20)), rawNumber(float64(u.Memory.Peak)/(1<<20))
			}
		}
		requests, errors = requests+newRequests, errors+newErrors
		s = append(s, rawInt(requests), rawInt(newRequests), rawInt(errors), rawInt(newErrors))
		if len(out) == 0 { // nothing came before it
			s[2], s[6], s[8] = null, null, null
		}
		return append(s, null, null, null, null, null)
	}
	for _, m := range []struct{ message, name string }{{messageStartUp, markStartUp}, {messageChecks, markChecks}} {
		out = append(out, entry(m.message, markOf(leg, m.name), 0, 0))
	}
	for i := range leg.Steps {
		s := leg.Steps[i]
		if s.Aborted != "" && s.After == nil {
			break // the harness ends with a service that dies: a step without its counters is none
		}
		e := entry(messageStep, s.After, s.Load.Succeeded, s.Load.FailedTotal())
		if s.Step.Connections > 0 {
			e[9] = rawInt(int64(s.Step.Connections))
		}
		for k, of := range []func(bench.Latencies) time.Duration{
			func(l bench.Latencies) time.Duration { return l.P50 }, func(l bench.Latencies) time.Duration { return l.P90 }, func(l bench.Latencies) time.Duration { return l.P99 },
		} {
			if d, ok := figure(s.Load.Latency, of); ok {
				e[10+k] = rawMS(d)
			}
		}
		if s.Load.Elapsed > 0 {
			e[13] = rawNumber(rateOf(s.Load))
		}
		out = append(out, e)
	}
	return out
}

func markOf(leg bench.LegResult, name string) *bench.Usage {
	for i := range leg.Marks {
		if leg.Marks[i].Name == name {
			return &leg.Marks[i].Usage
		}
	}
	return nil
}

// rateOf is the throughput with as few digits as still give the elapsed time back to the
// nanosecond, so that nothing is lost on the way back and a rate that was read as 349.72 is written
// so.
func rateOf(l bench.Load) float64 {
	exact := l.Throughput()
	for digits := 1; digits < 17; digits++ {
		x, err := strconv.ParseFloat(strconv.FormatFloat(exact, 'e', digits, 64), 64)
		if err == nil && elapsedOf(l.Succeeded, x) == l.Elapsed {
			return x
		}
	}
	return exact
}

// elapsedOf is the time in which n requests make a throughput of rate per second; 0 where that is
// no time.
func elapsedOf(n int64, rate float64) time.Duration {
	if n <= 0 || !(rate > 0) {
		return 0
	}
	ns := math.Round(float64(n) / rate * 1e9)
	if ns > float64(maxElapsed) {
		return 0
	}
	return time.Duration(ns)
}

// maxElapsed is longer than any step.
const maxElapsed = 1000 * time.Hour

// overrideStats puts the numbers back that did not follow from the others when the file was read.
func overrideStats(stats []harnessStat, checks []bench.CheckResult) {
	keys := harnessKeys()
	for _, c := range checks {
		if c.Group != groupStats {
			continue
		}
		for i := range stats {
			for k, key := range keys {
				if c.Name != statName(i, key) {
					continue
				}
				stats[i][k] = nil // the key was not there
				if c.Value != "" {
					stats[i][k] = rawOf(c.Value)
				}
			}
		}
	}
}

func statName(i int, key string) string { return "stats[" + strconv.Itoa(i) + "]." + key }
