package report

import (
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/table"
)

// maxShown is how many problems and caveats the first screen has; the sections below have all.
const maxShown = 3

// denseFrom is the number of rows above which a table has small rows.
const denseFrom = 6

// pageHTML is page.html, parsed once. It escapes every value for its place; the tables, which package
// table escapes, and the styles of this package are the only exceptions.
var pageHTML = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"table": func(t table.Table, class string) written { return written{template.HTML(t.HTML(class)), t.Footnotes} },
		"most": func(all any, n int) any {
			switch all := all.(type) {
			case []string:
				return all[:min(len(all), n)]
			case []conclusion.Caveat:
				return all[:min(len(all), n)]
			case []conclusion.Problem:
				return all[:min(len(all), n)]
			}
			return nil
		},
		"sentence": sentence,
	}).Parse(string(embedded("page.html"))))
})

// written is a table as HTML, with the lines below it.
type written struct {
	HTML  template.HTML
	Below []string
}

// screen is the first screen: verdict, four facts in fixed places, what failed, one table, one or two
// charts, and the worst caveats.
type screen struct {
	conclusion.Conclusion
	First       []chart
	Class       string               // of the verdict
	Cards       []conclusion.Problem // a card for each of the worst
	Excluded    []conclusion.Problem // without cards, a line for each
	Dense       bool                 // the charts are next to a long table
	TableClass  string
	ChartsClass string
	// MoreWarnings says how many caveats there is no room for; "": none.
	MoreWarnings string
}

func newScreen(r conclusion.Conclusion, first []chart) screen {
	s := screen{Conclusion: r, First: first, TableClass: "first", ChartsClass: "pair",
		Class: map[conclusion.Tone]string{conclusion.Neutral: "open", conclusion.Good: "good", conclusion.Bad: "bad"}[r.Tone]}
	if r.Tone == conclusion.Bad || slices.ContainsFunc(r.Problems, func(one conclusion.Problem) bool { return one.Cause != "" }) {
		s.Cards, s.ChartsClass = r.Problems, "pair low"
	} else {
		s.Excluded = slices.DeleteFunc(slices.Clone(r.Problems), func(one conclusion.Problem) bool { return one.Warning })
	}
	if s.Dense = len(r.Table.Rows) > denseFrom; s.Dense {
		s.TableClass, s.ChartsClass = "first dense", "side"
	}
	if more := len(r.Caveats) - maxShown + 1; more > 0 {
		s.MoreWarnings = units.Plural(more, "more warning")
	}
	return s
}

// link is a link to a section from the head of the page.
type link struct{ ID, Title string }

// Link returns the link to a section; nil: it has none.
func (s section) Link() *link {
	titles := map[string]string{"probes": "Probes", "results": "Results"}
	if titles[s.ID] == "" {
		return nil
	}
	return &link{s.ID, titles[s.ID]}
}

// Where names the trials of a failed check.
func (f checkFailure) Where() string { return strings.Join(f.Trials, ", ") }

// Shown reports whether there is anything to reproduce the run with.
func (r reproduction) Shown() bool { return r.Command != "" || r.Plan != "" }
