package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/show/report"
	"github.com/locbench/locbench/internal/text/safe"
)

// ReportOptions returns what reports of the results in dir need to know next to them.
func ReportOptions(dir string, run bench.Run) (opts report.Options, err error) {
	dir = results.Folder(dir)
	opts = report.Options{Folder: dir, Floor: FindFloor(run, run, dir)}
	if results.Has(dir, capacity.File) {
		opts.Search, err = ReadSearch(dir)
	}
	return opts, err
}

// WriteReports writes the HTML report and the Markdown summary of dir and returns their paths. With
// html it writes only the report, to that file.
func WriteReports(dir, html string, a *analysis.Run) (written []string, err error) {
	opts, err := ReportOptions(dir, a.Run)
	if err != nil {
		return nil, err
	}
	var page, summary bytes.Buffer
	path := html
	if path == "" {
		path = filepath.Join(opts.Folder, results.ReportFile)
		if err := report.Markdown(&summary, a, opts); err != nil {
			return nil, fmt.Errorf("write summary: %w", err)
		}
		file := filepath.Join(opts.Folder, results.SummaryFile)
		if err := safe.WriteFile(file, summary.Bytes()); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	if err := report.HTML(&page, a, opts); err != nil {
		return written, fmt.Errorf("write report: %w", err)
	}
	if err := safe.WriteFile(path, page.Bytes()); err != nil {
		return written, err
	}
	return append(written, path), nil
}

// RewriteReports writes the reports of the results in dir, the folder of a run, again.
func RewriteReports(dir string) ([]string, error) {
	run, trials, err := results.Read(dir)
	if err != nil && len(trials) == 0 {
		return nil, err
	}
	files, reportErr := WriteReports(dir, "", analysis.Of(run, trials))
	return files, errors.Join(err, reportErr)
}

// FloorFile is the file in a results folder in which 'locbench calibrate' saves the noise floor.
const FloorFile = "floor.json"

const (
	maxFloorBytes   = 1 << 20
	maxFloorFolders = 2000 // searched for a noise floor
)

// WriteFloor saves the noise floor in the results folder dir.
func WriteFloor(dir string, f compare.Floor) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = safe.WriteFile(filepath.Join(dir, FloorFile), append(safe.JSON(data), '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the noise floor: %w", err)
	}
	return nil
}

// FindFloor returns the newest noise floor that fits both runs, from dirs and the folders next to
// them; nil if there is none. It skips unreadable files.
func FindFloor(before, after bench.Run, dirs ...string) (newest *compare.Floor) {
	seen := map[string]bool{}
	look := func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		f, err := ReadFloor(filepath.Join(dir, FloorFile))
		if err == nil && f.Fits(before) && f.Fits(after) && (newest == nil || f.Made.After(newest.Made)) {
			newest = &f
		}
	}
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		dir = results.Folder(dir)
		look(dir)
		parent, err := os.Open(filepath.Dir(dir))
		if err != nil {
			continue
		}
		entries, _ := parent.ReadDir(maxFloorFolders)
		parent.Close()
		for _, e := range entries {
			if e.IsDir() {
				look(filepath.Join(filepath.Dir(dir), e.Name()))
			}
		}
	}
	return newest
}

// ReadFloor reads a noise floor.
func ReadFloor(path string) (f compare.Floor, err error) {
	data, err := safe.ReadFile(path, maxFloorBytes)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(data, &f)
}

// ReadSearch returns the search for capacity in dir, concluded with the caveats of its runs.
func ReadSearch(dir string) (*report.Search, error) {
	record, err := readRecord(dir)
	if err != nil {
		return nil, err
	}
	var caveats []conclusion.Caveat
	for _, folder := range folders(dir, record) {
		run, trials, _ := results.Read(folder) // without results there are no caveats
		if len(record.Points) > 1 {
			for i := range trials {
				trials[i].Steps = nil // the report of each limit warns of its probes
			}
		}
		for _, c := range conclusion.Of(analysis.Of(run, trials), nil).Caveats {
			c.Listed = c.Listed && len(record.Points) == 1
			if !slices.Contains(caveats, c) {
				caveats = append(caveats, c)
			}
		}
	}
	return &report.Search{Record: record, Conclusion: record.Conclude(caveats)}, nil
}

func readRecord(dir string) (r capacity.Record, err error) {
	path := filepath.Join(dir, capacity.File)
	root, err := safe.OpenRoot(dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	f, err := safe.OpenIn(root, capacity.File)
	if err != nil {
		return r, err
	}
	defer f.Close()
	data, err := safe.ReadAll(f, path, 64<<20)
	if err != nil {
		return r, err
	}
	if err = json.Unmarshal(data, &r); err == nil {
		err = r.Valid()
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// folders returns the results folders of a record in dir, in the order of the record.
func folders(dir string, r capacity.Record) (all []string) {
	for _, p := range r.Points {
		if sub := filepath.Join(dir, p.Dir); !slices.Contains(all, sub) {
			all = append(all, sub)
		}
	}
	return all
}

// SearchesLimits reports whether dir is the folder of a search for capacity with several limits,
// which has a results folder per limit.
func SearchesLimits(dir string) bool {
	return results.Has(dir, capacity.File) && !results.Has(dir, results.RunFile)
}

// SearchRun returns a run without trials for the reports of a search with several limits; machine
// and profile are those of its first run.
func SearchRun(dir string) (*analysis.Run, error) {
	record, err := readRecord(dir)
	if err != nil {
		return nil, err
	}
	run := bench.Run{Command: record.Command, Started: record.Started}
	for _, folder := range folders(dir, record) {
		if first, _, err := results.Read(folder); err == nil {
			run.Machine, run.Software, run.Profile, run.Seed = first.Machine, first.Software, first.Profile, first.Seed
			break
		}
	}
	run.Profile.Limits, run.Profile.Steps = record.Common(), nil
	return analysis.Of(run, nil), nil
}

// WriteSearchReports writes the reports of a search with several limits, as WriteReports.
func WriteSearchReports(dir, html string) ([]string, error) {
	run, err := SearchRun(dir)
	if err != nil {
		return nil, err
	}
	return WriteReports(dir, html, run)
}

// RewriteSearchReports writes the reports of a search with several limits and of each of its runs.
func RewriteSearchReports(dir string) (written []string, err error) {
	record, err := readRecord(dir)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders(dir, record) {
		files, failure := RewriteReports(folder)
		written, err = append(written, files...), errors.Join(err, failure)
	}
	files, failure := WriteSearchReports(dir, "")
	return append(written, files...), errors.Join(err, failure)
}
