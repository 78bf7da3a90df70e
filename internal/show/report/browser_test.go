//go:build acceptance

package report

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
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

	"github.com/locbench/locbench/internal/testenv"
)

// startBrowser runs a headless Chromium with an empty profile and without a network, and stops it
// at the end of the test.
func startBrowser(t testing.TB) context.Context {
	path := testenv.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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
	err := chromedp.Do(ctx)
	testenv.Need(t, err == nil, "start browser: %v", err)
	return ctx
}

// tab is an open report. It notes everything that a report must not do.
type tab struct {
	t        testing.TB
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// watch passes the events of one kind to f until the tab is closed.
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

// open shows the document at the given width. The test fails at its end if there was a console
// message, an exception, a dialog, or a request for anything other than the file.
func open(t testing.TB, browser context.Context, document []byte, width int64, scheme string) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	testenv.OK(t, os.WriteFile(path, document, 0o644))
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
	err := chromedp.Do(ctx)
	testenv.Need(t, err == nil, "open tab: %v", err)
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
		if !strings.HasPrefix(e.Request.URL, "file://"+path) && !strings.HasPrefix(e.Request.URL, "blob:null/") { // a file that is saved
			b.note("request for %.200s", e.Request.URL)
		}
	})
	watch(b, &wg, chromedp.Events(ctx, page.JavascriptDialogOpening), func(e page.EventJavascriptDialogOpening) {
		b.note("dialog: %s", e.Message)
	})
	offline := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}}}
	testenv.OK(t, testenv.Err(chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, offline)))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	testenv.OK(t, testenv.Err(chromedp.Call(ctx, emulation.SetEmulatedMedia, media)))
	err = chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path))
	testenv.Need(t, err == nil, "open report: %v", err)
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

// until waits for a condition in the page.
func (b *tab) until(what, js string) {
	b.t.Helper()
	for range 200 {
		if eval[bool](b, js) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("timed out waiting for %s", what)
}

// click scrolls to an element and clicks it.
func (b *tab) click(selector string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { const el = document.querySelector(%q); el.scrollIntoView(); el.click(); return true; })()`, selector))
}

// unroll makes the window as high as the page, so every chart is in view, and waits until all
// charts are drawn.
func (b *tab) unroll() {
	b.t.Helper()
	size := eval[[]int64](b, `[innerWidth, document.documentElement.scrollHeight]`)
	for range 3 { // the page grows with the charts
		if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
			b.t.Fatalf("enlarge the window: %v", err)
		}
		b.until("every chart", `[...document.querySelectorAll('.chart')].every((el) => el.querySelector('svg')?.clientWidth === el.clientWidth)`)
		now := eval[[]int64](b, `[innerWidth, document.documentElement.scrollHeight]`)
		if now[1] <= size[1] {
			return
		}
		size = now
	}
}

// photograph takes a picture of the whole page. If LOCBENCH_SHOTS names a folder, it saves the
// picture there, in pieces for review.
func (b *tab) photograph(name string) image.Image {
	b.t.Helper()
	b.unroll() // a picture beyond the window would resize it for a moment, and the charts with it
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{FromSurface: new(true), OptimizeForSpeed: new(true)})
	if err != nil {
		b.t.Fatalf("photograph the page: %v", err)
	}
	img, err := png.Decode(bytes.NewReader(shot.Data))
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

// firstPaint waits until the page is loaded, and returns how long after the beginning of the navigation the
// browser painted its first text or picture.
func (b *tab) firstPaint() time.Duration {
	b.t.Helper()
	const paints = `performance.getEntriesByType('paint').filter((e) => e.name === 'first-contentful-paint')`
	b.until("the first paint", paints+`.length > 0 && performance.getEntriesByType('navigation')[0].domComplete > 0`)
	return time.Duration(eval[float64](b, paints+`[0].startTime`) * float64(time.Millisecond))
}

// BenchmarkReportShown opens a report: the time to the first paint and to the end of the page's
// script, both since the navigation began.
func BenchmarkReportShown(b *testing.B) {
	run, trials := fixtureOf(manyContenders, manyRounds)
	doc := render(b, run, trials)
	shared := startBrowser(b)
	var ready, chart float64
	var paints []time.Duration
	for b.Loop() {
		shown := open(b, shared, doc, 1280, "light")
		paints = append(paints, shown.firstPaint())
		ready += eval[float64](shown, `performance.getEntriesByType('navigation')[0].domComplete`)
		begun := time.Now()
		shown.click(`#charts`)
		shown.until("a chart", `document.querySelector('#plot-throughput svg') !== null`)
		chart += time.Since(begun).Seconds()
	}
	n := float64(len(paints))
	slices.Sort(paints)
	b.Logf("first paints: %v", paints)
	b.ReportMetric(paints[len(paints)/2].Seconds(), "s/first-paint")
	b.ReportMetric(paints[len(paints)-1].Seconds(), "s/first-paint-max")
	b.ReportMetric(ready/n/1000, "s/whole-page")
	b.ReportMetric(chart/n, "s/charts-after-scroll")
}
