package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
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
