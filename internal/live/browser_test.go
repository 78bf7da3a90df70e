//go:build acceptance && browser

package live_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/live"
	"locbench/internal/report"
	"locbench/internal/results"
	"locbench/internal/testenv"
)

// running is a run that the test writes step by step, as locbench run does.
type running struct {
	t      *testing.T
	w      *results.Writer
	seq    int64
	leg    bench.Leg
	closed bool
}

func begin(t *testing.T, dir string) *running {
	t.Helper()
	r := &running{t: t, leg: bench.Leg{Contender: "a", Round: 1}}
	run := bench.Run{Schema: bench.SchemaVersion, ID: "x", State: bench.RunRunning, Started: time.Now(),
		Profile: bench.Profile{Name: "test", Rounds: 1, Contenders: []bench.Selection{{Contender: "a"}, {Contender: "b"}}},
		Legs:    []bench.LegEntry{{Leg: r.leg, State: bench.LegPending, File: "a-1.json"}, {Leg: bench.Leg{Contender: "b", Round: 1}, State: bench.LegPending, File: "b-1.json"}}}
	for i := range 12 {
		run.Profile.Steps = append(run.Profile.Steps, bench.Step{Name: fmt.Sprint(1<<i, " connections"), Connections: 1 << i, Duration: time.Second})
	}
	w, err := results.Create(dir, run, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	r.w = w
	t.Cleanup(func() {
		if !r.closed {
			w.Close()
		}
	})
	r.tell(nil, bench.RunStarted{Run: run, Dir: dir})
	r.tell(&r.leg, bench.LegStarted{Number: 1, Of: 2, Service: bench.Service{Name: "a"}})
	return r
}

func (r *running) tell(leg *bench.Leg, e bench.Event) {
	r.seq++
	r.w.Handle(bench.Record{Seq: r.seq, At: time.Now(), Leg: leg, Event: e})
}

// step runs step i.
func (r *running) step(i int) {
	step := bench.Step{Name: fmt.Sprint(1<<i, " connections"), Connections: 1 << i, Duration: time.Second}
	r.tell(&r.leg, bench.StepStarted{Index: i, Of: 12, Step: step})
	w := bench.Window{Length: time.Second, Succeeded: int64(1000 + i), P50: time.Millisecond, P99: 2 * time.Millisecond}
	r.tell(&r.leg, bench.WindowClosed{Index: i, Window: w})
	l := bench.Latencies{Count: w.Succeeded, P50: w.P50, P90: w.P99, P99: w.P99, Max: w.P99, Mean: w.P50}
	r.tell(&r.leg, bench.StepEnded{Result: bench.StepResult{Index: i, Step: step, Load: bench.Load{Elapsed: time.Second, Succeeded: w.Succeeded, Latency: l, Windows: []bench.Window{w}}}})
}

func (r *running) end() {
	r.tell(&r.leg, bench.LegEnded{State: bench.LegComplete})
	r.tell(nil, bench.RunEnded{State: bench.RunComplete})
	r.closed = true
	if err := r.w.Close(); err != nil {
		r.t.Error(err)
	}
}

// serve serves dir until the test ends, and returns the address.
func serve(t *testing.T, dir string) (url string, stop func()) {
	t.Helper()
	l, err := live.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- live.Serve(ctx, live.Options{
			Listener: l,
			Render: func() ([]byte, error) {
				run, legs, err := results.Read(dir)
				if err != nil {
					return nil, err
				}
				var page bytes.Buffer
				err = report.HTML(&page, analysis.Of(run, legs), report.Options{Folder: dir})
				return page.Bytes(), err
			},
			Follow: func(ctx context.Context, from int64, handle func([]bench.Record) error) error {
				_, err := results.Follow(ctx, dir, from, handle)
				return err
			},
			Running: func() bool { return results.Running(dir) },
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return "http://" + l.Addr().String() + "/", stop
}

// tab opens a page in a headless Chromium, and fails the test at its end if the console has said
// anything.
func tab(t *testing.T, url string) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(testenv.Chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, opts...)
	ctx, cancelTab := chromedp.NewContext(ctx)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var said []string
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, text)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && ctx.Err() == nil {
			t.Logf("stop browser: %v", err)
		}
		cancelTab()
		cancelAllocator()
		cancel()
		wg.Wait()
		for _, s := range said {
			if !strings.Contains(s, "ERR_CONNECTION_REFUSED") && !strings.Contains(s, "ERR_INCOMPLETE_CHUNKED") { // after the end of the server
				t.Error(s)
			}
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start browser: %v", err)
	}
	wg.Go(func() {
		for e, err := range chromedp.Events(ctx, runtime.ExceptionThrown) {
			if err != nil {
				return
			}
			note("exception: " + e.ExceptionDetails.Text)
		}
	})
	wg.Go(func() {
		for e, err := range chromedp.Events(ctx, log.EntryAdded) {
			if err != nil {
				return
			}
			note(fmt.Sprintf("browser log, %s: %s (%s)", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	})
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1000, 800), chromedp.Navigate(url)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	return ctx
}

// wait evaluates JavaScript until it is true.
func wait(t *testing.T, ctx context.Context, what, js string) {
	t.Helper()
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var ok bool
		if ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool](js)); err == nil && ok {
			return
		}
	}
	state, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText + ' | ' + document.documentElement.dataset.pages`))
	t.Fatalf("%s: not within 30 s (%v); the page: %s", what, err, state)
}

// TestBrowserFollowsARun opens the page while a run goes on: what runs now is reported, a step that
// has ended appears without anybody asking for it, and what the reader had chosen stays.
func TestBrowserFollowsARun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := begin(t, dir)
	r.step(0)
	r.step(1)
	url, stop := serve(t, dir)
	ctx := tab(t, url)
	const page = `document.querySelector('iframe:not(.next)').contentDocument`
	const frame = `document.querySelector('iframe:not(.next)').contentWindow`
	wait(t, ctx, "the first page", page+`.body.innerText.includes('test') && document.title.includes('locbench')`)
	wait(t, ctx, "what runs now", `document.getElementById('status').textContent.includes('1,001 req/s') && document.getElementById('light').className === 'live'`)
	r.step(2)
	wait(t, ctx, "the third step", page+`.body.textContent.includes('4 connections') || `+page+`.body.textContent.includes('1,002')`)

	// The reader chooses: a table open, a contender hidden, a column sorted, somewhere down the
	// page.
	wait(t, ctx, "the legend", `(() => { const d = `+page+`; return d.querySelectorAll('[data-contender]').length > 0 && d.querySelector('th button') !== null; })()`)
	wait(t, ctx, "choices", `(() => {
		const w = `+frame+`, d = w.document;
		[...d.querySelectorAll('details')].at(-1).open = true;
		const legend = d.querySelector('[data-contender]');
		if (legend.getAttribute('aria-pressed') === 'true') legend.click();
		const sorted = d.querySelector('th button');
		if (!sorted.closest('th').hasAttribute('aria-sort')) { sorted.click(); sorted.click(); }
		d.getElementById('fingerprint').scrollIntoView({behavior: 'instant'});
		window.top0 = d.getElementById('fingerprint').getBoundingClientRect().top;
		window.pages0 = Number(document.documentElement.dataset.pages);
		return legend.getAttribute('aria-pressed') === 'false' && sorted.closest('th').getAttribute('aria-sort') === 'descending' && w.scrollY > 100;
	})()`)
	for i := 3; i < 6; i++ {
		r.step(i)
	}
	wait(t, ctx, "a newer page", `Number(document.documentElement.dataset.pages) > window.pages0 && `+page+`.body.textContent.includes('32 connections')`)
	wait(t, ctx, "the choices, kept", `(() => {
		const d = `+page+`;
		return [...d.querySelectorAll('details')].at(-1).open && d.querySelector('[data-contender]').getAttribute('aria-pressed') === 'false'
			&& d.querySelector('th button').closest('th').getAttribute('aria-sort') === 'descending'
			&& Math.abs(d.getElementById('fingerprint').getBoundingClientRect().top - window.top0) < 40;
	})()`)
	wait(t, ctx, "charts that are looked at", `(() => {
		const w = `+frame+`, d = w.document;
		d.querySelector('[data-contender]').getAttribute('aria-pressed') === 'false' && d.querySelector('[data-contender]').click();
		d.getElementById('chart-throughput').scrollIntoView({behavior: 'instant'});
		return d.getElementById('chart-throughput').querySelector('svg, canvas') !== null;
	})()`)
	wait(t, ctx, "one frame", `document.querySelectorAll('iframe').length === 1`)

	r.end()
	wait(t, ctx, "the end of the run", `document.getElementById('status').textContent.includes('the run has ended: complete') && document.getElementById('light').className === ''`)
	wait(t, ctx, "the last page", page+`.querySelector('header').textContent.includes('complete')`)
	stop()
	wait(t, ctx, "the end of the server", `document.getElementById('status').textContent.includes('the server has ended')`)
}
