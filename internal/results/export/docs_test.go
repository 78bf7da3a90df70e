package export

import (
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDocsNameEveryFormat checks that docs/formats.md describes all formats.
func TestDocsNameEveryFormat(t *testing.T) {
	data, err := os.ReadFile("../../../docs/formats.md")
	testenv.OK(t, err)
	docs := string(data)
	for _, f := range Formats() {
		testenv.Check(t, strings.Contains(docs, "`"+f.Name+"`"), "format %s is missing", f.Name)
	}
}

// everySample collects a step in which every value is known.
type everySample struct{ prometheus.Collector }

func (everySample) Describe(chan<- *prometheus.Desc) {}

func (everySample) Collect(to chan<- prometheus.Metric) {
	run, trials := fixture()
	s := trials[0].Steps[0]
	s.Before.Switches, s.After.Switches = &bench.Switches{}, &bench.Switches{Voluntary: 1}
	s.After.Throttling.Periods += 10
	samples(to).step(row{StepResult: s, run: &run, trial: &trials[0], peaked: true})
}

// tables returns the generated tables of docs/formats.md.
func tables(t *testing.T) map[string]string {
	row := func(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
	columns := row("column", "what") + "|---|---|\n"
	for _, c := range append(Columns(), NeedColumns("NAME")...) {
		columns += row("`"+c.Name+"`", c.Doc)
	}
	steps := row("name", "type", "what") + "|---|---|---|\n"
	registry := prometheus.NewRegistry()
	testenv.OK(t, registry.Register(everySample{}))
	families, err := registry.Gather()
	testenv.OK(t, err)
	for _, f := range families {
		steps += row("`"+f.GetName()+"`", strings.ToLower(f.GetType().String()), f.GetHelp())
	}
	live := row("name", "type", "what") + "|---|---|---|\n"
	for _, m := range measure.All() {
		if m.Live != nil {
			live += row("`"+m.Live.Name+"`", m.Live.Kind, m.Live.Help)
		}
	}
	return map[string]string{"columns": columns, "step metrics": steps, "live metrics": live}
}

// TestDocsTables compares docs/formats.md with the generated tables; -update writes them.
func TestDocsTables(t *testing.T) {
	const file = "../../../docs/formats.md"
	data, err := os.ReadFile(file)
	testenv.OK(t, err)
	docs := string(data)
	for name, table := range tables(t) {
		before, rest, found := strings.Cut(docs, "<!-- made: "+name+" -->\n")
		old, after, ended := strings.Cut(rest, "<!-- /made -->")
		testenv.Need(t, found && ended, "docs/formats.md has no markers for %s", name)
		if old != table && !*testenv.Update {
			t.Errorf("%s in docs/formats.md are out of date: go test ./internal/results/export -run 'Docs|Schemas' -update", name)
		}
		docs = before + "<!-- made: " + name + " -->\n" + table + "<!-- /made -->" + after
	}
	if *testenv.Update {
		testenv.OK(t, os.WriteFile(file, []byte(docs), 0o644))
	}
}
