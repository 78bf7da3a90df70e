// Package report writes the results of a run as report.html, one self-contained file, and as
// summary.md. It takes values (bench.Run, bench.TrialResult) and a writer; package results reads
// results folders, package stats computes medians and costs.
//
// The HTML page has tables, and charts whose options go-echarts generates; it embeds Apache
// ECharts. It is a template of html/template. All text in the values (names,
// details, log lines) is treated as hostile: bounded, stripped of control characters and escaped. A
// Content-Security-Policy lets only the two scripts of this package run, by their hashes, and
// forbids every request.
package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Options change what is shown. The zero value is usable.
type Options struct {
	Folder string         // the results folder; the page shows its last element; may be empty
	Floor  *compare.Floor // noise floor of the machine: smaller differences are not significant; nil: unknown
	Search *Search        // the search for capacity whose probes the run has; nil: none
}

type document struct {
	Title, Folder, Policy, State, When string

	Style                    template.CSS
	Library, Script, Data    template.JS // unchanged: the hashes of the policy hold only for the exact bytes
	LibraryVersion, Licenses string

	Version      string // locbench's version at the time of the run
	Conclusion   conclusion.Conclusion
	Screen       screen
	Sections     []conclusion.Section
	MoreProblems []conclusion.Problem // not on the first screen
	Failures     []failure
	Warnings     []warning
	Charts       []chart
	Contenders   []contender
	TrialCount   string
	Apart        bool // the trials have their own reports
	Checks       conclusion.Checks
	Environment  []factGroup
	Reproduce    reproduction
	Price        string // of a vCPU-hour
	Interleave   string // the slices of interleaved contenders; "": not interleaved
}

// HTML writes the report as one HTML document: 1 MB of chart library, and about 30 KB for a trial
// of sixteen steps. Trials may be in any order; the page shows which ones of the run are missing.
func HTML(w io.Writer, a *analysis.Run, opts Options) error {
	lib, err := library()
	if err != nil {
		return err
	}
	script := joined(scripts)
	l := newLayout(a)
	p := newDocument(a, l, opts)
	p.Charts = append(p.Charts, newCharts(l)...)
	// The encoder escapes <, >, & and U+2028: no name can end the script element.
	data, err := json.Marshal(newPageData(a.Run, l, slices.Concat(p.Screen.First, p.Charts)))
	if err != nil {
		return fmt.Errorf("encode charts: %w", err)
	}
	// The hashes are those of the exact scripts; the library needs img-src data: for its patterns.
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; " +
		"script-src " +
		source(lib) + " " + source(script)
	p.Style, p.LibraryVersion, p.Licenses = template.CSS(joined(styles)), libraryVersion, licenses()
	p.Library, p.Script, p.Data = template.JS(lib), template.JS(script), template.JS(data)
	var page bytes.Buffer
	if err := pageHTML().Execute(&page, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if _, err := w.Write(page.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// source returns the hash that allows one inline script.
func source(script []byte) string {
	sum := sha256.Sum256(script)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func newDocument(a *analysis.Run, l layout, opts Options) document {
	run, r := a.Run, conclusion.Of(a, opts.Floor)
	of := conclusion.Sections(a, r, opts.Floor)
	p := document{
		State: cleanText(run.OutcomeText()), When: instant(run.Started), Version: cleanName(run.Software.Locbench),
		Failures: failures(l), Contenders: l.contenders,
		Checks: conclusion.ChecksOf(l.all), Environment: environment(run, l), Reproduce: newReproduction(run),
		Price:      "$" + plain(cmp.Or(max(0, run.Profile.PriceVCPUHr), stats.DefaultPrice)),
		Interleave: when(run.Profile.Interleave > 0, units.Duration(run.Profile.Interleave)),
	}
	first, trials := firstCharts(run.Profile, l, r), len(l.columns)
	if s := opts.Search; s != nil {
		r, p.Apart, p.Reproduce = s.Conclusion, s.apart(), newReproduction(bench.Run{Command: s.Command}) // not the probes again
		first, p.Charts = s.charts()
		if p.Apart {
			trials, p.State = len(s.Points), ""
		}
	}
	p.Screen, p.TrialCount = newScreen(r, first), units.Plural(trials, "trial")
	p.Title, p.Conclusion, p.Sections = cleanName(cmp.Or(r.Title, "locbench")), r, sections(run, l, of, opts.Search)
	p.MoreProblems, p.Warnings = r.Problems[min(len(r.Problems), maxShown):], warnings(a, l, r.Caveats)
	if opts.Folder != "" {
		p.Folder = cleanText(filepath.Base(opts.Folder)) // reports are passed on, and its parents are private
	}
	return p
}

// sections adds to the sections of a run those of a search, and manual changes.
func sections(run bench.Run, l layout, of []conclusion.Section, search *Search) []conclusion.Section {
	changes := conclusion.Section{ID: "manual-changes", Title: "Manual changes", Table: manualChanges(run, l)}
	all := slices.Insert(of, len(of)-min(1, len(l.contenders)), changes) // all results are last
	if search != nil {
		all = append([]conclusion.Section{{ID: "probes", Title: "Probes", Table: search.probes()},
			{ID: "reports", Title: "Reports of the limits", Table: search.reports()}}, all...)
	}
	return slices.DeleteFunc(all, func(s conclusion.Section) bool { return len(s.Table.Rows) == 0 })
}

// class returns the class of the table of a section: on a narrow page, one without a column for each
// contender has a card for each row.
func class(s conclusion.Section) string {
	if !s.Wide {
		return "results cards"
	}
	return "results" + when(s.ID == "results" && len(s.Table.Columns) > conclusion.Dense+1, " many")
}
