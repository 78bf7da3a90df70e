//go:build acceptance && linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/loadtools"
)

// tool runs another load tool, and returns what it says and what the kernel says of its CPU time.
func tool(b *testing.B, t loadtools.Tool, l loadtools.Load) (values, error) {
	cmd := exec.CommandContext(b.Context(), "sh", "-c", t.Command(l))
	cmd.Dir = b.TempDir()
	out, err := cmd.Output()
	got := t.Read(out)
	if err != nil || got.Good <= 0 {
		return nil, fmt.Errorf("%s: %v, %.0f responses: %.300s", t.Name, err, got.Good, out)
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return values{rate: got.Rate, perRequest: cpu / got.Good * 1e6, perCPU: got.Good / cpu}, nil
}

// locbench runs a binary of locbench as a user does, and reads the clocks of its processes between the two ends of the
// measured interval. What it starts otherwise, such as contenders, does not count.
func locbench(b *testing.B, binary string, r row, url string, seconds int) (values, error) {
	args := []string{"run", "--headless", "--quiet", "--out", "out", "--duration", strconv.Itoa(seconds) + "s"}
	dir := b.TempDir()
	if r.on == "contender" {
		args = append(args, "--runtime", "process", "--no-checks", "--connections", strconv.Itoa(r.connections))
	} else {
		text := fmt.Sprintf("%s\nsteps: [{%sconnections: %d}]\n", cmp.Or(r.profile, "requests: [{get: "+r.path+"}]"),
			map[bool]string{true: fmt.Sprintf("rate: %d, ", r.rate)}[r.rate > 0], r.connections)
		testenv.OK(b, os.WriteFile(filepath.Join(dir, "p.yaml"), []byte(text), 0o600))
		args = append(args, "--profile", "p.yaml", "--target", url)
	}
	cmd := exec.CommandContext(b.Context(), binary, args...)
	var said strings.Builder
	cmd.Dir, cmd.Stderr = dir, &said
	testenv.OK(b, cmd.Start())
	w := watcher{run: cmd.Process.Pid, threads: map[string]int64{}, more: r.bars[0].measure == share || r.bars[0].measure == memory}
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		w.watch(b, ended)
	}()
	err := cmd.Wait()
	close(ended)
	<-watched
	trials, _ := filepath.Glob(filepath.Join(dir, "out", "*-1.json"))
	if err != nil || len(trials) != 1 {
		return nil, fmt.Errorf("%s %s: %v, trials %q: %.900s", binary, args, err, trials, said.String())
	}
	var trial bench.TrialResult
	testenv.OK(b, json.Unmarshal(testenv.Must(os.ReadFile(trials[0]))(b), &trial))
	l := trial.Steps[0].Load
	if l.FailedTotal() > 0 {
		return nil, fmt.Errorf("%s %s: %d failed: %v", binary, args, l.FailedTotal(), l.Examples)
	}
	from, to := w.at(l.Started), w.at(l.Started.Add(l.Elapsed))
	cpu, n, elapsed := (to.cpu - from.cpu).Seconds(), float64(l.Succeeded), l.Elapsed.Seconds()
	f := values{rate: n / elapsed, share: 100 * cpu / elapsed, memory: float64(w.memory) / 1e6, wakeUps: float64(to.wakeUps-from.wakeUps) / elapsed}
	if n > 0 {
		f[perRequest], f[perCPU], f[delay] = cpu/n*1e6, n/cpu, float64(l.Lag.P99)/1e3
	}
	return f, nil
}

// reading is what the processes of a run have used at a time.
type reading struct {
	at      time.Time
	cpu     time.Duration
	wakeUps int64
}

// watcher reads the clocks of a run and of its load's process.
type watcher struct {
	run, load int
	more      bool // wake-ups and memory, too, which take longer
	all       []reading
	threads   map[string]int64 // wake-ups by the file of the thread
	memory    int64            // at most; what processes share is divided by their number
}

// at returns what was used at a time, from the readings around it.
func (w *watcher) at(t time.Time) reading {
	for i := 1; i < len(w.all); i++ {
		if a, b := w.all[i-1], w.all[i]; !b.at.Before(t) {
			part := float64(t.Sub(a.at)) / float64(b.at.Sub(a.at))
			return reading{t, a.cpu + time.Duration(part*float64(b.cpu-a.cpu)), a.wakeUps + int64(part*float64(b.wakeUps-a.wakeUps))}
		}
	}
	return reading{}
}

func (w *watcher) watch(b *testing.B, ended <-chan struct{}) {
	for {
		if w.load == 0 {
			w.load = testenv.LoadProcess(b, w.run)
		}
		now := reading{at: time.Now()}
		for _, pid := range []int{w.run, w.load} {
			var t unix.Timespec
			if pid > 0 && unix.ClockGettime(int32(^pid<<3|2), &t) == nil { // its clock: see clock_getcpuclockid(3)
				now.cpu += time.Duration(t.Nano())
			}
		}
		pause := 10 * time.Millisecond
		if w.more {
			pause = 200 * time.Millisecond
			w.readMore(&now)
		}
		w.all = append(w.all, now)
		select {
		case <-ended:
			return
		case <-time.After(pause):
		}
	}
}

func (w *watcher) readMore(now *reading) {
	var memory int64
	for _, pid := range []int{w.run, w.load} {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)) // the pattern is right
		for _, f := range files {
			w.threads[f] = max(w.threads[f], number(f, "voluntary_ctxt_switches:"))
		}
		memory += 1024 * number(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
	}
	w.memory = max(w.memory, memory)
	for _, n := range w.threads {
		now.wakeUps += n
	}
}

// number returns that of a line of a file of /proc; 0 if the file is gone.
func number(file, name string) int64 {
	text, _ := os.ReadFile(file)
	_, rest, _ := strings.Cut("\n"+string(text), "\n"+name)
	n, _ := strconv.ParseInt(append(strings.Fields(rest), "0")[0], 10, 64)
	return n
}
