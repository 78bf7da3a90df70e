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

	"locbench/internal/bench"
	"locbench/internal/safe"
)

func isHarness(f Source) bool { return strings.HasSuffix(f.Name, harnessSuffix) }

// readHarness reads a file of the harness as a leg. Numbers that do not follow from the others are
// kept as information of the group harness-stats: nothing is lost.
func readHarness(f Source) (bench.LegResult, error) {
	file, err := parseHarness(f.Data)
	if err != nil {
		return bench.LegResult{}, err
	}
	leg, err := fromHarness(file)
	if err != nil {
		return leg, err
	}
	for i, s := range toHarness(leg).Stats {
		for k, key := range harnessKeys() {
			if got := file.Stats[i][k]; !bytes.Equal(normal(s[k]), normal(got)) {
				value := ""
				if got != nil {
					value = textOf(got)
				}
				leg.Checks = append(leg.Checks, bench.CheckResult{Group: groupStats, Name: statName(i, key), Status: bench.CheckInfo, Value: value})
			}
		}
	}
	return leg, nil
}

// normal writes numbers that are the same in the same way.
func normal(raw json.RawMessage) []byte {
	var x float64
	if json.Unmarshal(raw, &x) == nil && !bytes.Equal(raw, null) {
		return rawNumber(x)
	}
	return raw
}

func parseHarness(data []byte) (harnessFile, error) {
	var file harnessFile
	d := json.NewDecoder(bytes.NewReader(data))
	fail := func(err error) (harnessFile, error) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return harnessFile{}, fmt.Errorf("line %d: %w", lineOf(data, d.InputOffset()), err)
	}
	seen := map[string]bool{}
	err := object(d, func(key string) error {
		if seen[key] {
			return fmt.Errorf("key %q is there twice", safe.Line(key, 60))
		}
		seen[key] = true
		switch key {
		case "checks":
			return readChecks(d, &file)
		case "stats":
			return readStats(d, &file)
		}
		return fmt.Errorf("unknown key %q; there are checks and stats", safe.Line(key, 60))
	})
	if err != nil {
		return fail(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fail(errors.New("something follows the end"))
	}
	if !seen["checks"] || !seen["stats"] {
		return fail(errors.New("checks and stats have to be there"))
	}
	return file, nil
}

// object calls each with every key of the object that comes next; it has to take the value.
func object(d *json.Decoder, each func(key string) error) error {
	if err := delim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return errors.New("a key is no text")
		}
		if err := each(key); err != nil {
			return err
		}
	}
	return delim(d, '}')
}

func delim(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("%q was expected", want.String())
	}
	return nil
}

func readChecks(d *json.Decoder, file *harnessFile) error {
	seen := map[string]bool{}
	return object(d, func(label string) error {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		switch {
		case seen[label]:
			return fmt.Errorf("check %q is there twice", safe.Line(label, 60))
		case len(seen) == maxEntries:
			return fmt.Errorf("more than %d checks", maxEntries)
		case raw[0] == '{' || raw[0] == '[':
			return fmt.Errorf("check %q: a text, a number, true, false or null was expected", safe.Line(label, 60))
		}
		seen[label] = true
		file.Checks = append(file.Checks, harnessCheck{label, raw})
		return nil
	})
}

func readStats(d *json.Decoder, file *harnessFile) error {
	if err := delim(d, '['); err != nil {
		return err
	}
	keys := harnessKeys()
	for d.More() {
		if len(file.Stats) == maxEntries {
			return fmt.Errorf("more than %d stats", maxEntries)
		}
		s := make(harnessStat, len(keys))
		err := object(d, func(key string) error {
			k := slices.Index(keys, key)
			if k < 0 || s[k] != nil {
				return fmt.Errorf("stats[%d]: key %q is unknown, or there twice", len(file.Stats), safe.Line(key, 60))
			}
			if err := d.Decode(&s[k]); err != nil {
				return err
			}
			if c := s[k][0]; k == 0 && c != '"' || k > 0 && c != '-' && c != 'n' && (c < '0' || c > '9') {
				return fmt.Errorf("stats[%d].%s: a number or null was expected (a text for message)", len(file.Stats), key)
			}
			return nil
		})
		if err != nil {
			return err
		}
		file.Stats = append(file.Stats, s)
	}
	return delim(d, ']')
}

func fromHarness(file harnessFile) (bench.LegResult, error) {
	var leg bench.LegResult
	for _, c := range file.Checks {
		leg.Checks = append(leg.Checks, harnessResult(c))
	}
	harnessLife(&leg)
	if len(file.Stats) < 2 {
		return leg, fmt.Errorf("%d stats: the readings %q and %q have to be there", len(file.Stats), messageStartUp, messageChecks)
	}
	var before *bench.Usage
	for i, s := range file.Stats {
		n := numbers{stat: s, at: i}
		usage := n.usage()
		if i < 2 {
			if !bytes.Equal(s[9], null) && s[9] != nil {
				return leg, fmt.Errorf("stats[%d]: the first two entries have no connections", i)
			}
			if usage != nil {
				leg.Marks = append(leg.Marks, bench.Mark{Name: []string{markStartUp, markChecks}[i], Usage: *usage})
			}
		} else {
			leg.Steps = append(leg.Steps, n.step(i-2, before, usage))
		}
		if n.err != nil {
			return leg, n.err
		}
		before = usage
	}
	warmUps(leg.Steps)
	return leg, nil
}

// warmUps marks the first steps of one connection: the published procedure warms up so.
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

// harnessLife takes start-up, image size and the end from the checks that tell them.
func harnessLife(leg *bench.LegResult) {
	for _, c := range leg.Checks {
		x, err := strconv.ParseFloat(c.Value, 64)
		isNumber := err == nil && x >= 0 && x < 1e9
		switch {
		case c.Name == labelStartUp && isNumber:
			if d, err := fromNS(x * 1e9); err == nil {
				leg.StartUp = &d
			}
		case c.Name == labelImage && isNumber:
			leg.Artifact.ImageSize = int64(math.Round(x * (1 << 20)))
		case c.Name == labelStops:
			m := stopPattern.FindStringSubmatch(c.Value)
			if m == nil {
				continue
			}
			if took, err := unitDuration(m[2]); err == nil {
				leg.Stop = &bench.StopResult{Took: took, Graceful: m[1] == "Good, exited in ", Killed: m[1] != "Good, exited in "}
			}
		}
	}
}

var stopPattern = regexp.MustCompile(`^(Good, exited in |Bad, did not stop in )([0-9.]+s)$`)

// numbers reads the numbers of one entry; the first mistake stays.
type numbers struct {
	stat harnessStat
	at   int
	err  error
}

// of is a number of the entry; ok is false where it is null or not there.
func (n *numbers) of(k int, most float64) (x float64, ok bool) {
	raw := n.stat[k]
	if n.err != nil || raw == nil || bytes.Equal(raw, null) {
		return 0, false
	}
	if err := json.Unmarshal(raw, &x); err != nil || x < 0 || x > most {
		n.err = fmt.Errorf("%s: %s is not between 0 and %g", statName(n.at, harnessKeys()[k]), safe.Line(string(raw), 40), most)
		return 0, false
	}
	return x, true
}

func (n *numbers) count(k int) int64 {
	x, _ := n.of(k, 1e15)
	if n.err == nil && x != math.Trunc(x) {
		n.err = fmt.Errorf("%s: %v is no whole number", statName(n.at, harnessKeys()[k]), x)
	}
	return int64(x)
}

func (n *numbers) usage() *bench.Usage {
	cpu, ok := n.of(1, 1e9)
	if !ok {
		return nil
	}
	u := &bench.Usage{Source: "docker stats", CPU: time.Duration(math.Round(cpu * 1e9))}
	used, hasUsed := n.of(3, 1e9)
	peak, hasPeak := n.of(4, 1e9)
	if hasUsed && hasPeak {
		u.Memory = &bench.Memory{Used: int64(math.Round(used * (1 << 20))), Peak: int64(math.Round(peak * (1 << 20))), PeakSource: "max_usage"}
	}
	return u
}

func (n *numbers) step(index int, before, after *bench.Usage) bench.StepResult {
	s := bench.StepResult{Index: index, Before: before, After: after}
	s.Step.Connections = int(min(n.count(9), 1e9))
	s.Step.Name = conns(s.Step.Connections)
	l := &s.Load
	l.Succeeded = n.count(6)
	errors := n.count(8)
	if errors > 0 {
		l.Failed = map[bench.ErrorKind]int64{bench.ErrOther: errors}
	}
	l.Sent = l.Succeeded + errors
	l.Scheduled = l.Sent
	rate, _ := n.of(13, 1e12)
	l.Elapsed = elapsedOf(l.Succeeded, rate)
	s.Step.Duration = l.Elapsed.Round(time.Second)
	quantile := func(k int) time.Duration {
		ms, _ := n.of(k, 1e9)
		return time.Duration(math.Round(ms * 1e6))
	}
	if l.Succeeded > 0 {
		l.Latency = bench.Latencies{Count: l.Succeeded, P50: quantile(10), P90: quantile(11), P99: quantile(12)}
	}
	return s
}
