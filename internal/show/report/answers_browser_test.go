//go:build acceptance && browser

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// screenful is the text of the parts of the first screen that is in view, without scrolling.
type screenful struct {
	Verdict string
	Facts   map[string]string // Confidence, Cost, Failures, Next step
	Rows    []string          // of the table, the header first
	Failed  string            // cards and caveats
}

const inView = `(() => {
	const text = (root) => {
		if (!root) return '';
		const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), all = [];
		for (let node; (node = walker.nextNode());) {
			const range = document.createRange();
			range.selectNodeContents(node);
			const boxes = [...range.getClientRects()];
			const inside = (r) => r.width > 0 && r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
			if (boxes.length > 0 && boxes.every(inside) && node.parentElement.checkVisibility()) all.push(node.data.trim());
		}
		return all.join(' ');
	};
	const all = (selector) => [...document.querySelectorAll(selector)].map(text);
	return {
		Verdict: text(document.querySelector('.conclusion > p')),
		Facts: Object.fromEntries([...document.querySelectorAll('.conclusion dl > div')].map((e) => [text(e.querySelector('dt')), text(e.querySelector('dd'))])),
		Rows: all('.first tr'), Failed: all('.problems, .worst').join(' '),
	};
})()`

// row returns the row of the table that begins with a name, after its mark or tier.
func (s screenful) row(name string) string {
	for _, row := range s.Rows {
		if words := strings.Fields(row); slices.Contains(words[:min(len(words), 2)], name) {
			return row
		}
	}
	return ""
}

// The first screen says without scrolling who leads, by how much and how sure, peak, latency at
// equal load, cost, and what failed, with the values of package analysis.
func TestFirstScreen_Answers(t *testing.T) {
	browser := startBrowser(t)
	for name, c := range map[string]struct {
		run   func(*testing.T) (bench.Run, []bench.TrialResult)
		check func(*asked)
	}{
		"locations":    {published("locations"), (*asked).ranking},
		"burst":        {published("burst"), (*asked).arrivals},
		"cold-warm":    {published("cold-warm"), (*asked).first},
		"delay-matrix": {published("delay-matrix"), (*asked).requests},
		"excluded":     {func(*testing.T) (bench.Run, []bench.TrialResult) { return fixtureOf(4, 6) }, (*asked).ranking},
		"versions":     {func(*testing.T) (bench.Run, []bench.TrialResult) { return twoVersions() }, (*asked).versions},
		"one":          {func(*testing.T) (bench.Run, []bench.TrialResult) { return alone() }, (*asked).single},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := c.run(t)
			a := analysis.Of(run, trials)
			var doc bytes.Buffer
			testenv.OK(t, HTML(&doc, a, Options{Folder: "results/" + name}))
			b := open(t, browser, doc.Bytes(), 1280, "light")
			testenv.OK(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(1280, 800)))
			b.until("drawn charts", `document.querySelector('.plot svg text') !== null`)
			s := &asked{T: t, screenful: eval[screenful](b, inView), run: a}
			for _, one := range a.Ordered() {
				if one.WhyExcluded() == "" {
					s.compared = append(s.compared, one)
				} else {
					s.excluded = append(s.excluded, one)
				}
			}
			c.check(s)
			s.failures()
			if dir := os.Getenv("LOCBENCH_SCREENS"); dir != "" {
				b.screen(filepath.Join(dir, "report-"+name+".png"))
			}
		})
	}
}

// asked is a screen and what it should say about its run.
type asked struct {
	*testing.T
	screenful
	run                *analysis.Run
	compared, excluded []analysis.Contender
}

func (s *asked) says(question, where string, want ...string) {
	s.Helper()
	for _, part := range want {
		if part == "" || !strings.Contains(where, part) {
			s.Errorf("%s: no %q in %q", question, part, where)
		}
	}
}

// by returns the compared contenders, the best in a measure at a step first; of the contender for
// step -1.
func (s *asked) by(m measure.Measure, step int) (all []analysis.Contender, values []float64) {
	of := func(c analysis.Contender) float64 {
		if step < 0 {
			return m.Contender(c.Contender).Value
		}
		for _, x := range c.Steps {
			if x.Index == step {
				return m.Over(x).Value
			}
		}
		s.Fatalf("%s has no step %d", c.Label, step)
		return 0
	}
	all = slices.Clone(s.compared)
	slices.SortStableFunc(all, func(a, b analysis.Contender) int {
		if m.Higher {
			a, b = b, a
		}
		return cmp.Compare(of(a), of(b))
	})
	for _, c := range all {
		values = append(values, of(c))
	}
	return all, values
}

func (s *asked) rounds() string { return units.Plural(s.run.Run.Profile.Rounds, "round") }

// costs requires the cost of each contender in its row, and the lowest in the facts.
func (s *asked) costs() {
	lowest := slices.MinFunc(s.compared, func(a, b analysis.Contender) int { return cmp.Compare(a.Cost.Total, b.Cost.Total) })
	s.says("cost", s.Facts["Cost"], units.Dollars(lowest.Cost.Total)+" per billion requests", lowest.Label)
	for _, c := range s.compared {
		s.says("cost", s.row(c.Label), units.Dollars(c.Cost.Total))
	}
}

// failures requires the number of excluded contenders, their names, and why; else that of errors.
func (s *asked) failures() {
	if next := s.Facts["Next step"]; !strings.HasPrefix(next, "Profile the CPU time of ") { // a cause, or a command
		s.says("next step", next, ": locbench ")
	}
	if len(s.excluded) == 0 {
		errors := int64(0)
		for _, c := range s.compared {
			errors += c.ErrorsTotal()
		}
		want := "None"
		if errors > 0 {
			want = units.Count(errors) + " of "
		}
		s.says("failed", s.Facts["Failures"], want)
		return
	}
	s.says("failed", s.Facts["Failures"], fmt.Sprintf("%d of %d", len(s.excluded), len(s.excluded)+len(s.compared)))
	for _, c := range s.excluded[:min(len(s.excluded), 2)] {
		s.says("failed", s.Failed+s.Facts["Failures"], c.Label)
		if x := c.Excluded; x != nil && x.Cause != nil && x.Cause.Kind == bench.CauseKilled {
			s.says("failed", s.Facts["Failures"], c.Label+" ran out of memory")
		}
	}
}

// ranking requires the highest throughput, its lead, and the latencies at equal load.
func (s *asked) ranking() {
	m := measure.Get(measure.Throughput)
	order, peaks := s.by(m, -1)
	s.says("leads", s.Verdict, order[0].Label)
	standing := s.run.Standing(measure.Throughput, stats.Rule{})
	if _, behind := standing.Leaders(); s.run.Run.Profile.Rounds >= stats.MinInterval && len(behind) > 0 {
		pair, _ := standing.Pair(standing.Tiers[0][0], slices.Min(behind))
		s.says("how sure", s.Facts["Confidence"], pair.Ratio.Words(), fmt.Sprintf("p %.2g", pair.Adjusted), s.rounds())
		s.says("by how much", s.Verdict, order[0].Label, standing.Member(slices.Min(behind)).Contender)
	} else {
		s.says("by how much", s.Verdict, "Cannot tell yet")
		for i, c := range order[:min(len(order), 3)] {
			s.says("by how much", s.Verdict, c.Label+" "+m.Unit.Cell(peaks[i])+"/s")
		}
		s.says("how sure", s.Facts["Confidence"], "not ranked", s.rounds())
	}
	rate := analysis.EqualLoad(s.run.Ordered())
	var latencies []string
	bounds := true // a column of bounds alone is left out
	for i, c := range order {
		at, ok := c.P99At(rate)
		testenv.Check(s.T, ok, "no latency of %s", c.Label)
		latencies = append(latencies, units.Duration(at.Value))
		s.says("peak", s.row(c.Label), m.Unit.Cell(peaks[i]))
	}
	for _, c := range s.run.Ordered() { // with the excluded ones
		if at, ok := c.P99At(rate); ok && !at.AtMost {
			bounds = false
		}
	}
	if bounds {
		testenv.Check(s.T, !strings.Contains(s.Rows[0], "p99 at "), "a column of bounds: %s", s.Rows[0])
	} else {
		s.says("equal load", s.Rows[0], "p99 at "+units.Number(rate)+"/s")
		for i, c := range order {
			s.says("p99", s.row(c.Label), latencies[i])
		}
	}
	s.costs()
}

// arrivals requires the lowest and the highest p99, and the failures of each contender.
func (s *asked) arrivals() {
	m := measure.Get(measure.P99)
	step := slices.IndexFunc(s.run.Run.Profile.Steps, func(x bench.Step) bool { return x.Arrivals != nil && !x.WarmUp })
	order, p99 := s.by(m, step)
	last := len(order) - 1
	s.says("leads", s.Verdict, order[0].Label+" has the lowest p99: "+m.Unit.Text(p99[0]), order[last].Label+" has "+m.Unit.Text(p99[last]))
	s.says("how sure", s.Facts["Confidence"], "not ranked", s.rounds())
	for i, c := range order {
		s.says("p99", s.row(c.Label), m.Unit.Text(p99[i]))
	}
	s.costs()
}

// requests requires who has the highest throughput of each request.
func (s *asked) requests() {
	m := measure.Get(measure.Throughput)
	leads := map[string][]string{}
	for i, x := range s.run.Run.Profile.Steps {
		if x.Request == "" || x.WarmUp {
			continue
		}
		order, values := s.by(m, i)
		leads[order[0].Label] = append(leads[order[0].Label], x.Request)
		s.says("header", s.Rows[0], x.Request)
		for k, c := range order {
			s.says("throughput of "+x.Request, s.row(c.Label), m.Unit.Cell(values[k]))
		}
	}
	for label, requests := range leads {
		want := label + " (" + strings.Join(requests, ", ") + ")"
		if len(leads) == 1 {
			want = label + " has the highest throughput at each of " + units.Plural(len(requests), "request")
		}
		s.says("leads", s.Verdict, want)
	}
	s.says("how sure", s.Facts["Confidence"], "not ranked", s.rounds())
	s.costs()
}

// first requires the time of the first request, and the median under load.
func (s *asked) first() {
	for _, c := range s.compared {
		total := units.Duration(c.Results[0].FirstRequests.First.Total)
		s.says("first request", s.Verdict, c.Label+" "+total)
		s.says("first request, p50", s.row(c.Label), total, measure.Get(measure.P50).Unit.Text(measure.Get(measure.P50).Contender(c.Contender).Value))
	}
	s.says("how sure", s.Facts["Confidence"], "not ranked", s.rounds())
	s.costs()
}

// versions requires the changes of each measure, with their verdict.
func (s *asked) versions() {
	r := compare.Pair(s.compared[0], s.compared[1], nil, compare.Options{})
	s.says("leads", s.Verdict, s.compared[1].Label)
	for _, row := range r.Rows {
		m := measure.Get(row.Measure)
		if row.Ratio == nil {
			continue
		}
		line := ""
		for _, x := range s.Rows {
			if strings.HasPrefix(x, m.Comparison.Title) {
				line = x
			}
		}
		s.says(m.Name, line, m.Unit.Text(*row.Old.Median), m.Unit.Text(*row.New.Median), row.Verdict.String(), row.Ratio.Words())
	}
	s.says("how sure", s.Facts["Confidence"], s.rounds()+" in pairs", "95% CI")
	s.says("cost", s.Facts["Cost"], units.Dollars(s.compared[0].Cost.Total), units.Dollars(s.compared[1].Cost.Total))
}

// single requires peak, cost and the lack of a ranking.
func (s *asked) single() {
	c := s.compared[0]
	peak, _ := c.PeakStep()
	m := measure.Get(measure.Throughput)
	s.says("peak", s.Verdict, c.Label, m.Unit.Text(peak.Throughput.Median))
	s.says("how sure", s.Facts["Confidence"], s.rounds(), "no ranking")
	s.says("cost", s.Facts["Cost"], units.Dollars(c.Cost.Total)+" per billion requests")
	s.says("p99", s.row(fmt.Sprint(peak.Step.Connections)), measure.Get(measure.P99).Unit.Text(measure.Get(measure.P99).Over(peak).Value))
}

// screen saves a picture of what is in view, in few colors, if there is such a file already.
func (b *tab) screen(file string) {
	b.t.Helper()
	if _, err := os.Stat(file); err != nil {
		return
	}
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	testenv.OK(b.t, err)
	img, err := png.Decode(bytes.NewReader(shot.Data))
	testenv.OK(b.t, err)
	counts := map[color.Color]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			counts[img.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	few := image.NewPaletted(img.Bounds(), colors[:min(len(colors), 64)])
	draw.Draw(few, few.Rect, img, image.Point{}, draw.Src)
	var out bytes.Buffer
	testenv.OK(b.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))
	testenv.Check(b.t, out.Len() <= 120_000, "%s has %d bytes", file, out.Len())
	testenv.OK(b.t, os.WriteFile(file, out.Bytes(), 0o644))
}

func published(name string) func(*testing.T) (bench.Run, []bench.TrialResult) {
	return func(t *testing.T) (bench.Run, []bench.TrialResult) {
		run, trials, err := results.Read("../../../testdata/results/" + name)
		testenv.OK(t, err)
		return run, trials
	}
}

// alone returns one contender of the fixture, in one round.
func alone() (bench.Run, []bench.TrialResult) {
	run, trials := fixture()
	run.Profile.Contenders, run.Profile.Rounds = run.Profile.Contenders[:1], 1
	return run, trials[:1]
}

// twoVersions returns eight interleaved rounds of two versions; v2 takes a fifth more CPU time.
func twoVersions() (bench.Run, []bench.TrialResult) {
	var trials []bench.TrialResult
	for round := range 8 {
		since := benchtest.Start().Add(time.Duration(round) * time.Hour)
		for i, label := range []string{"v1", "v2"} {
			n := int64(40_000 + 100*(round*3%7))
			used := time.Duration(float64(n) * 9e4 * (1 + .2*float64(i)))
			t := benchtest.Trial(label, round+1, benchtest.Step(n, benchtest.Of(benchtest.Closed(64)), benchtest.CPU(used),
				benchtest.Latency(20*time.Millisecond), benchtest.Interleaved(since, "v1", "v2")))
			t.StartUp = new(9 * time.Millisecond)
			trials = append(trials, t)
		}
	}
	return benchtest.Run(trials...), trials
}
