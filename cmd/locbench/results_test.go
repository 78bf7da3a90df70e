//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/report"
	"github.com/locbench/locbench/internal/testenv"
)

// The published results can be read, and the tables of docs/published.md can be made from them.
func TestPublishedResults(t *testing.T) {
	for name, want := range map[string]struct {
		contenders int
		section    string
	}{
		"locations":    {4, "## Results"},
		"delay-matrix": {9, "## Throughput by request, 2,000 connections"},
		"cold-warm":    {2, "## First requests"},
		"burst":        {12, "## 4,000 users over 5.00 s"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "..", "testdata", "results", name)
			run, trials, err := results.Read(dir)
			if err != nil || len(trials) != want.contenders || run.Profile.Name != name || run.State == bench.RunRunning {
				t.Fatalf("%d trials of %s, %s, %v", len(trials), run.Profile.Name, run.State, err)
			}
			var md, html bytes.Buffer
			testenv.OK(t, report.Markdown(&md, analysis.Of(run, trials), report.Options{}))
			testenv.OK(t, report.HTML(&html, analysis.Of(run, trials), report.Options{}))
			if !strings.Contains(md.String(), want.section) {
				t.Errorf("no %q in\n%s", want.section, md.String())
			}
			page, err := os.ReadFile(filepath.Join("..", "..", "docs", "published.md"))
			if err != nil || !strings.Contains(string(page), "testdata/results/"+name) {
				t.Errorf("docs/published.md does not say where its table comes from: testdata/results/%s", name)
			}
		})
	}
}
