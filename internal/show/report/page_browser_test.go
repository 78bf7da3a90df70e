//go:build acceptance && browser

package report

import (
	"bytes"
	"encoding/json"
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
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
)

// The first screen has the verdict, the table with cost, two charts (a narrow one has one) and the
// worst caveat without scrolling, for runs of each kind.
func TestFirstScreen(t *testing.T) {
	browser := startBrowser(t)
	for _, name := range []string{"locations", "burst", "cold-warm", "delay-matrix", "versions", "excluded", "one", "search", "search-limits", "search-many"} {
		run, trials := fixture()
		switch name {
		case "excluded", "search", "search-limits", "search-many":
		case "versions":
			run, trials = twoVersions()
		case "one":
			run.Profile.Contenders, trials = run.Profile.Contenders[:1], trials[:1]
		default:
			var err error
			run, trials, err = results.Read("../../../testdata/results/" + name)
			testenv.OK(t, err)
		}
		said := conclusion.Of(analysis.Of(run, trials), nil).Verdict
		doc := render(t, run, trials)
		switch name {
		case "search":
			doc = renderSearch(t, capacitytest.Record(capacitytest.Service{CPUs: 1, Holds: 1450}))
		case "search-limits":
			doc = renderSearch(t, capacitytest.Record(capacitytest.Several()...))
		case "search-many":
			var all []capacitytest.Service
			for i := range 8 {
				all = append(all, capacitytest.Service{CPUs: float64(i+1) / 4, Holds: float64(350 * (i + 1))})
			}
			doc = renderSearch(t, capacitytest.Record(all...))
		}
		for _, size := range []struct {
			width  int64
			scheme string
			charts int
		}{{1280, "light", 2}, {1280, "dark", 2}, {375, "light", 1}, {375, "dark", 1}} {
			t.Run(fmt.Sprint(name, size.width, size.scheme), func(t *testing.T) {
				b := open(t, browser, doc, size.width, size.scheme)
				testenv.OK(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(size.width, 800)))
				b.until("drawn charts", `document.querySelector('.plot svg text') !== null`)
				ends := eval[map[string]float64](b, `(() => {
					const end = (selector) => Math.max(0, ...[...document.querySelectorAll(selector)].filter((e) => e.offsetParent).map((e) => e.getBoundingClientRect().bottom));
					const plots = [...document.querySelectorAll('.plot')].filter((e) => e.offsetParent).map((e) => e.getBoundingClientRect().bottom), narrow = innerWidth < 700;
				return { verdict: end('.conclusion > p'), cost: end('.conclusion dl'), table: end('.first'), chart: narrow ? Math.min(...plots) : Math.max(...plots), caveat: end('.worst li:first-child'),
						charts: narrow ? Math.min(plots.length, 1) : plots.length, wide: document.documentElement.scrollWidth };
				})()`)
				want := size.charts
				if name == "delay-matrix" {
					want = 1
				}
				testenv.Equal(t, int(ends["charts"]), want, "charts")
				for _, part := range []string{"verdict", "cost", "table", "chart", "caveat"} {
					none := name == "versions" && part == "caveat"
					testenv.Check(t, (ends[part] > 0 || none) && ends[part] <= 800, "%s ends at %.0f of 800 px", part, ends[part])
				}
				testenv.Check(t, int64(ends["wide"]) <= size.width, "the page is %.0f px wide", ends["wide"])
				if verdict := eval[string](b, `document.querySelector('.conclusion > p').textContent`); !strings.HasPrefix(name, "search") {
					testenv.Equal(t, verdict, said)
				}
				if dir := os.Getenv("LOCBENCH_SCREENS"); dir != "" && size.width == 1280 && size.scheme == "light" {
					b.screen(filepath.Join(dir, "report-"+name+".png"))
				}
				if os.Getenv("LOCBENCH_SHOTS") != "" {
					b.photograph(fmt.Sprintf("first-%s-%d-%s", name, size.width, size.scheme))
				}
			})
		}
	}
}

// A large report has text in sight soon. The bound is for a busy machine: "make bench-report" measures.
func TestFirstPaint(t *testing.T) {
	run, trials := fixtureOf(manyContenders, manyRounds)
	doc, browser := render(t, run, trials), startBrowser(t)
	var paints []time.Duration
	for range 5 {
		paints = append(paints, open(t, browser, doc, 1280, "light").firstPaint())
	}
	slices.Sort(paints)
	t.Logf("first paints: %v", paints)
	testenv.Check(t, paints[2] <= 2*time.Second, "the median of first paints is %s: %v", paints[2], paints)
}

// screen saves a picture of what is in view, in few colors, if there is such a file already.
func (b *tab) screen(file string) {
	b.t.Helper()
	if _, err := os.Stat(file); err != nil {
		return
	}
	shot := testenv.Must(chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{}))(b.t)
	img := testenv.Must(png.Decode(bytes.NewReader(shot.Data)))(b.t)
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

// axe-core finds nothing serious or critical, in light and dark, narrow and wide, with everything
// unfolded.
func TestAccessibility(t *testing.T) {
	path := testenv.Named(t, "axe", "LOCBENCH_TEST_AXE", "script of axe-core, an accessibility checker (.ci/axe brings it)")
	script, err := os.ReadFile(path)
	testenv.Need(t, err == nil, "axe-core cannot be read: %v", err)
	run, trials := shortened(fixtureOf(3, 6))
	doc := render(t, run, trials)
	shared := startBrowser(t)
	for _, c := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 375}} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, shared, doc, c.width, c.scheme)
			b.unroll()
			eval[int](b, `(() => { const all = document.querySelectorAll('details'); for (const d of all) d.open = true; return all.length; })()`)
			b.click(`[data-contender="2"]`) // also with a button that is not pressed
			// The page's policy does not apply to the protocol's evaluation, only to the page's
			// scripts.
			testenv.OK(t,
				testenv.Err(chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: string(script)})))
			out, err := chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: new(true), ReturnByValue: new(true), Expression: `
				axe.run(document, { resultTypes: ['violations'], preload: false }).then((r) => JSON.stringify({
					passes: r.passes.length,
					violations: r.violations.map((v) => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160) + ' | ' + (n.failureSummary ?? '').slice(0, 200)) })),
				}))`})
			testenv.OK(t, err)
			var text string
			err = json.Unmarshal(out.Result.Value, &text)
			testenv.Need(t, err == nil, "%v: %+v", err, out.ExceptionDetails)
			var found struct {
				Passes     int
				Violations []struct {
					ID, Impact, Help string
					Nodes            []string
				}
			}
			testenv.OK(t, json.Unmarshal([]byte(text), &found))
			testenv.Check(t, found.Passes >= 20, "only %d rules were checked", found.Passes)
			// It finds a button without a name.
			nameless := runtime.EvaluateParams{AwaitPromise: new(true), ReturnByValue: new(true), Expression: `
				document.querySelector('main').append(document.createElement('button')), axe.run(document, { runOnly: ['button-name'], preload: false }).then((r) => r.violations.length)`}
			if out, err := chromedp.Call(b.ctx, runtime.Evaluate, nameless); err != nil || string(out.Result.Value) != "1" {
				t.Errorf("a button without a name is not found: %v, %v", out, err)
			}
			for _, v := range found.Violations {
				if v.Impact == "serious" || v.Impact == "critical" {
					t.Errorf("%s, %s: %s\n  %s", v.Impact, v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
				} else {
					t.Logf("%s, %s: %s (%d and more places)", v.Impact, v.ID, v.Help, len(v.Nodes))
				}
			}
		})
	}
}

func TestHostileTextStaysText(t *testing.T) {
	run, trials := hostile()
	trials = trials[:5] // enough for every kind of text, and quick on a busy machine
	doc := render(t, run, trials)
	browser := startBrowser(t)
	b := open(t, browser, doc, 1280, "light")
	b.unroll()
	testenv.Equal(t, eval[int](b, `document.querySelectorAll('.chart svg').length`), len(newCharts(newLayout(analysis.Of(run, trials)))))
	if os.Getenv("LOCBENCH_SHOTS") != "" {
		b.photograph("hostile")
	}
	// Exercise the tooltips of every chart, which are made when they are shown; the legend, by
	// hiding and showing all contenders; and every choice.
	shown := eval[int](b, `(() => {
		let shown = 0;
		for (const el of document.querySelectorAll('.chart')) {
			const chart = echarts.getInstanceByDom(el);
			chart.getOption().series.forEach((s, i) => (s.data ?? []).forEach((_, j) => {
				if (j > 2) return;
				chart.dispatchAction({ type: 'showTip', seriesIndex: i, dataIndex: j });
				shown++;
			}));
		}
		for (const b of document.querySelectorAll('[data-all]')) b.click();
		document.querySelector('[data-all]').click();
		for (const d of document.querySelectorAll('details')) d.open = true;
		for (const s of document.querySelectorAll('[data-choice]')) for (const o of s.options) {
			s.value = o.value;
			s.dispatchEvent(new Event('change'));
		}
		return shown;
	})()`)
	// Read the saved pictures as a browser does.
	if bad := eval[[]string](b, `page.charts.flatMap((chart) => {
		let text = '';
		portrait(chart, (drawn) => { text = drawn.renderToSVGString(); }, null, { renderer: 'svg', ssr: true });
		const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
		const bad = [...svg.querySelectorAll('*')].filter((e) => /^(script|image|img|foreignObject|a|parsererror)$/i.test(e.localName) || [...e.attributes].some((a) => /^on|href/i.test(a.name)));
		if (!/^locbench-[A-Za-z0-9._-]*$/.test(page.file)) bad.push(svg.documentElement);
		csvOf(chart);
		return bad.map((e) => chart.id + ' ' + e.localName);
	})`); len(bad) > 0 {
		t.Errorf("saved pictures hold %v", bad)
	}
	testenv.Check(t, shown >= 40, "only %d tooltips were shown", shown)
	time.Sleep(300 * time.Millisecond) // injected content would load or run after this script
	testenv.Check(t, !eval[bool](b, `'pwned' in window`), "text from outside was run")
	for selector, want := range map[string]int{"img": 0, "iframe": 0, "link": 0, "[onerror]": 0, "[onload]": 0, "body b": 0, "script": 3, "style": 1, "title": 1} {
		t.Run(selector, func(t *testing.T) {
			testenv.Equal(t, eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector)), want,
				selector)
		})
	}
	if n := eval[int](b, `[...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length`); n != 0 {
		t.Errorf("%d links leave the page", n)
	}
	if text := eval[string](b, `document.querySelector('#checks tbody th').textContent`); !strings.Contains(text, "<script>") && !strings.Contains(text, "</script>") {
		t.Errorf("the attack is not shown as text: %q", text)
	}
}
