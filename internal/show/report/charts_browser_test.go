//go:build acceptance && browser

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/testenv"
)

// survey returns the place of every chart and the number of shapes of each color.
const survey = `(() => ({
  palette: Array.from({length: 10}, (_, i) => getComputedStyle(document.documentElement).getPropertyValue('--c' + i).trim()),
  over: document.documentElement.scrollWidth - innerWidth,
  charts: Object.fromEntries([...document.querySelectorAll('.chart')].map((el) => {
    const r = el.getBoundingClientRect(), marks = {};
    for (const p of el.querySelectorAll('svg path, svg polygon, svg polyline')) {
      for (const ink of new Set([p.getAttribute('fill'), p.getAttribute('stroke')])) {
        if (ink && ink !== 'none') marks[ink] = (marks[ink] ?? 0) + 1;
      }
    }
    const svg = el.querySelector('svg')?.getBoundingClientRect();
    return [el.id, {marks, svg: Math.round(svg?.width ?? 0), x: Math.round(r.x + scrollX), y: Math.round(r.y + scrollY), width: Math.round(r.width), height: Math.round(r.height)}];
  })),
}))()`

type surveyed struct {
	Palette []string // colors of contenders
	Over    float64
	Charts  map[string]drawn
}

type drawn struct {
	Marks               map[string]int
	X, Y, Width, Height int
	SVG                 int // width of the picture
}

// Every chart is drawn at every width, in the colors of the contenders, and nothing is wider than
// the window.
func TestEveryChartIsDrawn(t *testing.T) {
	run, trials := fixtureOf(4, 6)
	trials = withThreads(trials, .3)
	doc := render(t, run, trials)
	all := newCharts(newLayout(analysis.Of(run, trials)))
	shared := startBrowser(t)
	for _, c := range []struct {
		width  int64
		scheme string
	}{{375, "light"}, {1280, "light"}, {1280, "dark"}, {2560, "light"}, {375, "dark"}, {3840, "light"}} {
		if os.Getenv("LOCBENCH_SHOTS") == "" && (c.width == 3840 || c.width == 375 && c.scheme == "dark") {
			continue // only for review
		}
		t.Run(fmt.Sprintf("%d %s", c.width, c.scheme), func(t *testing.T) {
			b := open(t, shared, doc, c.width, c.scheme)
			whole := b.photograph(fmt.Sprintf("%d-%s", c.width, c.scheme))
			seen := eval[surveyed](b, survey)
			testenv.Check(t, seen.Over <= 0, "the page is %v px wider than the window", seen.Over)
			for _, c := range all {
				checkChart(t, c, seen, whole)
			}
		})
	}
}

func (d drawn) place() image.Rectangle { return image.Rect(d.X, d.Y, d.X+d.Width, d.Y+d.Height) }

// checkChart requires a line of each contender, with a mark for every point unless there are many, in
// its color, and a picture that is not blank.
func checkChart(t *testing.T, c chart, seen surveyed, whole image.Image) {
	t.Helper()
	want := map[string]int{}
	for _, l := range c.Lines {
		n := 1
		if c.Bars {
			n = 0
		}
		for _, p := range l.points {
			if finite(p.y) && c.Choose == "" && len(l.points) <= 40 {
				n++
			}
		}
		color := seen.Palette[l.Contender%colors]
		want[color] = max(want[color], n)
	}
	plot := seen.Charts["plot-"+c.ID]
	for color, n := range want {
		testenv.Check(t, plot.Marks[color] >= n, "%s: %d marks of color %s, want %d", c.ID, plot.Marks[color], color,
			n)
	}
	testenv.Check(t, plot.Width >= 300 && plot.Height >= 150 && plot.SVG == plot.Width,
		"%s: %d px wide in a place of %d × %d", c.ID, plot.SVG, plot.Width, plot.Height)
	n := inked(whole, plot.place())
	testenv.Check(t, n >= 500, "%s: only %d pixels differ from the background", c.ID, n)
}

// enough is where inked stops counting: pictures of whole pages have tens of millions of pixels.
const enough = 4000

// inked counts the pixels in r that differ from the one in its corner, up to enough.
func inked(img image.Image, r image.Rectangle) int {
	r0, g0, b0, _ := img.At(r.Min.X, r.Min.Y).RGBA()
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if r1, g1, b1, _ := img.At(x, y).RGBA(); r1 != r0 || g1 != g0 || b1 != b0 {
				if n++; n == enough {
					return n
				}
			}
		}
	}
	return n
}

// inks returns the number of shapes in the color of a contender, for each chart.
func inks(b *tab, contender int) map[string]int {
	seen := eval[surveyed](b, survey)
	found := map[string]int{}
	for id, c := range seen.Charts {
		found[id] = c.Marks[seen.Palette[contender]]
	}
	return found
}

// One legend switches a contender in all charts, by mouse and by keyboard.
func TestLegendSwitchesAllCharts(t *testing.T) {
	run, trials := fixture()
	b := open(t, startBrowser(t), render(t, run, trials), 1280, "light")
	b.unroll()
	before := inks(b, 1)
	b.click(`[data-contender="1"]`)
	for id, n := range inks(b, 1) {
		testenv.Check(t, before[id] != 0 && n == 0, "%s: %d marks of the contender before, %d when it is hidden", id,
			before[id], n)
	}
	for id, n := range inks(b, 0) {
		testenv.Check(t, n != 0, "%s: hiding one contender has hidden another", id)
	}
	// Space on the button that has the focus.
	eval[bool](b, `(() => { document.querySelector('[data-contender="1"]').focus(); return true; })()`)
	testenv.OK(t, chromedp.Do(b.ctx, chromedp.KeyEvent(" ")))
	b.until("the button to be pressed again", `document.querySelector('[data-contender="1"]').getAttribute('aria-pressed') === 'true'`)
	for id, n := range inks(b, 1) {
		testenv.Equal(t, n, before[id], id)
	}
	b.click(`[data-all="false"]`)
	testenv.Equal(t, eval[int](b, `document.querySelectorAll('.pick[aria-pressed=true]').length`), 0)
	b.click(`[data-all="true"]`)
	for id, n := range inks(b, 1) {
		testenv.Equal(t, n, before[id], id)
	}
}

// Paper is white, has every chart, and no tools.
func TestPrint(t *testing.T) {
	run, trials := fixture()
	b := open(t, startBrowser(t), render(t, run, trials[:3]), 1280, "dark")
	out, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
	testenv.OK(t, err)
	testenv.Check(t, len(out.Data) >= 50_000 && bytes.HasPrefix(out.Data, []byte("%PDF-")), "the PDF has %d bytes",
		len(out.Data))
	if dir := os.Getenv("LOCBENCH_SHOTS"); dir != "" {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, "print.pdf"), out.Data, 0o644))
	}
	testenv.Equal(t, eval[int](b, `document.querySelectorAll('.chart:not(:has(svg))').length`), 0)
	media := emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	testenv.OK(t, testenv.Err(chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media)))
	testenv.OK(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(794, 1100)))
	b.photograph("print")
	if ink := eval[string](b, `getComputedStyle(document.documentElement).getPropertyValue('--ink').trim() + getComputedStyle(document.body).backgroundColor`); ink != "#1c2127rgb(255, 255, 255)" {
		t.Errorf("ink and paper are %s", ink)
	}
	if n := eval[int](b, `[...document.querySelectorAll('.save, select, summary, [data-all]')].filter((el) => el.checkVisibility()).length`); n != 0 {
		t.Errorf("%d tools are printed", n)
	}
	for id, n := range inks(b, 0) {
		testenv.Check(t, n != 0, "%s: nothing in the colors of paper", id)
	}
}

// Saved files have what they promise: a picture, an image of the right size, rows with all values.
func TestChartsAreSaved(t *testing.T) {
	run, trials := fixtureOf(3, 6)
	trials[0].Trial.Contender = "=cmd"
	run.Profile.Contenders[0].Contender = "=cmd"
	b := open(t, startBrowser(t), render(t, run, trials), 1280, "dark")
	b.unroll()
	dir := t.TempDir()
	behavior := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir}
	testenv.OK(t, testenv.Err(chromedp.Call(b.ctx, browser.SetDownloadBehavior, behavior)))
	ids := eval[[]string](b, `[...document.querySelectorAll('.chart')].map((el) => el.id.slice(5))`)
	testenv.Need(t, len(ids) >= 14, "only %d charts: %v", len(ids), ids)
	for _, id := range ids {
		for _, kind := range []string{"SVG", "PNG", "CSV"} {
			b.click(fmt.Sprintf(`#chart-%s [data-save=%s]`, id, kind))
			name, data := saved(t, dir)
			if want := "locbench-locations-" + id; !strings.HasPrefix(name, want) || !strings.HasSuffix(name, "."+strings.ToLower(kind)) {
				t.Errorf("%s as %s is called %s", id, kind, name)
			}
			if shots := os.Getenv("LOCBENCH_SHOTS"); shots != "" {
				testenv.OK(t, os.WriteFile(filepath.Join(shots, "saved-"+name), data, 0o644))
			}
			switch kind {
			case "SVG":
				checkSVG(t, name, data)
			case "PNG":
				img, err := png.Decode(bytes.NewReader(data))
				testenv.Need(t, err == nil, "%s: %v", name, err)
				testenv.Equal(t, img.Bounds().Dx(), 2400, name)
				if r, g, bl, a := img.At(1, 1).RGBA(); r != 0xffff || g != 0xffff || bl != 0xffff || a != 0xffff {
					t.Errorf("%s has no white background", name)
				}
				testenv.Check(t, inked(img, img.Bounds()) >= 3000, "%s is blank", name)
			case "CSV":
				checkCSV(t, id, data)
			}
		}
	}
}

// saved waits until the browser has written one file completely, and removes it. Meanwhile there
// may be a second one with the ending .crdownload.
func saved(t *testing.T, dir string) (name string, data []byte) {
	t.Helper()
	var there []string
	for range 800 {
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		testenv.OK(t, err)
		if there = all; len(all) == 1 && !strings.HasSuffix(all[0], ".crdownload") {
			before := len(data)
			if data, err = os.ReadFile(all[0]); err == nil && len(data) > 0 && len(data) == before {
				testenv.OK(t, os.Remove(all[0]))
				return filepath.Base(all[0]), data
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("nothing was saved; in the folder: %q", there)
	return "", nil
}

func checkSVG(t *testing.T, name string, data []byte) {
	t.Helper()
	shapes, text := 0, ""
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "path" || e.Name.Local == "polyline" || e.Name.Local == "polygon" {
				shapes++
			}
			testenv.Check(t, e.Name.Local != "script", "%s has a script", name)
		case xml.CharData:
			text += string(e)
		}
	}
	testenv.Check(t, shapes >= 10 && strings.Contains(text, "a"), "%s has %d shapes", name, shapes)
}

func checkCSV(t *testing.T, id string, data []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return
	}
	least := map[string]int{"throughput": 3*11 + 17*11, "percentiles": 3 * 16 * 20, "second-throughput": 18 * 100}[id]
	testenv.Check(t, len(rows) > max(least, 20), "%s: %d rows", id, len(rows))
	for _, r := range rows {
		if strings.ContainsAny(r[0][:1], "=+-@") {
			t.Errorf("%s: a spreadsheet would run %q", id, r[0])
			break
		}
	}
	if id != "throughput" {
		return
	}
	// The median has its interval, and the rounds have their values.
	rounds, median := 0, false
	for _, r := range rows[1:] {
		if r[0] != "kt-ktor" || r[2] != "64" {
			continue
		}
		if r[1] != "all" {
			rounds++
		} else {
			median = r[4] != "" && r[5] != ""
		}
	}
	testenv.Check(t, rounds == 6 && median, "throughput: %d rounds, median with interval: %v", rounds, median)
}

// Buttons in the headers sort the tables with data-sort; missing values stay at the end.
func TestTablesAreSorted(t *testing.T) {
	run, trials := fixture()
	doc := render(t, run, trials[:2])
	table := `<table data-sort id="try"><thead><tr><th scope="col">Name</th><th scope="col">Rate</th><th scope="col" data-nosort>Note</th></tr></thead><tbody>` +
		`<tr><th scope="row">b</th><td data-value="9">9.0/s</td><td></td></tr><tr><th scope="row">a</th><td>–</td><td></td></tr>` +
		`<tr><th scope="row">c10</th><td data-value="1e3">1,000/s</td><td></td></tr><tr><th scope="row">c9</th><td data-value="-5">−5</td><td></td></tr></tbody></table></main>`
	doc = bytes.Replace(doc, []byte("</main>"), []byte(table), 1)
	b := open(t, startBrowser(t), doc, 1280, "light")
	order := func() string {
		return eval[string](b, `[...document.querySelectorAll('#try tbody th')].map((th) => th.textContent).join(' ')`)
	}
	for i, step := range []struct{ button, order, sort string }{
		{"th:nth-child(2) button", "c9 b c10 a", "ascending"}, {"th:nth-child(2) button", "c10 b c9 a", "descending"},
		{"th:nth-child(1) button", "a b c9 c10", "ascending"},
	} {
		t.Run(step.button, func(t *testing.T) {
			b.click("#try " + step.button)
			testenv.Equal(t, order(), step.order, "click", i+1)
			if got := eval[string](b, `[...document.querySelectorAll('#try [aria-sort]')].map((th) => th.getAttribute('aria-sort')).join(' ')`); got != step.sort {
				t.Errorf("click %d: aria-sort %q", i+1, got)
			}
		})
	}
	testenv.Check(t, !eval[bool](b, `document.querySelector('#try th[data-nosort] button') !== null`),
		"a column with data-nosort has a button")
}

// The lists above some charts choose what they show, and other charts with the same choice follow.
func TestChoices(t *testing.T) {
	run, trials := fixture()
	b := open(t, startBrowser(t), render(t, run, trials), 1280, "light")
	b.unroll()
	for _, c := range []struct{ id, key, value, also string }{
		{"percentiles", "step", "7", "percentiles"}, {"second-throughput", "round", "2", "second-p99"},
	} {
		t.Run(c.id, func(t *testing.T) {
			picture := func(id string) string {
				return eval[string](b, fmt.Sprintf(`document.querySelector('#plot-%s svg').innerHTML`, id))
			}
			before, also := picture(c.id), picture(c.also)
			eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector('#chart-%s [data-choice=%s]'); s.value = %q; s.dispatchEvent(new Event('change')); return true; })()`, c.id, c.key, c.value))
			testenv.Check(t, picture(c.id) != before, "the chart is the same with another %s", c.key)
			testenv.Check(t, picture(c.also) != also, "%s is the same with another %s", c.also, c.key)
			testenv.Equal(t, eval[string](b, fmt.Sprintf(`document.querySelector('#chart-%s [data-choice]').value`, c.also)), c.value)
		})
	}
}
