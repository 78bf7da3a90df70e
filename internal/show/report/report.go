// Package report writes what a run has found: report.html, one file that needs nothing else and
// fetches nothing, and summary.md. It takes values (bench.Run, bench.TrialResult) and a writer;
// reading a results folder is internal/results', medians and cost are internal/figures/stats'.
//
// The HTML page has tables made by html/template and charts whose options go-echarts generates;
// Apache ECharts is embedded and put into the page. Everything in the values (names, labels, check
// details, log lines) is treated as hostile: bounded, stripped of control characters, escaped where
// it is put, and a Content-Security-Policy lets only the two scripts of this package run, by their
// hashes, and forbids every request.
package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"

	"locbench/internal/analysis"
	"locbench/internal/analysis/compare"
	"locbench/internal/analysis/summary"
	"locbench/internal/bench"
	"locbench/internal/figures/measure"
)

// Options change what is shown. The zero value is usable.
type Options struct {
	Title  string         // heading of the page; empty: the profile's title, else its name
	Folder string         // of the results, its last element is shown: to find the figures again; may be empty
	Floor  *compare.Floor // noise floor of the machine: differences below it are not claimed; nil: not known
}

func (o Options) rules() summary.Rules {
	floors := map[measure.ID]float64{}
	for _, m := range measure.View(measure.Summarised) {
		floors[m.ID] = o.Floor.Of(m.ID)
	}
	return summary.Rules{Floors: floors}
}

type document struct {
	Title, Folder, Policy, State, When, Library, Licences string

	Version             string // of locbench, at the time of the run
	Style               template.CSS
	Important, Warnings []warning
	Summary             []summaryPart
	Headline            headline
	Procedures          []procedure
	Thresholds          thresholdTable
	Troubles            []trouble
	Asked               []intervention
	AskedMore           int // that are not in Asked
	Figures             []figure
	Chosen              []chosenFigure
	Contenders          []contender
	Columns             []column
	Checks              checkTable
	Facts               []factGroup
	Repeat              repeat
	Definitions         []fact
	Cut                 bool // some step ended early
}

// HTML writes the whole report as one HTML document: 1 MB of chart library, and some 30 KB for each
// trial of sixteen steps. Trials may be in any order and may be fewer than the run's: what is missing
// is shown as missing.
func HTML(w io.Writer, a *analysis.Run, opts Options) error {
	run := a.Run
	lib, err := library()
	if err != nil {
		return err
	}
	script := joined(scripts)
	l := newLayout(a)
	all := figures(run, l)
	charts := newPageData(run, l, all)
	data, err := json.Marshal(charts) // escapes <, >, & and U+2028: no name can end the script element
	if err != nil {
		return fmt.Errorf("encode charts: %w", err)
	}
	p := newDocument(a, l, all, opts)
	p.Chosen = chosenFigures(l, charts)
	// Hashes are of the exact scripts; img-src data: is for the library's own patterns.
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; " +
		"script-src " +
		source(lib) + " " + source(script)
	tmpl, err := template.New("page.html").ParseFS(files, "page.html", "words.html", "charts.html")
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	if err := tmpl.ExecuteTemplate(w, "page.html", p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	// The scripts pass by html/template: their hashes hold only for their exact bytes.
	for _, part := range [][]byte{
		[]byte("<script type=\"application/json\" id=\"charts\">"), data, []byte("</script>\n<script>"), lib,
		[]byte("</script>\n<script>"), script, []byte("</script>\n</body>\n</html>\n"),
	} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// source returns the hash that lets one inline script run.
func source(script []byte) string {
	sum := sha256.Sum256(script)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func newDocument(a *analysis.Run, l layout, all []figure, opts Options) document {
	run := a.Run
	figured := summary.New(a, opts.rules())
	p := document{
		Title: title(run, opts.Title), State: cleanText(run.OutcomeText()), When: instant(run.Started),
		Version: cleanName(run.Software.Locbench), Style: template.CSS(joined(styles)),
		Library: libraryVersion, Licences: licences(),
		Summary: summaryParts(figured), Headline: newHeadline(run, l, figured, opts.Floor),
		Procedures: procedures(l),
		Thresholds: thresholds(run, l), Troubles: troubles(l), Figures: all,
		Contenders: l.contenders, Columns: l.columns,
		Checks: checks(l), Facts: environment(run, l), Repeat: newRepeat(run),
		Definitions: definitions(run.Profile), Cut: l.anyCut(),
	}
	if opts.Folder != "" {
		p.Folder = cleanText(filepath.Base(opts.Folder)) // reports are passed on: where it lies is nobody's business
	}
	p.Asked, p.AskedMore = manualChanges(run, l)
	warned := warnings(a, l)
	p.Important, p.Warnings = important(warned, true), important(warned, false)
	return p
}

func title(run bench.Run, given string) string {
	return cleanName(cmp.Or(given, run.Profile.Title, run.Profile.Name, "locbench"))
}

func (l layout) anyCut() bool {
	return slices.ContainsFunc(l.columns, func(c column) bool {
		return slices.ContainsFunc(c.steps, func(s *bench.StepResult) bool { return s != nil && s.Aborted != "" })
	})
}

// Span returns the width of the table of checks, in columns.
func (d document) Span() int { return len(d.Columns) + 1 }
