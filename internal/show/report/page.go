package report

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// maxShown is how many problems the first screen has; the sections below have all.
const maxShown = 3

// pageHTML is page.html, parsed once. It escapes every value for its place; the tables, which package
// table escapes, and the styles of this package are the only exceptions.
var pageHTML = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(functions).Funcs(template.FuncMap{
		"measures": measure.All, "class": class,
		"table": func(t table.Table, class string) written { return written{template.HTML(t.HTML(class)), t.Footnotes} },
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
	s := screen{Conclusion: r, First: first, Dense: len(r.Table.Rows) > conclusion.Dense,
		Class: map[conclusion.Tone]string{conclusion.Neutral: "open", conclusion.Good: "good", conclusion.Bad: "bad"}[r.Tone]}
	if r.Tone == conclusion.Bad || slices.ContainsFunc(r.Problems, func(one conclusion.Problem) bool { return one.Cause != "" }) {
		s.Cards = r.Problems
	} else {
		s.Excluded = slices.DeleteFunc(slices.Clone(r.Problems), func(one conclusion.Problem) bool { return one.Warning })
	}
	return s
}

// libraryVersion is the version of the embedded dist/echarts.min.js of the npm package echarts.
// go-echarts v2.6 writes options for ECharts 5; 5.6.0 is its last version.
const libraryVersion = "5.6.0"

//go:embed assets js page.html summary.tmpl style.css first.css charts.css
var files embed.FS

// The files that make up the style and the script of the page, in this order.
const (
	styles  = "style.css first.css charts.css"
	scripts = "js/base.js js/charts.js js/save.js js/draw.js js/sort.js"
)

// joined returns the contents of files, one after the other; spaces separate the names.
func joined(names string) (all []byte) {
	for _, name := range strings.Fields(names) {
		all = append(append(all, embedded(name)...), '\n')
	}
	return all
}

func embedded(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // this package names a file that it does not embed
	}
	return b
}

// library returns the chart library, unpacked once. Callers must not change it.
var library = sync.OnceValues(func() ([]byte, error) {
	var js []byte
	z, err := gzip.NewReader(bytes.NewReader(embedded("assets/echarts.min.js.gz")))
	if err == nil {
		js, err = io.ReadAll(z)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack chart library: %w", err)
	}
	return js, nil
})

// licenses returns the texts that the Apache license requires with every copy of the library.
func licenses() (all string) {
	for _, name := range []string{"NOTICE", "LICENSE", "LICENSE-d3"} {
		all += string(embedded("assets/echarts."+name)) + "\n\n"
	}
	return all
}

const missing = units.Missing

// plain prints a number of a profile with all its digits.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// instant prints a moment to the second, with its zone.
func instant(t time.Time) string {
	if t.IsZero() {
		return missing
	}
	return t.Format("2006-01-02 15:04:05 MST")
}

// Limits of text from outside, in bytes.
const (
	maxName = 120  // labels and names
	maxText = 2000 // details, log lines, notes
)

// cleanName bounds a label from outside and strips its control characters. Escaping is the work of
// page.html and the Markdown writer.
func cleanName(s string) string { return safe.Line(s, maxName) }

// cleanText bounds a longer text from outside and strips its control characters and line ends.
func cleanText(s string) string { return safe.Line(s, maxText) }

func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}
