package report

import (
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/table"
)

// maxShown is how many problems the first screen has; the sections below have all.
const maxShown = 3

// denseFrom is the number of rows above which a table has small rows.
const denseFrom = 6

// pageHTML is page.html, parsed once. It escapes every value for its place; the tables, which package
// table escapes, and the styles of this package are the only exceptions.
var pageHTML = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(functions).Funcs(template.FuncMap{
		"measures": measure.All,
		"table":    func(t table.Table, class string) written { return written{template.HTML(t.HTML(class)), t.Footnotes} },
	}).Parse(string(embedded("page.html"))))
})

// functions are those of both templates, of the page and of the summary.
var functions = map[string]any{
	"join": strings.Join, "plural": units.Plural[int], "sentence": sentence,
	"number": func(n int) string { return units.Count(int64(n)) },
}

// written is a table as HTML, with the lines below it.
type written struct {
	HTML  template.HTML
	Below []string
}

// screen is the first screen: verdict, four facts in fixed places, what failed, one table, one or two
// charts, and the worst caveats.
type screen struct {
	conclusion.Conclusion
	First    []chart
	Class    string               // of the verdict
	Cards    []conclusion.Problem // a card for each of the worst
	Excluded []conclusion.Problem // without cards, a line for each of the worst
	Dense    bool                 // the charts are next to a long table
}

func newScreen(r conclusion.Conclusion, first []chart) screen {
	s := screen{Conclusion: r, First: first, Dense: len(r.Table.Rows) > denseFrom,
		Class: map[conclusion.Tone]string{conclusion.Neutral: "open", conclusion.Good: "good", conclusion.Bad: "bad"}[r.Tone]}
	if r.Tone == conclusion.Bad || slices.ContainsFunc(r.Problems, func(one conclusion.Problem) bool { return one.Cause != "" }) {
		s.Cards = r.Problems
	} else {
		s.Excluded = slices.DeleteFunc(slices.Clone(r.Problems), func(one conclusion.Problem) bool { return one.Warning })
	}
	return s
}
