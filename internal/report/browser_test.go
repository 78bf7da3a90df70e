package report

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

// startBrowser runs a headless Chromium with an empty profile that can reach nothing, and ends it with the test.
func startBrowser(t *testing.T) context.Context {
	path := testenv.Chromium(t)
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, opts...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && ctx.Err() == nil {
			t.Logf("stop browser: %v", err)
		}
		cancelBrowser()
		cancelAllocator()
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start browser: %v", err)
	}
	return ctx
}

// tab is a report, opened. It notes everything that a report must not do.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// watch hands the events of one kind to f until the tab is closed.
func watch[E any](b *tab, wg *sync.WaitGroup, events func(func(E, error) bool), f func(E)) {
	wg.Go(func() {
		for e, err := range events {
			if err != nil {
				return
			}
			f(e)
		}
	})
}

// open shows the document at the given width, and fails the test at its end if there was a console message, an exception,
// a dialog, or a request for anything but the file.
func open(t *testing.T, browser context.Context, document []byte, width int64, scheme string) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, document, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	b := &tab{t: t, ctx: ctx}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		for _, p := range b.problems {
			t.Error(p)
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open tab: %v", err)
	}
	watch(b, &wg, chromedp.Events(ctx, runtime.ConsoleAPICalled), func(e runtime.EventConsoleAPICalled) {
		for _, a := range e.Args {
			b.note("console.%s: %s %s", e.Type, a.Value, a.Description)
		}
	})
	watch(b, &wg, chromedp.Events(ctx, runtime.ExceptionThrown), func(e runtime.EventExceptionThrown) {
		b.note("exception: %s", e.ExceptionDetails.Text)
	})
	watch(b, &wg, chromedp.Events(ctx, log.EntryAdded), func(e log.EventEntryAdded) {
		b.note("browser log, %s: %s", e.Entry.Level, e.Entry.Text)
	})
	watch(b, &wg, chromedp.Events(ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) {
		if !strings.HasPrefix(e.Request.URL, "file://"+path) {
			b.note("request for %.200s", e.Request.URL)
		}
	})
	watch(b, &wg, chromedp.Events(ctx, page.JavascriptDialogOpening), func(e page.EventJavascriptDialogOpening) {
		b.note("dialog: %s", e.Message)
	})
	offline := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}}}
	if _, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, offline); err != nil {
		t.Fatalf("take the browser off the network: %v", err)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path)); err != nil {
		t.Fatalf("open report: %v", err)
	}
	return b
}

// eval runs JavaScript in the page.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.t.Fatalf("evaluate %.100s: %v", js, err)
	}
	return v
}

// survey tells of every chart where it is, and, per colour, how many shapes are filled with it or, hollow, outlined with it.
const survey = `(() => ({
  palette: Array.from({length: 10}, (_, i) => getComputedStyle(document.documentElement).getPropertyValue('--c' + i).trim()),
  over: document.documentElement.scrollWidth - innerWidth,
  charts: Object.fromEntries([...document.querySelectorAll('.chart')].map((el) => {
    const r = el.getBoundingClientRect(), marks = {};
    for (const p of el.querySelectorAll('svg path')) {
      const fill = p.getAttribute('fill'), stroke = p.getAttribute('stroke');
      if (!fill || fill === 'none') continue;
      marks[fill] = (marks[fill] ?? 0) + 1;
      if (stroke && stroke !== 'none' && stroke !== fill) marks[stroke] = (marks[stroke] ?? 0) + 1;
    }
    const svg = el.querySelector('svg')?.getBoundingClientRect();
    return [el.id, {marks, svg: Math.round(svg?.width ?? 0), x: Math.round(r.x + scrollX), y: Math.round(r.y + scrollY), width: Math.round(r.width), height: Math.round(r.height)}];
  })),
}))()`

type surveyed struct {
	Palette []string
	Over    float64
	Charts  map[string]drawn
}

type drawn struct {
	Marks               map[string]int
	X, Y, Width, Height int
	SVG                 int // its width
}

func TestEveryChartIsDrawn(t *testing.T) {
	run, legs := fixture()
	doc := render(t, run, legs)
	all := figures(run, newLayout(run, legs))
	browser := startBrowser(t)
	for _, width := range []int64{375, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			if scheme == "dark" && width == 375 && os.Getenv("LOCBENCH_SHOTS") == "" {
				continue // to look at, no more to test
			}
			t.Run(fmt.Sprintf("%d %s", width, scheme), func(t *testing.T) {
				b := open(t, browser, doc, width, scheme)
				seen := eval[surveyed](b, survey)
				if seen.Over > 0 {
					t.Errorf("the page is %v px wider than the window", seen.Over)
				}
				whole := b.photograph(fmt.Sprintf("%d-%s", width, scheme))
				for _, f := range all {
					checkChart(t, f, seen, whole)
				}
			})
		}
	}
}

func TestChartsFollowTheWindow(t *testing.T) {
	run, legs := fixture()
	b := open(t, startBrowser(t), render(t, run, legs[:2]), 1280, "light")
	for _, width := range []int64{500, 1600} {
		if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
			t.Fatal(err)
		}
		var wrong []string
		for range 100 {
			wrong = wrong[:0]
			for id, c := range eval[surveyed](b, survey).Charts {
				if c.SVG != c.Width || int64(c.Width) > width {
					wrong = append(wrong, fmt.Sprintf("%s is %d px in %d px", id, c.SVG, c.Width))
				}
			}
			if len(wrong) == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		for _, w := range wrong {
			t.Errorf("window of %d px: %s", width, w)
		}
	}
}

// checkChart wants a mark for every measured point, in the colour of its contender, and a picture that is not blank.
func checkChart(t *testing.T, f figure, seen surveyed, whole image.Image) {
	t.Helper()
	want := map[string]int{}
	for _, s := range f.series {
		for _, p := range s.points {
			if p != nil {
				want[seen.Palette[s.column.Color()]]++
			}
		}
	}
	if len(want) == 0 {
		t.Errorf("%s: the fixture has no point", f.ID)
	}
	chart := seen.Charts["chart-"+f.ID]
	for color, n := range want {
		if f.kind != kindBars {
			n++ // the entry of the legend
		}
		if chart.Marks[color] != n {
			t.Errorf("%s: %d marks of colour %s, want %d", f.ID, chart.Marks[color], color, n)
		}
	}
	if chart.Width < 300 || chart.Height < 200 || chart.SVG != chart.Width {
		t.Errorf("%s: %d px wide in a place of %d × %d", f.ID, chart.SVG, chart.Width, chart.Height)
	}
	if n := inked(whole, image.Rect(chart.X, chart.Y, chart.X+chart.Width, chart.Y+chart.Height)); n < 500 {
		t.Errorf("%s: only %d pixels differ from the background", f.ID, n)
	}
}

// inked counts the pixels in r that are not like the one in its corner.
func inked(img image.Image, r image.Rectangle) int {
	r0, g0, b0, _ := img.At(r.Min.X, r.Min.Y).RGBA()
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if r1, g1, b1, _ := img.At(x, y).RGBA(); r1 != r0 || g1 != g0 || b1 != b0 {
				n++
			}
		}
	}
	return n
}

// photograph takes a picture of the whole page, and keeps it, in pieces for a human to look at, where LOCBENCH_SHOTS names a folder.
func (b *tab) photograph(name string) image.Image {
	b.t.Helper()
	// A window as high as the page: a picture beyond the window would resize it for a moment, and the charts with it.
	size := eval[[]int64](b, `[innerWidth, document.documentElement.scrollHeight]`)
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
		b.t.Fatalf("enlarge the window: %v", err)
	}
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("photograph the page: %v", err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	dir := os.Getenv("LOCBENCH_SHOTS")
	if dir == "" {
		return img
	}
	const piece = 1500
	for i, y := 0, 0; y < img.Bounds().Dy(); i, y = i+1, y+piece {
		var out bytes.Buffer
		part := img.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(image.Rect(0, y, img.Bounds().Dx(), y+piece))
		if err := png.Encode(&out, part); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%02d.png", name, i)), out.Bytes(), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return img
}

func render(t *testing.T, run bench.Run, legs []bench.LegResult) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, run, legs, Options{Folder: "results/20260314-092653-locations"}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
