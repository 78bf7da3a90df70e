package export

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// Bounds on what is read: a file may come from anywhere.
const (
	MaxFile     = 64 << 20 // bytes of one file
	maxFiles    = 10_000
	maxEntries  = 10_000    // steps of a leg, rows of a table
	maxRequests = 1_000_000 // requests or transactions of one file
	maxLine     = 4 << 20   // bytes
)

// Source is a file to be read.
type Source struct {
	Name string // its last element names the contender where the content does not
	Data []byte
}

type reader struct {
	name  string
	is    func(Source) bool                        // by its first bytes or its name
	parse func(Source) ([]bench.StepResult, error) // of one leg, in order
	leg   func(Source) (bench.LegResult, error)    // instead of parse, where the file tells more than steps
	lacks string                                   // what the format does not tell
}

func readers() []reader {
	return []reader{
		{name: "harness", is: isHarness, leg: readHarness, lacks: "throttling; latencies other than p50, p90 and p99; kinds of errors"},
		{name: "k6", is: isK6, parse: readK6, lacks: "CPU time and memory of the service; latencies other than the quantiles of the summary, in which failures count too"},
		{name: "oha", is: isOha, parse: readOha, lacks: "CPU time and memory of the service; single latencies"},
		{name: "gatling", is: isGatling, parse: readGatling, lacks: "CPU time and memory of the service; latencies are in whole milliseconds"},
		{name: "hlog", is: isHLog, parse: readHLog, lacks: "errors; CPU time and memory of the service; connections"},
		{name: "wrk", is: isWrk, parse: readWrk, lacks: "CPU time and memory of the service; latencies other than p50, p75, p90, p99 and the maximum, and those only with --latency"},
		{name: "hey", is: isHey, parse: readHey, lacks: "CPU time and memory of the service; connections; single latencies"},
		{name: "jmeter", is: isJMeter, parse: readJMeter, lacks: "CPU time and memory of the service; latencies are in whole milliseconds"},
		{name: "vegeta", is: isVegeta, parse: readVegeta, lacks: "CPU time and memory of the service; connections"},
		{name: "vegeta-json", is: isVegetaJSON, parse: readVegetaJSON, lacks: "CPU time and memory of the service; connections"},
		{name: "vegeta-csv", is: isVegetaCSV, parse: readVegetaCSV, lacks: "CPU time and memory of the service; connections"},
	}
}

// ImportNames are the names of all formats that are read.
func ImportNames() (names []string) {
	for _, r := range readers() {
		names = append(names, r.name)
	}
	return names
}

// Import reads files of other tools as one run: a leg for each file. from is the name of their
// format, or "" to find it out for each. The contender and the round are those of the file's name:
// "rs-actix-2.txt" is the second round of rs-actix. What a format does not tell stays unknown, and
// is named in the leg's warnings.
func Import(files []Source, from string, at time.Time) (bench.Run, []bench.LegResult, error) {
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: at.UTC().Format("20060102-150405") + "-imported", State: bench.RunComplete, Started: at, Ended: at,
		Profile: bench.Profile{Name: "imported", Title: "Imported from other tools", Runtime: bench.RuntimeURL},
	}
	if len(files) == 0 || len(files) > maxFiles {
		return run, nil, fmt.Errorf("import: %d files; 1 to %d are read at once", len(files), maxFiles)
	}
	var legs []bench.LegResult
	var failures []error
	seen := map[string]string{}
	for _, f := range files {
		leg, err := importOne(f, from)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", safe.Line(f.Name, 200), err))
			continue
		}
		name := strings.ToLower(leg.Leg.String())
		if other, ok := seen[name]; ok {
			failures = append(failures, fmt.Errorf("%s: leg %s is that of %s already: name files <contender>-<round>", safe.Line(f.Name, 200), leg.Leg, safe.Line(other, 200)))
			continue
		}
		seen[name] = f.Name
		legs = append(legs, leg)
	}
	if err := errors.Join(failures...); err != nil {
		return run, nil, err
	}
	for _, leg := range legs {
		run.Legs = append(run.Legs, bench.LegEntry{Leg: leg.Leg, State: leg.State, File: leg.Leg.String() + ".json"})
		run.Profile.Rounds = max(run.Profile.Rounds, leg.Leg.Round)
		if who := (bench.Selection{Contender: leg.Leg.Contender}); !slices.Contains(run.Profile.Contenders, who) {
			run.Profile.Contenders = append(run.Profile.Contenders, who)
		}
		if len(leg.Steps) > len(run.Profile.Steps) {
			run.Profile.Steps = nil
			for _, s := range leg.Steps {
				run.Profile.Steps = append(run.Profile.Steps, s.Step)
			}
		}
	}
	run.Warnings = bench.Findings{{Kind: bench.FoundForeign, Text: "imported: nothing here was measured by locbench, and neither the machine nor the limits are known"}}
	return run, legs, nil
}

func importOne(f Source, from string) (bench.LegResult, error) {
	if len(f.Data) > MaxFile {
		return bench.LegResult{}, fmt.Errorf("larger than %d MiB, which is not read", MaxFile>>20)
	}
	r, err := readerOf(f, from)
	if err != nil {
		return bench.LegResult{}, err
	}
	var leg bench.LegResult
	if r.leg != nil {
		leg, err = r.leg(f)
	} else {
		leg.Steps, err = r.parse(f)
	}
	if err != nil {
		return bench.LegResult{}, fmt.Errorf("read as %s: %w", r.name, err)
	}
	if len(leg.Steps) == 0 {
		return bench.LegResult{}, fmt.Errorf("read as %s: it holds no result", r.name)
	}
	contender, round := legName(f.Name)
	leg.Schema, leg.State = bench.SchemaVersion, bench.LegComplete
	leg.Leg = bench.Leg{Contender: contender, Round: round}
	leg.Service = bench.Service{Name: contender, Title: contender + " (imported from " + r.name + ")", Tags: []string{"imported"}}
	leg.Started = leg.Steps[0].Load.Started
	leg.Warnings = append(leg.Warnings, bench.Finding{Kind: bench.FoundForeign, Text: "imported from " + r.name + ", which does not tell: " + r.lacks})
	for i := range leg.Steps {
		leg.Steps[i].Index = i
		leg.Steps[i].Load.Definition = bench.Foreign
	}
	return leg, nil
}

func readerOf(f Source, from string) (reader, error) {
	for _, r := range readers() {
		if r.name == from || from == "" && r.is(f) {
			return r, nil
		}
	}
	known := strings.Join(ImportNames(), ", ")
	if from != "" {
		return reader{}, fmt.Errorf("unknown format %q; read are %s", safe.Line(from, 40), known)
	}
	return reader{}, fmt.Errorf("of no known format; name it by --from (%s)", known)
}

// legName takes the contender and the round from a file's name.
func legName(name string) (contender string, round int) {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	stem := strings.TrimSuffix(base, harnessSuffix)
	if stem == base {
		stem = strings.TrimSuffix(base, path.Ext(base))
	}
	round = 1
	if i := strings.LastIndexByte(stem, '-'); i > 0 {
		if n, err := strconv.Atoi(stem[i+1:]); err == nil && n >= 1 && n <= 1_000_000 && strconv.Itoa(n) == stem[i+1:] {
			stem, round = stem[:i], n
		}
	}
	return strings.ToLower(fileName(stem)), round
}

// lineOf is the line of a byte, from 1.
func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte{'\n'})
}

// head is the beginning of a file, for guessing.
func head(f Source) []byte { return f.Data[:min(len(f.Data), 4096)] }

func firstLine(f Source) []byte {
	line, _, _ := bytes.Cut(head(f), []byte("\n"))
	return line
}

// holds tells whether all the words are in a text.
func holds(data []byte, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !bytes.Contains(data, []byte(w)) })
}

func one(s bench.StepResult, err error) ([]bench.StepResult, error) {
	return []bench.StepResult{s}, err
}

// unitDuration reads "1.23ms", "142.80us", "2m" and the like.
func unitDuration(s string) (time.Duration, error) {
	m := durationPattern.FindStringSubmatch(s)
	if m == nil {
		m = make([]string, 3)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration", safe.Line(s, 40))
	}
	unit := map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "secs": 1e9, "m": 60e9, "h": 3600e9}[m[2]]
	return fromNS(v * unit)
}

var durationPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?(ns|us|µs|ms|s|secs|m|h)$`)

// fromNS turns nanoseconds into a duration within the bounds of a step.
func fromNS(ns float64) (time.Duration, error) {
	if !(ns >= 0 && ns <= float64(maxElapsed)) {
		return 0, fmt.Errorf("%v ns is no time of a step", ns)
	}
	return time.Duration(ns + 0.5), nil
}

// conns names a step by its connections; 0: they are not known.
func conns(n int) string {
	switch n {
	case 0:
		return "load"
	case 1:
		return "1 connection"
	}
	return strconv.Itoa(n) + " connections"
}
