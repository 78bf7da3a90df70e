// Package export carries results to other tools' formats: vegeta, HdrHistogram, Go's benchmark
// format, Prometheus, CSV, flat JSON and the files of the harness that the published comparison was
// made with; those of vegeta and of the harness also come in.
//
// It is pure: values in, bytes out, and bytes in, values out. Files and folders are left to
// internal/cli. What a format cannot hold is left out, never made up; what is worked out from
// histograms instead of from single requests is said to be so (Format.Note). What is read is
// hostile: readers are bounded and strict, and their errors say where. docs/formats.md explains
// each format.
package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
)

// Format is one of the formats that results can be written in.
type Format struct {
	Name  string // as --format takes it
	Title string // what it is for, in a few words
	Note  string // what is reconstructed or missing; "" where nothing is
	Many  bool   // a file for each trial or each step of a trial: it needs a folder
	bytes bool   // it is not text
	files filesOf
}

type filesOf func(bench.Run, []bench.TrialResult, Options) ([]File, error)

// Options bound and narrow an export. The zero value takes everything.
type Options struct {
	Trial       string // only this trial, as in "rs-actix-1"; "": all
	Step        *int   // only the step with this index (from 0); nil: all
	MaxRequests int64  // that a reconstruction of single requests writes at most; 0: DefaultMaxRequests
}

// DefaultMaxRequests bounds what the vegeta formats write unasked: about 300 MB of JSON.
const DefaultMaxRequests = 1_000_000

// File is one file of an export.
type File struct {
	Name  string // a plain name, safe in every file system
	Write func(io.Writer) error
}

const reconstructed = "single requests are reconstructed from histograms and one-second windows: " +
	"counts, quantiles (0.1%), bytes and throughput are right, the order of the requests within a window is not"

// Formats returns all formats, in the order in which they are reported.
func Formats() []Format {
	return []Format{
		{Name: "csv", Title: "one row for each trial and step", files: single("results.csv", writeCSV)},
		{Name: "json", Title: "the same rows as a list of flat objects", files: single("results.flat.json", writeJSON)},
		{Name: "gobench", Title: "Go's benchmark format, for benchstat", files: single("results.bench.txt", writeGoBench)},
		{Name: "prometheus", Title: "the figures of each step in Prometheus' text format",
			files: single("results.prom", writePrometheus)},
		{Name: "hgrm", Title: "percentile distribution of each step, for HdrHistogram's plotter",
			Many: true, files: perStep(".hgrm", hgrmOf)},
		{Name: "hlog", Title: "HdrHistogram log of each trial",
			Note: "one interval for each step: windows keep quantiles, not histograms", Many: true, files: hlogFiles},
		{Name: "vegeta", Title: "vegeta's binary results, a file for each step", Note: reconstructed,
			Many: true, bytes: true, files: vegetaFiles(".vegeta.bin", vegeta.NewEncoder)},
		{Name: "vegeta-json", Title: "vegeta's results as JSON lines", Note: reconstructed,
			Many: true, files: vegetaFiles(".vegeta.json", vegeta.NewJSONEncoder)},
		{Name: "vegeta-csv", Title: "vegeta's results as CSV", Note: reconstructed,
			Many: true, files: vegetaFiles(".vegeta.csv", csvEncoder)},
		{Name: "harness", Title: "the harness of the published comparison: <name>-<n>.checks.bench.json",
			Many: true, files: harnessFiles},
	}
}

// FormatNames returns the names of all formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q; known are %s", safe.Line(name, 40), strings.Join(FormatNames(), ", "))
}

// Files returns the files of an export. Nothing is written before File.Write is called; a mistake in
// the options is reported here.
func (f Format) Files(run bench.Run, trials []bench.TrialResult, opt Options) ([]File, error) {
	trials, err := opt.narrow(trials)
	if err != nil {
		return nil, err
	}
	files, err := f.files(run, trials, opt)
	if err != nil {
		return nil, fmt.Errorf("export as %s: %w", f.Name, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("export as %s: there is no finished step in these results", f.Name)
	}
	for i, file := range files {
		files[i].Write = func(w io.Writer) error {
			switch {
			case f.bytes:
			case strings.HasSuffix(file.Name, ".json"):
				w = safe.JSONWriter(w)
			default:
				w = safe.NewWriter(w, nil)
			}
			return file.Write(w)
		}
	}
	return files, nil
}

func (o Options) narrow(trials []bench.TrialResult) ([]bench.TrialResult, error) {
	var out []bench.TrialResult
	found := o.Step == nil
	for _, trial := range trials {
		if o.Trial != "" && o.Trial != trial.Trial.String() {
			continue
		}
		if o.Step != nil {
			trial.Steps = slices.DeleteFunc(slices.Clone(trial.Steps), func(s bench.StepResult) bool { return s.Index != *o.Step })
			found = found || len(trial.Steps) > 0
		}
		out = append(out, trial)
	}
	switch {
	case len(out) == 0 && o.Trial != "":
		return nil, fmt.Errorf("no trial is called %q", safe.Line(o.Trial, 80))
	case len(out) == 0:
		return nil, errors.New("these results hold no trial")
	case !found:
		return nil, fmt.Errorf("no trial has a step %d (they count from 1)", *o.Step+1)
	}
	return out, nil
}

func single(name string, write func(io.Writer, bench.Run, []bench.TrialResult) error) filesOf {
	return func(run bench.Run, trials []bench.TrialResult, _ Options) ([]File, error) {
		return []File{{name, func(w io.Writer) error { return write(w, run, trials) }}}, nil
	}
}

// writerOf is what writes the file of a step; nil: it has none.
type writerOf func(bench.Run, bench.TrialResult, bench.StepResult) (func(io.Writer) error, error)

// perStep makes a file of each step: "rs-actix-1.03-64-connections.hgrm".
func perStep(suffix string, of writerOf) filesOf {
	return func(run bench.Run, trials []bench.TrialResult, _ Options) (files []File, err error) {
		for _, trial := range trials {
			for _, s := range trial.Steps {
				write, err := of(run, trial, s)
				if err != nil {
					return nil, fmt.Errorf("trial %s, step %d: %w", trial.Trial, s.Index+1, err)
				}
				name := fmt.Sprintf("%s.%02d-%s%s", fileName(trial.Trial.String()), s.Index+1, fileName(s.Step.Name), suffix)
				if write != nil {
					files = append(files, File{name, write})
				}
			}
		}
		return files, nil
	}
}

// fileName keeps what is plain in s; it is never empty, hidden or longer than 80 bytes.
func fileName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !plainIn(r, ".-_") {
			r = '-'
		}
		b.WriteRune(r)
		if b.Len() == 80 {
			break
		}
	}
	return cmp.Or(strings.TrimLeft(b.String(), "."), "unnamed")
}

// plainIn reports letters and digits of ASCII, and of the characters that are named.
func plainIn(r rune, more string) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(more, r)
}

// number prints x exactly, in the shortest form.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
