//go:build acceptance && browser && unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"locbench/internal/testenv"
)

// TestARunIsFollowed runs a benchmark and, while it goes on, follows its report in a browser and
// its figures as Prometheus would, by address and by pushes. Nothing of it is made up by the test:
// processes, files, browser and gateway are real.
func TestARunIsFollowed(t *testing.T) {
	chromium := testenv.Chromium(t)
	t.Parallel()
	dir := t.TempDir()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond) // the browser needs the CPUs as well
		fmt.Fprint(w, "{}")
	}))
	defer service.Close()
	var mu sync.Mutex
	var pushed []string
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		pushed = append(pushed, string(body))
	}))
	defer gateway.Close()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, opts...)
	defer cancelAllocator()
	ctx, cancelTab := chromedp.NewContext(ctx)
	defer cancelTab()
	if err := chromedp.Do(ctx); err != nil { // before the run, which does not wait for it
		t.Fatal(err)
	}
	server := startLocbench(t, dir, "report", "--serve")
	if server.waitLine("http://") != "" { // without a name it is the newest run in ./results, and there is none
		t.Fatal("it serves what is not there")
	}
	if code := server.wait(time.Minute); code != 2 {
		t.Errorf("exit code %d, want 2: %s", code, server.stderr.String())
	}
	run := startLocbench(t, dir, "run", "--headless", "--target", service.URL, "--no-checks", "--connections", "1,2,4", "--duration", "4s", "-o", "out",
		"--threshold", "throughput>900000000", "--metrics-listen", "127.0.0.1:0", "--push-url", gateway.URL, "--push-every", "1s")
	out := filepath.Join(dir, "out")
	run.waitEvent(out, stepStarted(0))
	server = startLocbench(t, dir, "report", "--serve", "out")
	address := server.waitLine("http://")

	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	see := func(what, js string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](js)); err == nil && ok {
				return
			}
		}
		t.Fatalf("%s: not seen; the run says:\n%s", what, run.stderr.String())
	}
	const page = `document.querySelector('iframe:not(.next)').contentDocument`
	see("a second of load", `document.getElementById('status').textContent.includes('req/s') && document.getElementById('light').className === 'live'`)

	// Prometheus asks in the middle of a step.
	metrics := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lineWith(run.stderr.String(), "/metrics")), "metrics"))
	testenv.Until(t, 30*time.Second, "throughput at the metrics' address", func() bool {
		resp, err := http.Get(metrics)
		if err != nil {
			t.Fatalf("ask for metrics at %q: %v\n%s", metrics, err, run.stderr.String())
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		return strings.Contains(string(body), `locbench_throughput{contender="target",round="1"`)
	})

	see("the end of the run", `document.getElementById('status').textContent.includes('the run has ended: complete')`)
	see("its last page", page+`.querySelector('header').textContent.includes('complete') && `+page+`.getElementById('thresholds') !== null && Number(document.documentElement.dataset.pages) >= 2`)
	if code := run.wait(time.Minute); code != 4 {
		t.Errorf("exit code %d, want 4: %s", code, run.stderr.String())
	}
	mu.Lock()
	if n := len(pushed); n < 3 || !strings.Contains(pushed[n-1], "locbench_run_running 0") || !strings.Contains(pushed[n-1], `locbench_thresholds_missed_total{contender="target"} 3`) {
		t.Errorf("%d pushes, the last:\n%s", n, pushed[max(0, n-1):])
	}
	mu.Unlock()

	server.signal(os.Interrupt)
	if code := server.wait(20 * time.Second); code != 0 {
		t.Errorf("the server ended with %d: %s", code, server.stderr.String())
	}
}

// waitLine waits for a line of standard output that begins so, and returns it; "" when the command
// has ended without one.
func (c *command) waitLine(prefix string) string {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if line := lineWith(c.stdout.String(), prefix); line != "" {
			return line
		}
		select {
		case <-c.done:
			return lineWith(c.stdout.String(), prefix)
		default:
		}
	}
	return ""
}

func lineWith(text, part string) string {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if strings.Contains(lines.Text(), part) {
			return lines.Text()
		}
	}
	return ""
}
