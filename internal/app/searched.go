package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/show/report"
	"github.com/locbench/locbench/internal/text/safe"
)

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
