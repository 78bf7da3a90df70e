package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
)

// concluded returns a search with a caveat of its runs.
func concluded(r capacity.Record) *Search {
	return &Search{r, r.Conclude([]conclusion.Caveat{{Text: "The machine was busy."}})}
}

// searched returns the run of a search, and the options of its report; with one limit its probes
// are the steps of the run.
func searched(r capacity.Record) (*analysis.Run, Options) {
	var trials []bench.TrialResult
	if len(r.Points) == 1 {
		var steps []bench.StepResult
		for _, o := range r.Points[0].Outcomes {
			steps = append(steps, benchtest.Step(int64(10*o.Achieved), benchtest.Of(benchtest.Open(o.Rate)), benchtest.Latency(o.P99)))
		}
		trials = append(trials, benchtest.Trial(r.Contender.String(), 1, steps...))
	}
	run := benchtest.Run(trials...)
	run.Search = r.SLO
	return analysis.Of(run, trials), Options{Search: concluded(r)}
}

func renderSearch(t testing.TB, r capacity.Record) []byte {
	t.Helper()
	a, opts := searched(r)
	var out bytes.Buffer
	testenv.OK(t, HTML(&out, a, opts))
	return out.Bytes()
}

func TestSearch_Markdown(t *testing.T) {
	one := capacitytest.Service{CPUs: 1, Holds: 1450}
	stopped := one
	stopped.Stop = 4
	var b strings.Builder
	for _, row := range []struct {
		name     string
		services []capacitytest.Service
	}{{"one limit", []capacitytest.Service{one}}, {"several limits", capacitytest.Several()}, {"none", []capacitytest.Service{{CPUs: .25}}},
		{"unfinished", []capacitytest.Service{stopped}}} {
		var out bytes.Buffer
		a, opts := searched(capacitytest.Record(row.services...))
		testenv.OK(t, Markdown(&out, a, opts))
		fmt.Fprintf(&b, "=== %s\n%s\n", row.name, out.String())
	}
	testenv.Golden(t, "testdata/search.md", b.String())
}

// The charts of searches: which there are, in order, and their lines.
func TestSearch_Charts(t *testing.T) {
	var b strings.Builder
	for _, services := range [][]capacitytest.Service{{{CPUs: 1, Holds: 1450}}, capacitytest.Several(), {{CPUs: .25}, {CPUs: 1, Holds: 1450}}} {
		fmt.Fprintf(&b, "%v\n", services)
		first, more := concluded(capacitytest.Record(services...)).charts()
		for _, ch := range slices.Concat(first, more) {
			fmt.Fprintf(&b, "  %s: %s (%s), first %v, marks %v\n", ch.ID, ch.Title, ch.Note, ch.First, ch.Marks)
			for _, l := range ch.Lines {
				fmt.Fprintf(&b, "    %d %s, faint %v: %d points from %v to %v\n", l.Contender, l.Name, l.Faint, len(l.points), l.points[0],
					l.points[len(l.points)-1])
			}
		}
	}
	testenv.Golden(t, "testdata/search-charts.txt", b.String())
}

// The page of a search with one limit has its run below; that of several names the reports of their
// runs.
func TestSearch_Sections(t *testing.T) {
	for _, row := range []struct {
		services []capacitytest.Service
		want     string
	}{
		{[]capacitytest.Service{{CPUs: 1, Holds: 1450}}, "conclusion probes results warnings charts checks"},
		{capacitytest.Several(), "conclusion probes reports warnings charts environment"},
	} {
		doc := testenv.Must(html.Parse(bytes.NewReader(renderSearch(t, capacitytest.Record(row.services...)))))(t)
		ids, links := map[string]bool{}, []string{}
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				switch a.Key {
				case "id":
					ids[a.Val] = true
				case "href":
					links = append(links, a.Val)
				}
			}
		}
		for id := range strings.FieldsSeq(row.want) {
			testenv.Check(t, ids[id], "no section %s", id)
		}
		for _, id := range []string{"results", "checks", "legend"} {
			testenv.Equal(t, ids[id], len(row.services) == 1, "section "+id)
		}
		for _, link := range links {
			testenv.Check(t, ids[strings.TrimPrefix(link, "#")], "%s leads nowhere", link)
		}
	}
}

// Names and reasons of a record are text in page and summary, and its numbers are bounded.
func TestSearch_Hostile(t *testing.T) {
	r := capacitytest.Record(capacitytest.Several()...)
	n := 0
	poison(&r, &n)
	clean := capacitytest.Record(capacitytest.Several()...)
	for i := range r.Points {
		p := &r.Points[i]
		p.Result = clean.Points[i].Result
		for k := range p.Outcomes {
			p.Outcomes[k].Phase = clean.Points[i].Outcomes[k].Phase
		}
		p.Outcomes = append(p.Outcomes, slices.Repeat(p.Outcomes[:1], 2000)...)
	}
	r.Points[1].Result.State, r.Points[1].Failure = "unknown", ""
	page := renderSearch(t, r)
	shown, rows := 0, 0
	for node := range testenv.Must(html.Parse(bytes.NewReader(page)))(t).Descendants() {
		switch {
		case node.Type == html.TextNode && node.Parent.Data != "script" && strings.Contains(node.Data, "<script>pwned=1</script>"):
			shown++
		case node.Type == html.ElementNode && node.Data == "tr":
			rows++
		case node.Type == html.ElementNode:
			testenv.Check(t, node.Data != "img" && node.Data != "b", "an element %s", node.Data)
		}
	}
	testenv.Check(t, shown > 50, "the attack is shown as text %d times", shown)
	testenv.Check(t, rows < 1020, "%d rows", rows)
	_, data, _ := bytes.Cut(page, []byte(`id="page-data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	points := bytes.Count(data, []byte("],["))
	testenv.Check(t, points > 100 && points < 4000, "%d points", points)
	var out bytes.Buffer
	a, opts := searched(r)
	testenv.OK(t, Markdown(&out, a, opts))
	neutral(t, out.String())
	testenv.Check(t, !strings.Contains(fmt.Sprint(r.Conclude(nil)), "\x1b"), "the conclusion has control characters")
}
