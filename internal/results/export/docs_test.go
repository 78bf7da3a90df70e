package export

import (
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDocsNameEveryFormat checks that docs/formats.md describes all formats.
func TestDocsNameEveryFormat(t *testing.T) {
	data := testenv.Must(os.ReadFile("../../../docs/formats.md"))(t)
	docs := string(data)
	for _, f := range Formats() {
		testenv.Check(t, strings.Contains(docs, "`"+f.Name+"`"), "format %s is missing", f.Name)
	}
}

// tables returns the generated tables of docs/formats.md.
func tables(t *testing.T) map[string]string {
	row := func(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
	columns := row("column", "what") + "|---|---|\n"
	for _, c := range append(Columns(), NeedColumns("NAME")...) {
		columns += row("`"+c.Name+"`", c.Doc)
	}
	live := row("name", "type", "what") + "|---|---|---|\n"
	for _, m := range measure.All() {
		if m.Live != nil {
			live += row("`"+m.Live.Name+"`", m.Live.Kind, m.Live.Help)
		}
	}
	return map[string]string{"columns": columns, "live metrics": live}
}

// TestDocsTables compares docs/formats.md with the generated tables; -update writes them.
func TestDocsTables(t *testing.T) {
	const file = "../../../docs/formats.md"
	data := testenv.Must(os.ReadFile(file))(t)
	docs := string(data)
	for name, table := range tables(t) {
		before, rest, found := strings.Cut(docs, "<!-- made: "+name+" -->\n")
		old, after, ended := strings.Cut(rest, "<!-- /made -->")
		testenv.Need(t, found && ended, "docs/formats.md has no markers for %s", name)
		testenv.Check(t, old == table || *testenv.Update,
			"%s in docs/formats.md are out of date: go test ./internal/results/export -run 'Docs|Schemas' -update", name)
		docs = before + "<!-- made: " + name + " -->\n" + table + "<!-- /made -->" + after
	}
	if *testenv.Update {
		testenv.OK(t, os.WriteFile(file, []byte(docs), 0o644))
	}
}
