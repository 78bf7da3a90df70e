//go:build acceptance && unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// BenchmarkScreen compares runs with and without a screen, in alternating pairs: a step of 2048
// connections each, with the screen on a terminal of 200 by 50 cells. It prints the CPU time of the
// screen's process, the ratio of the throughputs, and the time until a key shows. Of LOCBENCH_BENCH_PAIRS
// pairs (6) with steps of LOCBENCH_BENCH_STEP (20s), each takes about a minute. "make bench-tui" runs it.
func BenchmarkScreen(b *testing.B) {
	testenv.Docker(b)
	length, err := time.ParseDuration(os.Getenv("LOCBENCH_BENCH_STEP"))
	if err != nil {
		length = 20 * time.Second
	}
	testenv.Locbench(b) // built before the measurements
	var ratios, shares []float64
	var keys []time.Duration
	for i := range number("LOCBENCH_BENCH_PAIRS", 6) {
		var watched, alone float64
		for _, live := range []bool{i%2 == 0, i%2 != 0} {
			dir := b.TempDir()
			if !live {
				succeeds(b, dir, append(benchArgs(length), "--headless", "-q")...)
				alone = benchThroughput(b, dir)
				continue
			}
			rate, share, took := benchWatched(b, dir, length)
			watched, shares, keys = rate, append(shares, share), append(keys, took...)
		}
		ratios = append(ratios, watched/alone)
		b.Logf("pair %d: %.0f req/s watched, %.0f alone, ratio %.4f; screen %.2f%% of one CPU", i+1, watched, alone, watched/alone, 100*shares[i])
	}
	slices.Sort(keys)
	median, _ := stats.Median(ratios)
	share, _ := stats.Median(shares)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median, "watched/alone")
	b.ReportMetric(100*share, "%CPU")
	b.ReportMetric(100*slices.Max(shares), "%CPU-max")
	if len(keys) > 0 {
		b.ReportMetric(float64(keys[len(keys)/2])/1e6, "ms-key-p50")
		b.ReportMetric(float64(keys[len(keys)-1])/1e6, "ms-key-max")
	}
	if interval, ok := stats.MedianInterval(ratios, 0.95); ok {
		b.Logf("95%% interval of the median ratio: %.4f to %.4f", interval.Low, interval.High)
	}
}

func benchArgs(length time.Duration) []string {
	return []string{"run", "go-nethttp", "--runtime", "docker", "--no-checks", "--connections", "2048", "--duration", length.String(), "--cities", "500", "--seed", "1", "-o", "out"}
}

func benchThroughput(b *testing.B, dir string) float64 {
	b.Helper()
	_, trials := read(b, filepath.Join(dir, "out"))
	testenv.Need(b, len(trials) == 1 && len(trials[0].Steps) == 1, "%d trials", len(trials))
	return trials[0].Steps[0].Load.Throughput()
}

// benchWatched returns the throughput, the screen's share of one CPU in the middle of the step, and
// the latency of keys.
func benchWatched(b *testing.B, dir string, length time.Duration) (rate, share float64, keys []time.Duration) {
	b.Helper()
	cmd := exec.Command(testenv.Locbench(b), benchArgs(length)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	terminal := testenv.Must(pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200}))(b)
	defer terminal.Close()
	shown := &shownText{}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		shown.read(terminal)
	}()
	out := filepath.Join(dir, "out")
	testenv.Until(b, 2*time.Minute, "a step begins", func() bool {
		found := false
		_ = eachEvent(out, func(r bench.Record) error {
			_, is := r.Event.(bench.StepStarted)
			found = found || is
			return nil
		})
		return found
	})
	// The first and the last part of the step are not measured: connections open then, and keys are
	// pressed.
	time.Sleep(length / 10)
	before, at := testenv.CPUTime(b, cmd.Process.Pid), time.Now()
	time.Sleep(length * 6 / 10)
	share = float64(testenv.CPUTime(b, cmd.Process.Pid)-before) / float64(time.Since(at))
	for range 10 {
		keys = append(keys, shown.after(b, terminal, "?", "ctrl+z"))
		_, _ = terminal.WriteString("?") // any key closes the help
		time.Sleep(length / 100)
	}
	testenv.OK(b, cmd.Wait())
	_ = terminal.Close()
	<-drained
	return benchThroughput(b, dir), share, keys
}

// number returns the value of an environment variable, or another one without it.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// shownText is the output to a terminal, with the time at which a text was seen in it.
type shownText struct {
	mu      sync.Mutex
	awaited string
	tail    []byte
	seen    chan time.Time
}

func (s *shownText) read(f *os.File) {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		now := time.Now()
		s.mu.Lock()
		s.tail = append(s.tail, buf[:n]...)
		if s.awaited != "" && bytes.Contains(s.tail, []byte(s.awaited)) {
			s.awaited = ""
			s.seen <- now
		}
		if len(s.tail) > 1<<10 {
			s.tail = append([]byte(nil), s.tail[len(s.tail)-64:]...)
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// after presses a key and returns the time until the text was sent to the terminal.
func (s *shownText) after(b *testing.B, f *os.File, key, text string) time.Duration {
	b.Helper()
	s.mu.Lock()
	s.awaited, s.tail, s.seen = text, nil, make(chan time.Time, 1)
	seen := s.seen
	s.mu.Unlock()
	pressed := time.Now()
	testenv.OK(b, testenv.Err(f.WriteString(key)))
	select {
	case at := <-seen:
		return at.Sub(pressed)
	case <-time.After(10 * time.Second):
		b.Fatalf("%q does not show %q", key, text)
		return 0
	}
}
