// Package export writes results in other formats: vegeta, HdrHistogram, CSV and flat JSON.
//
// It converts values to bytes; package cli opens files. It leaves out what a format cannot hold.
// docs/formats.md describes the formats.
package export

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Format is a format in which results can be written.
type Format struct {
	Name  string // value of --format
	Title string // purpose in a few words
	Note  string // what is missing; "" for nothing
	Many  bool   // it has a file for each trial or step, so it needs a folder
	files filesOf
	none  string // why results may have no file; "": they have no step
}

type filesOf func(bench.Run, []bench.TrialResult) []File

// File is one file of an export.
type File struct {
	Name  string // a plain name, safe in every file system
	Write func(io.Writer) error
}

// Formats returns all formats, in the order in which they are reported.
func Formats() []Format {
	return []Format{
		{Name: "csv", Title: "one row per trial and step", files: single("results.csv", writeCSV)},
		{Name: "json", Title: "the same rows as a list of flat objects", files: single("results.flat.json", writeJSON)},
		{Name: "hgrm", Title: "percentile distribution of each step, for HdrHistogram's plotter",
			Many: true, files: hgrmFiles},
		{Name: "hlog", Title: "HdrHistogram log of each trial",
			Note: "one interval per step: windows have quantiles, no histograms", Many: true,
			files: perTrial(".hlog", writeHLog)},
		{Name: "vegeta", Title: "vegeta's binary results, one file per step", Many: true, files: vegetaFiles,
			Note: "only requests that were kept one by one: those of steps with keep_requests, and first_requests",
			none: "no single requests were kept: add `keep_requests: 1000` to a step of the profile, " +
				"such as {connections: 64, keep_requests: 1000}, or `first_requests: {requests: 10}`, and run it again"},
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
	return Format{}, fmt.Errorf("unknown format %q; expected one of %s", safe.Line(name, 40),
		strings.Join(FormatNames(), ", "))
}

// Files returns the files of an export. File.Write writes a file.
func (f Format) Files(run bench.Run, trials []bench.TrialResult) ([]File, error) {
	files := f.files(run, trials)
	if len(files) == 0 {
		return nil, fmt.Errorf("export as %s: %s", f.Name, cmp.Or(f.none, "these results have no finished step"))
	}
	for i, file := range files {
		files[i].Write = func(w io.Writer) error {
			switch {
			case strings.HasSuffix(file.Name, ".bin"):
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

func single(name string, write func(io.Writer, bench.Run, []bench.TrialResult) error) filesOf {
	return func(run bench.Run, trials []bench.TrialResult) []File {
		return []File{{name, func(w io.Writer) error { return write(w, run, trials) }}}
	}
}

// perTrial makes a file for each trial with a step: "rs-actix-1.hlog".
func perTrial(suffix string, write func(io.Writer, bench.TrialResult) error) filesOf {
	return func(_ bench.Run, trials []bench.TrialResult) (files []File) {
		for _, trial := range trials {
			if len(trial.Steps) > 0 {
				files = append(files, File{fileName(trial.Trial.String()) + suffix,
					func(w io.Writer) error { return write(w, trial) }})
			}
		}
		return files
	}
}

// stepFile is the name of a step's file without its ending: "rs-actix-1.03-64-connections".
func stepFile(trial bench.TrialResult, s bench.StepResult) string {
	return fmt.Sprintf("%s.%02d-%s", fileName(trial.Trial.String()), s.Index+1, fileName(s.Step.Name))
}

// fileName returns s as a plain file name, which is never empty, hidden or longer than 80 bytes.
func fileName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !plain(r) {
			r = '-'
		}
		b.WriteRune(r)
		if b.Len() == 80 {
			break
		}
	}
	return cmp.Or(strings.TrimLeft(b.String(), "."), "unnamed")
}

// plain reports whether r is an ASCII letter or digit, or one of .-_
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r)
}
