package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// maxHarness is the largest file of the harness, in bytes; real ones have about ten thousand.
const maxHarness = 1 << 20

// isHarness reports whether f is a file of the harness, by its name or its first key.
func isHarness(f source) bool {
	d := json.NewDecoder(bytes.NewReader(f.data))
	open, err1 := d.Token()
	key, err2 := d.Token()
	return strings.HasSuffix(f.name, harnessSuffix) ||
		errors.Join(err1, err2) == nil && open == json.Delim('{') && (key == "checks" || key == "stats")
}

// harnessInput is a decoded file of the harness; the checks keep their order.
type harnessInput struct {
	Checks harnessLabeled
	Stats  []map[string]json.RawMessage
}

type harnessLabeled []harnessCheck

// UnmarshalJSON reads an object from label to value.
func (c *harnessLabeled) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("checks: expected an object")
	}
	*c = harnessLabeled{}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		label, raw := fmt.Sprint(t), json.RawMessage{} // a key is a string
		if err := d.Decode(&raw); err != nil {
			return err
		}
		switch {
		case seen[label]:
			return fmt.Errorf("check %q appears twice", safe.Line(label, 60))
		case raw[0] == '{' || raw[0] == '[':
			return fmt.Errorf("check %q: expected a string, a number, true, false or null", safe.Line(label, 60))
		}
		seen[label] = true
		*c = append(*c, harnessCheck{label, raw})
	}
	return nil
}

// readHarness reads a file of the harness as a trial.
func readHarness(f source) (trial bench.TrialResult, err error) {
	if len(f.data) > maxHarness {
		return trial, fmt.Errorf("%d bytes: at most %d are read", len(f.data), maxHarness)
	}
	var in harnessInput
	if err := decode(f.data, &in); err != nil {
		return trial, err
	}
	if in.Checks == nil {
		return trial, errors.New(`"checks" is missing`)
	}
	for _, c := range in.Checks {
		trial.Checks = append(trial.Checks, harnessResult(c))
	}
	harnessTrial(&trial)
	if len(in.Stats) < 2 || len(in.Stats) > maxEntries {
		return trial, fmt.Errorf("%d stats: expected the readings %q and %q, and at most %d entries",
			len(in.Stats), messageStartUp, messageChecks, maxEntries)
	}
	var before *bench.Usage
	var spent time.Duration // CPU time so far
	for i, raw := range in.Stats {
		n, err := harnessNumbers(raw)
		if err != nil {
			return trial, fmt.Errorf("stats[%d]%w", i, err)
		}
		usage := harnessUsage(n)
		_, connected := n["connections"]
		switch {
		case usage != nil && usage.CPU < spent:
			return trial, fmt.Errorf("stats[%d].cpu_total_s: less than in the previous entry", i)
		case i >= 2:
			trial.Steps = append(trial.Steps, harnessStep(n, before, usage))
		case connected:
			return trial, fmt.Errorf("stats[%d].connections: not allowed in the first two entries", i)
		case usage != nil:
			trial.Marks = append(trial.Marks, bench.Mark{Name: []string{markStartUp, markChecks}[i], Usage: *usage})
		}
		if before = usage; usage != nil {
			spent = usage.CPU
		}
	}
	warmUps(trial.Steps)
	return trial, nil
}

// decode reads one JSON value into v and rejects unknown keys.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	offset := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = wrong.Offset
	} else if err == nil {
		if _, after := d.Token(); !errors.Is(after, io.EOF) {
			err, offset = errors.New("unexpected data after the end"), d.InputOffset()
		}
	}
	switch {
	case err == nil:
		return nil
	case offset < 0:
		return errors.New(safe.Line(err.Error(), 300))
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte{'\n'})
	return fmt.Errorf("line %d: %s", line, safe.Line(err.Error(), 300))
}

// harnessNumbers returns the numbers of one entry of stats by key. Errors begin with the key.
func harnessNumbers(raw map[string]json.RawMessage) (map[string]float64, error) {
	for key := range raw {
		if !slices.Contains(harnessKeys(), key) {
			return nil, fmt.Errorf(": unknown key %q", safe.Line(key, 60))
		}
	}
	out := map[string]float64{}
	for _, key := range harnessKeys()[1:] { // after the message
		most, whole := 1e9, key == "connections"
		if strings.HasPrefix(key, "request") {
			most, whole = 1e15, key != "requests_per_s"
		}
		var x *float64
		if raw[key] != nil && json.Unmarshal(raw[key], &x) != nil ||
			x != nil && (*x < 0 || *x > most || whole && *x != math.Trunc(*x)) {
			kind := map[bool]string{false: "number", true: "whole number"}[whole]
			got := safe.Line(string(raw[key]), 40)
			return nil, fmt.Errorf(".%s: %s is not a %s between 0 and %g, or null", key, got, kind, most)
		}
		if x != nil {
			out[key] = *x
		}
	}
	return out, nil
}

// warmUps marks the first steps with one connection, the warm-up of the published procedure.
func warmUps(steps []bench.StepResult) {
	for i := range steps {
		next := i+1 < len(steps) && steps[i+1].Step.Connections == 1
		if steps[i].Step.Connections != 1 || !next && i == 0 {
			return
		}
		steps[i].Step.WarmUp = true
	}
}

func harnessResult(c harnessCheck) bench.CheckResult {
	r := bench.CheckResult{Group: groupHarness, Name: c.label, Status: bench.CheckInfo, Value: textOf(c.value)}
	switch {
	case strings.HasPrefix(r.Value, "Good"):
		r.Status = bench.CheckPassed
	case strings.HasPrefix(r.Value, "Bad"):
		r.Status, r.Detail = bench.CheckFailed, safe.Line(r.Value, 500)
	case strings.HasPrefix(r.Value, "Skipped"):
		r.Status = bench.CheckSkipped
	}
	return r
}

// harnessTrial sets start-up, image size and stop from the checks that hold them.
func harnessTrial(trial *bench.TrialResult) {
	const most = 1e6 // seconds or MiB
	for _, c := range trial.Checks {
		x, err := strconv.ParseFloat(c.Value, 64)
		isNumber := err == nil && x >= 0 && x < most
		switch {
		case c.Name == labelStartUp && isNumber:
			trial.StartUp = new(nanoseconds(x * 1e9))
		case c.Name == labelImage && isNumber:
			trial.Artifact.ImageSize = int64(math.Round(x * (1 << 20)))
		case c.Name == labelStops:
			m := stopPattern.FindStringSubmatch(c.Value)
			if m == nil {
				continue
			}
			if s, err := strconv.ParseFloat(m[2], 64); err == nil && s < most {
				graceful := m[1] == "Good, exited in "
				trial.Stop = &bench.StopResult{Took: nanoseconds(s * 1e9), Graceful: graceful, Killed: !graceful}
			}
		}
	}
}

var stopPattern = regexp.MustCompile(`^(Good, exited in |Bad, did not stop in )([0-9]+(?:\.[0-9]+)?)s$`)

func nanoseconds(x float64) time.Duration { return time.Duration(math.Round(x)) }

// harnessUsage returns the readings of an entry; nil if it has no CPU time.
func harnessUsage(n map[string]float64) *bench.Usage {
	cpu, ok := n["cpu_total_s"]
	if !ok {
		return nil
	}
	u := &bench.Usage{Source: "docker stats", CPU: nanoseconds(cpu * 1e9)}
	used, hasUsed := n["mem_usage_mb"]
	peak, hasPeak := n["mem_max_mb"]
	if hasUsed && hasPeak {
		mib := func(x float64) int64 { return int64(math.Round(x * (1 << 20))) }
		u.Memory = &bench.Memory{Used: mib(used), Peak: mib(peak), PeakSource: "max_usage"}
	}
	return u
}

func harnessStep(n map[string]float64, before, after *bench.Usage) bench.StepResult {
	s := bench.StepResult{Before: before, After: after}
	s.Step.Connections = int(n["connections"])
	s.Step.Name = conns(s.Step.Connections)
	l := &s.Load
	l.Succeeded = int64(n["requests_new"])
	errors := int64(n["request_errors_new"])
	if errors > 0 {
		l.Failed = map[bench.ErrorKind]int64{bench.ErrOther: errors}
	}
	l.Sent = l.Succeeded + errors
	l.Scheduled = l.Sent
	l.Elapsed = elapsedOf(l.Succeeded, n["requests_per_s"])
	s.Step.Duration = l.Elapsed.Round(time.Second)
	if l.Succeeded > 0 {
		ms := func(key string) time.Duration { return nanoseconds(n[key] * 1e6) }
		l.Latency = bench.Latencies{
			Count: l.Succeeded, P50: ms("latency_50p_ms"), P90: ms("latency_90p_ms"), P99: ms("latency_99p_ms"),
		}
	}
	return s
}

// conns returns the name of a step with n connections; 0 means unknown.
func conns(n int) string {
	switch n {
	case 0:
		return "load"
	case 1:
		return "1 connection"
	}
	return strconv.Itoa(n) + " connections"
}
