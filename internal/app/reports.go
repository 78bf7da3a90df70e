package app

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"locbench/internal/analysis"
	"locbench/internal/report"
	"locbench/internal/results"
)

// WriteReports writes the HTML report and the Markdown summary of dir and returns the paths of
// both. With html the former goes there, and no summary is written.
func WriteReports(dir, html string, a *analysis.Run) (written []string, err error) {
	dir = results.Folder(dir)
	var page, summary bytes.Buffer
	opts := report.Options{Folder: dir, Floor: FindFloor(a.Run, a.Run, dir)}
	path := html
	if path == "" {
		path = filepath.Join(dir, results.ReportFile)
		if err := report.Markdown(&summary, a, opts); err != nil {
			return nil, fmt.Errorf("write summary: %w", err)
		}
		file := filepath.Join(dir, results.SummaryFile)
		if err := results.WriteFile(file, summary.Bytes()); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	if err := report.HTML(&page, a, opts); err != nil {
		return written, fmt.Errorf("write report: %w", err)
	}
	if err := results.WriteFile(path, page.Bytes()); err != nil {
		return written, err
	}
	return append(written, path), nil
}

// RewriteReports makes the reports of the results in dir.
func RewriteReports(dir string) ([]string, error) {
	run, legs, err := results.Read(dir)
	if err != nil && len(legs) == 0 {
		return nil, err
	}
	files, reportErr := WriteReports(dir, "", analysis.Of(run, legs))
	return files, errors.Join(err, reportErr)
}
