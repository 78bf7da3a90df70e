package export

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Limits of what is read: a file may come from anywhere.
const (
	MaxFile     = 64 << 20 // bytes of one file
	maxFiles    = 10_000
	maxEntries  = 10_000    // steps of a trial, windows of a step
	maxRequests = 1_000_000 // requests in one file
)

// source is a file to read.
type source struct {
	name string // its last element has the contender and the round
	data []byte
}

// reader reads one format.
type reader struct {
	name  string
	is    func(source) bool
	read  func(source) (bench.TrialResult, error) // returns the steps in their order, and other results of the trial
	lacks string                                  // results that the format does not have
}

func readers() []reader {
	return []reader{
		{"harness", isHarness, readHarness, "throttling; latencies other than p50, p90 and p99; kinds of errors"},
		{"vegeta", isVegeta, readVegeta, "CPU time and memory of the service; connections"},
	}
}

// ImportNames returns the names of the formats that can be read.
func ImportNames() (names []string) {
	for _, r := range readers() {
		names = append(names, r.name)
	}
	return names
}

// Import reads files of other tools as one run with a trial per file. read returns the content of a
// file, which is dropped before the next one is read. from is the name of the format, or "" to
// detect it for each file. A file's name holds the contender and the round: "rs-actix-2.json" is
// the second round of rs-actix. What a format lacks is unknown; a warning of the trial says so. The
// error names every unreadable file, and why.
func Import(
	files []string, read func(name string) ([]byte, error), from string, at time.Time,
) (bench.Run, []bench.TrialResult, error) {
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: at.UTC().Format("20060102-150405") + "-imported",
		State: bench.RunComplete, Started: at, Ended: at,
		Profile: bench.Profile{Name: "imported", Title: "Imported from other tools", Runtime: bench.RuntimeURL},
	}
	if len(files) == 0 || len(files) > maxFiles {
		return run, nil, fmt.Errorf("import: %d files: expected 1 to %d", len(files), maxFiles)
	}
	var trials []bench.TrialResult
	var failures []error
	seen := map[string]string{}
	for _, name := range files {
		data, err := read(name)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		trial, err := importOne(source{name, data}, from)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", safe.Line(name, 200), err))
			continue
		}
		id := strings.ToLower(trial.Trial.String())
		if other, ok := seen[id]; ok {
			failures = append(failures, fmt.Errorf("%s: trial %s is also in %s: name files <contender>-<round>",
				safe.Line(name, 200), trial.Trial, safe.Line(other, 200)))
			continue
		}
		seen[id] = name
		trials = append(trials, trial)
	}
	if err := errors.Join(failures...); err != nil {
		return run, nil, err
	}
	for _, trial := range trials {
		entry := bench.TrialEntry{Trial: trial.Trial, State: trial.State, File: trial.Trial.String() + ".json"}
		run.Trials = append(run.Trials, entry)
		run.Profile.Rounds = max(run.Profile.Rounds, trial.Trial.Round)
		if who := (bench.Selection{Contender: trial.Trial.Contender}); !slices.Contains(run.Profile.Contenders, who) {
			run.Profile.Contenders = append(run.Profile.Contenders, who)
		}
		if len(trial.Steps) > len(run.Profile.Steps) {
			run.Profile.Steps = nil
			for _, s := range trial.Steps {
				run.Profile.Steps = append(run.Profile.Steps, s.Step)
			}
		}
	}
	run.Warnings = bench.Warnings{{Kind: bench.WarnOtherTool,
		Text: "imported: not measured by locbench; machine and limits are unknown"}}
	return run, trials, nil
}

func importOne(f source, from string) (bench.TrialResult, error) {
	r, err := readerOf(f, from)
	if err != nil {
		return bench.TrialResult{}, err
	}
	trial, err := r.read(f)
	if err == nil && len(trial.Steps) == 0 {
		err = errors.New("no results in it")
	}
	if err != nil {
		return bench.TrialResult{}, fmt.Errorf("read as %s: %w", r.name, err)
	}
	contender, round := trialName(f.name)
	trial.Schema, trial.State = bench.SchemaVersion, bench.TrialComplete
	trial.Trial = bench.Trial{Contender: contender, Round: round}
	trial.Service = bench.Service{
		Name: contender, Title: contender + " (imported from " + r.name + ")", Tags: []string{"imported"},
	}
	trial.Started = trial.Steps[0].Load.Started
	trial.Warnings = append(trial.Warnings, bench.Warning{Kind: bench.WarnOtherTool,
		Text: "imported from " + r.name + "; unknown: " + r.lacks})
	for i := range trial.Steps {
		trial.Steps[i].Index = i
		trial.Steps[i].Load.Definition = bench.OtherTool
	}
	return trial, nil
}

func readerOf(f source, from string) (reader, error) {
	for _, r := range readers() {
		if r.name == from || from == "" && r.is(f) {
			return r, nil
		}
	}
	if from != "" {
		return reader{}, fmt.Errorf("unknown format %q; expected one of %s", safe.Line(from, 40),
			strings.Join(ImportNames(), ", "))
	}
	return reader{}, errors.New("not an importable file: expected a file of the published comparison's harness " +
		"(<name>-<n>" + harnessSuffix + ") or results of vegeta (of vegeta attack, or of vegeta encode as JSON or CSV)")
}

// trialName returns the contender and the round in a file's name.
func trialName(name string) (contender string, round int) {
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
