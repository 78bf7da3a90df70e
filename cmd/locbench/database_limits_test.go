//go:build acceptance && database && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// group is the cgroup of a container, read without locbench.
type group struct {
	t    *testing.T
	pid  string
	dirs map[string]string // folder by controller of v1; v2 under ""
}

func groupOf(t *testing.T, pid string) (g group, ok bool) {
	g = group{t, pid, map[string]string{}}
	data, err := os.ReadFile("/proc/" + pid + "/cgroup")
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for c := range strings.SplitSeq(f[1], ",") {
			point := "/sys/fs/cgroup/" + c
			if _, err := os.Stat("/sys/fs/cgroup/unified"); c == "" && err == nil {
				point = "/sys/fs/cgroup/unified"
			}
			g.dirs[c] = point + f[2]
		}
	}
	return g, err == nil
}

// v1 reports whether cgroup v1 counts what disks do.
func (g group) v1() bool { return g.dirs["blkio"] != "" }

// slow limits the writes of the group to a number of operations per second.
func (g group) slow(operations int) {
	file, line := filepath.Join(g.dirs[""], "io.max"), fmt.Sprintf("%s wiops=%d", disk(g.t), operations)
	if g.v1() {
		file, line = filepath.Join(g.dirs["blkio"], "blkio.throttle.write_iops_device"), fmt.Sprintf("%s %d", disk(g.t), operations)
	}
	testenv.OK(g.t, os.WriteFile(file, []byte(line), 0))
}

// disk returns the disk that has Docker's files: "254:0".
func disk(t *testing.T) string {
	t.Helper()
	root := testenv.Must(exec.Command("docker", "info", "--format", "{{.DockerRootDir}}").Output())(t)
	var s syscall.Stat_t
	testenv.OK(t, syscall.Stat(strings.TrimSpace(string(root)), &s))
	at := fmt.Sprintf("/sys/dev/block/%d:%d", s.Dev>>8&0xfff, s.Dev&0xff|s.Dev>>12&0xfff00)
	if _, err := os.Stat(at + "/partition"); err == nil {
		at += "/.."
	}
	return strings.TrimSpace(readFile(t, at+"/dev"))
}

// counters of a group at a time, by their names.
type counters struct {
	at     time.Time
	values map[string]float64
}

// read reads the files of the group; false: it is gone.
func (g group) read() (c counters, ok bool) {
	c, ok = counters{time.Now(), map[string]float64{}}, true
	add := func(name, file, pattern string, unit float64) {
		data, err := os.ReadFile(file)
		ok = ok && err == nil
		for _, number := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(data), -1) {
			n, _ := strconv.ParseFloat(number[1], 64)
			c.values[name] += n * unit
		}
	}
	for name, of := range map[string]struct{ v1, pattern1, v2 string }{
		"cpu": {"cpuacct/cpuacct.usage", `^(\d+)`, "cpu.stat usage_usec"}, "throttled": {"cpu/cpu.stat", `nr_throttled (\d+)`, "cpu.stat nr_throttled"},
		"read":    {"blkio/blkio.throttle.io_service_bytes", `Read (\d+)`, "io.stat rbytes"},
		"written": {"blkio/blkio.throttle.io_service_bytes", `Write (\d+)`, "io.stat wbytes"},
		"reads":   {"blkio/blkio.throttle.io_serviced", `Read (\d+)`, "io.stat rios"}, "writes": {"blkio/blkio.throttle.io_serviced", `Write (\d+)`, "io.stat wios"},
	} {
		if g.v1() {
			controller, file, _ := strings.Cut(of.v1, "/")
			add(name, filepath.Join(g.dirs[controller], file), of.pattern1, 1)
			continue
		}
		file, key, _ := strings.Cut(of.v2, " ")
		unit := 1.
		if name == "cpu" {
			unit = 1000
		}
		add(name, filepath.Join(g.dirs[""], file), key+`[ =](\d+)`, unit)
	}
	add("received", "/proc/"+g.pid+"/net/dev", `eth\d+: *(\d+)`, 1)
	add("sent", "/proc/"+g.pid+"/net/dev", `eth\d+: *(?:\d+ +){8}(\d+)`, 1)
	return c, ok
}

// runWithDatabase runs p.yaml, and calls found with the group of each container of the need db.
func runWithDatabase(t *testing.T, dir string, found func(group)) (stdout string, trials []bench.TrialResult) {
	t.Helper()
	run := startLocbench(t, dir, "run", "-p", "p.yaml", "--headless", "-o", "out")
	for seen := map[string]bool{}; ; {
		select {
		case <-run.done:
			run.succeeds(time.Minute)
			_, trials = readClean(t, filepath.Join(dir, "out"))
			return run.stdout.String(), trials
		case <-time.After(50 * time.Millisecond):
		}
		if now, _, _ := results.Read(filepath.Join(dir, "out")); now.ID != "" {
			out, _ := exec.Command("docker", "ps", "-q", "--no-trunc", "--filter", "label=locbench.run="+now.ID, "--filter", "name=-db-").Output()
			for _, id := range strings.Fields(string(out)) {
				pid, _ := exec.Command("docker", "inspect", "--format", "{{.State.Pid}}", id).Output()
				if g, ok := groupOf(t, strings.TrimSpace(string(pid))); ok && !seen[id] {
					seen[id] = true
					found(g)
				}
			}
		}
	}
}

// named fails unless the database is the bottleneck of a step, with these words, in all trials.
// Those in which other programs had the machine's CPUs say nothing, and may be half of them.
func named(t *testing.T, trials []bench.TrialResult, step int, words string) {
	t.Helper()
	n, crowded := 0, 0
	for _, trial := range trials {
		if step >= len(trial.Steps) {
			continue
		}
		by := verdict.Trial(runtime.NumCPU(), trial)[step]
		switch {
		case by.Bound == "db" && strings.Contains(by.Text, words):
			n++
		case by.Bound == verdict.Machine && verdict.ShareOfOthers(trial.Steps[step], 0) > 0:
			crowded++
			fallthrough
		default:
			t.Logf("%s: %s", trial.Trial, by)
		}
	}
	t.Logf("named in %d of %d trials, %d crowded by other programs", n, len(trials), crowded)
	testenv.Check(t, len(trials) == 10 && n+crowded == 10 && n >= 5, "db is named in %d of %d trials", n, len(trials))
}

// TestDatabase_LimitedByCPU: a database with 0.2 CPUs is the bottleneck in each of ten trials.
func TestDatabase_LimitedByCPU(t *testing.T) {
	dir := observe(t, postgresImage(t), "").books(t, "limits: {cpus: 0.2, memory: 256M}\nseed: [schema.sql]", "rounds: 10\nruntime: process\n")
	editFile(t, filepath.Join(dir, "p.yaml"), "{post: /books, expect: {status: 201}}", "{name: rows, get: /count}") // no waiting for a disk
	stdout, trials := runWithDatabase(t, dir, func(group) {})
	named(t, trials, 1, "of its 0.2 CPUs")
	testenv.Contains(t, stdout, "db: ", "of its 0.2 CPUs", "at peak: need db: ", "CPU time per request", "with needs, by CPU time used")
}

// TestDatabase_LimitedByDisk: a database whose disk makes 20 writes a second is the bottleneck in
// each of ten trials, with its waiting for the disk.
func TestDatabase_LimitedByDisk(t *testing.T) {
	dir := observe(t, postgresImage(t), "").books(t, "limits: {cpus: 1, memory: 256M}\nseed: [schema.sql]", "rounds: 10\nruntime: process\n")
	editFile(t, filepath.Join(dir, "p.yaml"), "step_duration: 1s", "step_duration: 3s", "steps: [1, 4]", "steps: [4 warm-up for 3s, 1, 4]")
	first := true // it is seeded; its copies are slowed once they have started
	stdout, trials := runWithDatabase(t, dir, func(g group) {
		if !first {
			time.Sleep(time.Second)
			g.slow(20)
		}
		first = false
	})
	named(t, trials, 2, "waits for disk")
	testenv.Contains(t, stdout, "db: waits for disk ", "waiting for disk")
}

// TestDatabase_Counters: CPU time, throttling, disk and network of a database in a step are those
// of its cgroup, as read a hundred times a second without locbench.
func TestDatabase_Counters(t *testing.T) {
	dir := observe(t, postgresImage(t), "").books(t, "limits: {cpus: 0.1, memory: 256M}\nseed: [schema.sql]", "runtime: process\n")
	editFile(t, filepath.Join(dir, "p.yaml"), "step_duration: 1s", "step_duration: 10s", "steps: [1, 4]", "steps: [4 warm-up for 1s, 4]")
	var samples []counters
	_, trials := runWithDatabase(t, dir, func(g group) {
		if g.v1() {
			g.slow(1_000_000) // newer kernels count nothing on v1 before there is a limit
		}
		for {
			c, ok := g.read()
			if !ok {
				return
			}
			samples = append(samples, c)
			time.Sleep(10 * time.Millisecond)
		}
	})
	step := trials[0].Steps[1]
	b, a, used := step.HostBefore.Needs["db"], step.HostAfter.Needs["db"], step.Need("db")
	testenv.Check(t, used.CPU != nil && used.Throttling != nil && used.Disk != nil && used.Network != nil && used.Pressure != nil, "%+v", used)
	// the last sample before a time, and the first one after it
	around := func(at time.Time) (before, after counters) {
		i, _ := slices.BinarySearchFunc(samples, at, func(c counters, at time.Time) int { return c.at.Compare(at) })
		testenv.Check(t, i > 0 && i < len(samples), "%d of %d samples", i, len(samples))
		return samples[i-1], samples[i]
	}
	b1, b2 := around(b.At)
	a1, a2 := around(a.At)
	for name, got := range map[string]float64{
		"cpu": float64(*used.CPU), "throttled": float64(used.Throttling.Throttled), "written": float64(used.Disk.Written),
		"writes": float64(used.Disk.Writes), "read": float64(used.Disk.Read), "reads": float64(used.Disk.Reads),
		"received": float64(used.Network.Received), "sent": float64(used.Network.Sent),
	} {
		low, high := a1.values[name]-b2.values[name], a2.values[name]-b1.values[name]
		t.Logf("%-9s %.0f, by the cgroup %.0f to %.0f", name, got, low, high)
		testenv.Check(t, got >= .99*low && got <= 1.01*high, "%s is %.0f, by the cgroup %.0f to %.0f", name, got, low, high)
		testenv.Check(t, high-low <= .03*high+100, "%s: the samples are too far apart: %.0f to %.0f", name, low, high)
	}
}
