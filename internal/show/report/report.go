// Package report writes the results of a run as report.html, one self-contained file, and as
// summary.md. It takes values (bench.Run, bench.TrialResult) and a writer; package results reads
// results folders, package stats computes medians and costs.
//
// The HTML page has tables, and charts whose options go-echarts generates; it embeds Apache
// ECharts. It is written by functions, not by html/template: that calls methods by name, so the
// linker would have to keep every method of every package, 4 MB. All text in the values (names,
// details, log lines) is treated as hostile: bounded, stripped of control characters and escaped. A
// Content-Security-Policy lets only the two scripts of this package run, by their hashes, and
// forbids every request.
package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/table"
)

// Options change what is shown. The zero value is usable.
type Options struct {
	Title  string         // heading of the page; "": the profile's title, else its name
	Folder string         // the results folder; the page shows its last element; may be empty
	Floor  *compare.Floor // noise floor of the machine: smaller differences are not significant; nil: unknown
	Search *Search        // the search for capacity whose probes the run has; nil: none
}

func (o Options) rules() summary.Rules {
	floors := map[measure.ID]float64{}
	for _, m := range measure.View(measure.Summarized) {
		floors[m.ID] = o.Floor.Of(m.ID)
	}
	return summary.Rules{Floors: floors}
}

type document struct {
	Title, Folder, Policy, State, When, Library, Licenses string

	Version             string // locbench's version at the time of the run
	Conclusion          conclusion.Conclusion
	First               []firstChart
	Probes              probes // of a search for capacity
	Important, Warnings []warning
	Summary             []summaryPart
	Results             table.Table
	Procedures          []procedure
	Thresholds          table.Table
	Failures            []failure
	ManualChanges       []manualChange
	MoreChanges         int // not in ManualChanges
	Charts              []chart
	Chosen              []chosenChart
	Contenders          []contender
	Columns             []column
	Checks              checkTable
	Environment         []factGroup
	Reproduce           reproduction
	Definitions         []fact
	Cut                 bool // at least one step stopped early
}

// HTML writes the report as one HTML document: 1 MB of chart library, and about 30 KB for a trial
// of sixteen steps. Trials may be in any order; the page shows which ones of the run are missing.
func HTML(w io.Writer, a *analysis.Run, opts Options) error {
	run := a.Run
	lib, err := library()
	if err != nil {
		return err
	}
	script := joined(scripts)
	l := newLayout(a)
	all := newCharts(run, l)
	drawn := newPageData(run, l, all)
	first := opening(a, l, opts)
	drawn.First = slices.Concat(first.charts, first.probes.Charts)
	data, err := json.Marshal(drawn) // escapes <, >, & and U+2028: no name can end the script element
	if err != nil {
		return fmt.Errorf("encode charts: %w", err)
	}
	p := newDocument(a, l, all, opts)
	p.Chosen, p.First, p.Conclusion, p.Probes = chosenCharts(l, drawn), first.charts, first.reply, first.probes
	// The hashes are those of the exact scripts; the library needs img-src data: for its patterns.
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; " +
		"script-src " +
		source(lib) + " " + source(script)
	var head pageWriter
	head.document(p)
	// The scripts are written unchanged: their hashes hold only for their exact bytes.
	for _, part := range [][]byte{
		head.Bytes(), []byte("<script type=\"application/json\" id=\"page-data\">"), data, []byte("</script>\n<script>"), lib,
		[]byte("</script>\n<script>"), script, []byte("</script>\n</body>\n</html>\n"),
	} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// source returns the hash that allows one inline script.
func source(script []byte) string {
	sum := sha256.Sum256(script)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func newDocument(a *analysis.Run, l layout, all []chart, opts Options) document {
	run := a.Run
	facts := summary.New(a, opts.rules())
	p := document{
		Title: title(run, opts.Title), State: cleanText(run.OutcomeText()), When: instant(run.Started),
		Version: cleanName(run.Software.Locbench),
		Library: libraryVersion, Licenses: licenses(),
		Summary: summaryParts(facts), Results: newResults(run, l, facts, opts.Floor),
		Procedures: procedures(l),
		Thresholds: thresholds(run, l), Failures: failures(l), Charts: all,
		Contenders: l.contenders, Columns: l.columns,
		Checks: checks(l), Environment: environment(run, l), Reproduce: newReproduction(run),
		Definitions: definitions(run.Profile), Cut: l.anyCut(),
	}
	if opts.Folder != "" {
		p.Folder = cleanText(filepath.Base(opts.Folder)) // reports are passed on, and its parents are private
	}
	p.ManualChanges, p.MoreChanges = manualChanges(run, l)
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

// Span returns the number of columns of the table of checks.
func (d document) Span() int { return len(d.Columns) + 1 }
