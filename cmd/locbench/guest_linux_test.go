//go:build acceptance && cgroup2

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/testenv"
)

// The tests in this file run in the virtual machines of TestV2Host and TestPodman, otherwise idle cgroup v2 hosts
// with systemd.
//
// They check facts: the kernel's counters, responses, leftovers. The CPU is emulated, and the
// emulating machine may be busy: times, rates and shares of a CPU mean nothing here. Loads end by
// their number of requests, and all waiting is for an event.
func guestRuntimes(t *testing.T, f func(t *testing.T, runtime string)) {
	t.Helper()
	names := os.Getenv(guestVariable)
	if names == "" {
		t.Skip("it runs in the virtual machine of TestV2Host")
	}
	for name := range strings.SplitSeq(names, ",") {
		t.Run(name, func(t *testing.T) { f(t, name) })
	}
}

// systemd returns a command to the systemd that this user's units belong to. In the network of a
// rootless engine the user seems to be root.
func systemd(command string, args ...string) *exec.Cmd {
	if os.Getenv("XDG_RUNTIME_DIR") != "" {
		args = append([]string{"--user"}, args...)
	}
	return exec.Command(command, append([]string{"--quiet"}, args...)...)
}

func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	testenv.Check(t, err == nil, "%s: %v: %s", cmd, err, out)
}

// guestPatience is the timeout for a single event, even if the emulation is slow.
const guestPatience = 10 * time.Minute

func init() {
	if os.Getenv(guestVariable) != "" {
		eventPatience = guestPatience
	}
}

// guestFaulty returns the faulty contender, with a ready timeout for a seventh of an emulated CPU.
func guestFaulty(t *testing.T, fault string) string {
	t.Helper()
	dir := faulty(t, fault, 1<<30)
	editFile(t, filepath.Join(dir, "service.yaml"), `"timeout":"10s"`, `"timeout":"`+guestPatience.String()+`"`)
	return dir
}

// guestProfile loads the faulty contender in one round. Steps end by their number of requests.
func guestProfile(t *testing.T, runtime, more string, steps ...string) string {
	t.Helper()
	return profileFile(t, `contenders: [faulty]
rounds: 1
runtime: `+runtime+`
`+more+`
isolation: off
requests:
  - {name: light, path: /}
  - {name: fault, path: /later}
timeout: 1m
compare_bodies: none
checks: {lifecycle: none, suites: []}
step_duration: `+guestPatience.String()+`
steps:
`+strings.Join(steps, ""))
}

func guestStep(connections int, request string, requests int) string {
	return fmt.Sprintf("  - {connections: %d, request: %s, max_requests: %d}\n", connections, request, requests)
}

// ended waits for the end of a run and checks its exit code and the words on standard error.
func ended(t *testing.T, d *disturbed, code int, words ...string) (bench.Run, bench.TrialResult) {
	t.Helper()
	d.wait(guestPatience)
	run, trials := d.ends(code, words...)
	testenv.Need(t, len(trials) == 1, "%d trials", len(trials))
	return run, trials[0]
}

// TestGuestReadings limits a contender to 0.15 CPUs and 64 MiB, makes systemd reload its groups in
// the first step and the contender touch 32 MiB per request of the second. It compares all values
// in the results with the kernel's own files before and after each reading. The quota is small
// because the emulated CPU, shared with an engine, may be slow: the contender spins, so the kernel
// throttles it in every step.
func TestGuestReadings(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		limits := "cpus: 0.15, memory: 64MiB, pids: 100"
		if os.Getenv("XDG_RUNTIME_DIR") == "" {
			limits += ", cpu_set: 1" // Debian's systemd lets no user without root set it
		}
		requests := []int64{200, 3, 100}
		profile := guestProfile(t, runtime, "limits: {"+limits+"}",
			guestStep(4, "light", 200), guestStep(1, "fault", 3), guestStep(4, "light", 100))
		d := disturb(t, nil, "run", "--headless", "-v", "-p", profile, "--services", guestFaulty(t, "touch"))
		d.waitEvent(d.out, func(r bench.Record) bool { _, ok := r.Event.(bench.InstanceStarted); return ok })
		kernel := watchKernel(t, lastInstance(t, d.out).PID, d.done)
		d.waitEvent(d.out, stepStarted(0))
		must(t, systemd("systemctl", "daemon-reload"))
		must(t, systemd("systemd-run", "--wait", "true"))
		run, trial := ended(t, d, 0)

		if i := trial.Instance; string(i.Runtime) != runtime || !i.LimitsEnforced || i.LimitsNote != "" {
			t.Errorf("in %s, limits enforced: %v, %q", i.Runtime, i.LimitsEnforced, i.LimitsNote)
		}
		for file, want := range map[string]string{"cpu.max": "15000 100000", "memory.max": strconv.Itoa(64 << 20), "pids.max": "100"} {
			testenv.Equal(t, kernel.limits[file], want, file)
		}
		testenv.Check(t, kernel.limits["cpuset.cpus"] != "" || !strings.Contains(limits, "cpu_set"),
			"the kernel knows of no CPU set")
		changed := kernel.end()
		testenv.Check(t, len(changed) <= 0, "changed limits: %q", changed)
		testenv.Need(t, len(trial.Steps) == 3, "%d steps", len(trial.Steps))
		verdicts := verdict.Trial(run.Machine.CPUs, trial)
		held := 0
		for i, s := range trial.Steps {
			if s.Before == nil || s.After == nil || s.Load.Succeeded != requests[i] || s.Load.FailedTotal() != 0 {
				t.Fatalf("step %d: %+v to %+v, %d of %d succeeded, failed %v", i+1, s.Before, s.After, s.Load.Succeeded, requests[i], s.Load.Failed)
			}
			for _, u := range []*bench.Usage{s.Before, s.After} {
				if kernel.holds(t, *u) {
					held++
				}
			}
			th, ok := s.Throttling()
			testenv.Check(t, ok && th.Throttled != 0 && th.Throttled <= th.Periods && th.Time > 0,
				"step %d: one that spins was not throttled: %+v, known: %v", i+1, th, ok)
			t.Logf("step %d: %d of %d periods throttled, %v lost; %s", i+1, th.Throttled, th.Periods, th.Time, verdicts[i])
			if p := s.Pressure(); p == nil || p.CPU == nil || p.CPU.Some == 0 || p.Memory == nil || p.IO == nil {
				t.Errorf("step %d: pressure %+v", i+1, p)
			}
		}
		if held < 4 { // on a slow machine the kernel's files may be read only after the first reading
			t.Errorf("only %d of 6 readings lie between two of the kernel's files", held)
		}
		highWater(t, trial.Steps, d.stderr.String())
	})
}

// highWater checks that only the second step has its 32 MiB in the high-water mark if the kernel
// can reset the mark; otherwise no step has a mark.
func highWater(t *testing.T, steps []bench.StepResult, said string) {
	t.Helper()
	var marks []int64
	for _, s := range steps {
		if m := s.After.Memory; m.PeakSource != "memory.peak" || m.PeakIsSample {
			t.Errorf("the high-water mark since start is of %q, a sample: %v", m.PeakSource, m.PeakIsSample)
		}
		if n, ok := s.StepPeak(); ok {
			marks = append(marks, n)
		}
	}
	t.Logf("kernel %s: marks of the steps %v, since start %d", kernelRelease(t), marks, steps[2].After.Memory.Peak)
	if before, after := steps[0].After.Memory.Peak, steps[2].After.Memory.Peak; before >= 32<<20 || after < 32<<20 {
		t.Errorf("32 MiB touched: the mark since start went from %d to %d", before, after)
	}
	if !atLeast(kernelRelease(t), 6, 12) {
		if len(marks) > 0 || strings.Contains(said, "in this step") {
			t.Errorf("kernel %s begins no mark again, but steps have marks: %v", kernelRelease(t), marks)
		}
		return
	}
	testenv.Check(t, strings.Contains(said, "in this step"), "the text does not tell of the marks of the steps")
	testenv.Check(t, len(marks) == 3 && marks[1] >= marks[0]+24<<20 && marks[1] >= marks[2]+24<<20,
		"32 MiB touched in the second step, marks of the steps: %v", marks)
}

func kernelRelease(t *testing.T) string {
	t.Helper()
	var name unix.Utsname
	testenv.OK(t, unix.Uname(&name))
	return unix.ByteSliceToString(name.Release[:])
}

// atLeast compares the release of a kernel, such as 6.12.107+deb13-cloud-amd64.
func atLeast(release string, major, minor int) bool {
	first, rest, _ := strings.Cut(release, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(first)
	b, _ := strconv.Atoi(second)
	return a > major || a == major && b >= minor
}

func windowClosed(step int) func(bench.Record) bool {
	return when(func(e bench.WindowClosed) bool { return e.Index == step })
}

// kernelFiles are the files of one group, read again and again by code that shares nothing with
// locbench's.
type kernelFiles struct {
	limits  map[string]string // at the start
	done    chan struct{}
	all     []kernelReading
	changed []string // limits that changed later
}

// end waits for the last reading.
func (k *kernelFiles) end() (changed []string) {
	<-k.done
	return k.changed
}

// kernelReading was begun at from and ended at to.
type kernelReading struct {
	from, to time.Time
	values   map[string]int64
}

// watchKernel reads the files of the group of a process until done is closed.
func watchKernel(t *testing.T, pid int, done <-chan struct{}) *kernelFiles {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	group, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "0::")
	testenv.Need(t, err == nil && ok, "the group of process %d: %q, %v", pid, data, err)
	dir := filepath.Join("/sys/fs/cgroup", group)
	k := &kernelFiles{limits: limitsOf(dir), done: make(chan struct{})}
	go func() {
		defer close(k.done)
		for {
			r := kernelReading{from: time.Now(), values: map[string]int64{}}
			for _, name := range []string{"cpu.stat", "memory.peak", "memory.events", "cpu.pressure"} {
				text, _ := os.ReadFile(filepath.Join(dir, name)) // the group is removed before locbench ends
				keep(r.values, name, string(text))
			}
			r.to = time.Now()
			now := limitsOf(dir)
			if _, err := os.Stat(dir); err != nil {
				return
			}
			k.all = append(k.all, r)
			if !maps.Equal(now, k.limits) && len(k.changed) == 0 {
				k.changed = append(k.changed, fmt.Sprintf("%v, then %v", k.limits, now))
			}
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { <-k.done })
	return k
}

func limitsOf(dir string) map[string]string {
	limits := map[string]string{}
	for _, name := range []string{"cpu.max", "cpuset.cpus", "memory.max", "pids.max"} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		limits[name] = strings.TrimSpace(string(text))
	}
	return limits
}

// keep reads lines of "name number", of a number alone, and of pressure ("some avg10=… total=12").
func keep(values map[string]int64, file, text string) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		key, last := file, strings.TrimPrefix(f[len(f)-1], "total=")
		if len(f) > 1 {
			key += " " + f[0]
		}
		if n, err := strconv.ParseInt(last, 10, 64); err == nil {
			values[key] = n
		}
	}
}

// holds checks a reading of locbench between two readings of the kernel's files, before and after
// it; it is false without those. All of these values only grow.
func (k *kernelFiles) holds(t *testing.T, u bench.Usage) bool {
	t.Helper()
	after := slices.IndexFunc(k.all, func(r kernelReading) bool { return r.from.After(u.At.Add(u.Took)) })
	before := -1
	for i, r := range k.all {
		if r.to.Before(u.At.Add(-u.Took)) {
			before = i
		}
	}
	if before < 0 || after < 0 {
		t.Logf("no reading of the kernel's files before and after %v: %d in all", u.At, len(k.all))
		return false
	}
	if u.Source != "cgroup v2" || u.Throttling == nil || u.Memory == nil || u.Pressure == nil || u.Pressure.CPU == nil {
		t.Errorf("a reading from %q: %+v", u.Source, u)
		return false
	}
	testenv.Check(t, u.Memory.Limit == 64<<20, "a memory limit of %d", u.Memory.Limit)
	for key, value := range map[string]int64{
		"cpu.stat usage_usec": u.CPU.Microseconds(), "cpu.stat nr_periods": u.Throttling.Periods, "cpu.stat nr_throttled": u.Throttling.Throttled,
		"cpu.stat throttled_usec": u.Throttling.Time.Microseconds(), "cpu.pressure some": u.Pressure.CPU.Some.Microseconds(),
		"memory.peak": u.Memory.Peak, "memory.events oom_kill": u.Memory.OOMKills,
	} {
		from, ok1 := k.all[before].values[key]
		to, ok2 := k.all[after].values[key]
		testenv.Check(t, ok1 && ok2 && value >= from && value <= to,
			"%s: the results say %d, the kernel %d before and %d after (there: %v, %v)", key, value, from, to, ok1, ok2)
	}
	return true
}

// TestGuestKilled kills locbench in a step. clean removes the leftovers and nothing else: another
// unit whose name begins as locbench's groups do continues.
func TestGuestKilled(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		const unit = "locbench-nightly.service"
		must(t, systemd("systemd-run", "--collect", "--unit="+unit, "sleep", "1h"))
		defer func() { _ = systemd("systemctl", "stop", unit).Run() }()

		profile := guestProfile(t, runtime, "limits: {cpus: 0.25, memory: 64MiB}", "  - {connections: 1, request: light}\n")
		d := disturb(t, nil, "run", "--headless", "-p", profile, "--services", guestFaulty(t, "none"))
		d.waitEvent(d.out, windowClosed(0))
		info := lastInstance(t, d.out)
		testenv.Check(t, runtime != "process" || len(groups(t)) == 1,
			"while it runs there are the groups %v", groups(t))
		d.signal(syscall.SIGKILL)
		d.wait(guestPatience)
		run, _ := read(t, d.out)
		args := []string{"clean"}
		if runtime == "process" {
			args = append(args, "--run", run.ID) // the name of its group has the id
		}
		stdout, _ := succeeds(t, d.dir, args...)
		t.Logf("%v says:\n%s", args, stdout)
		nothingLeft(t, run.ID)
		left := groups(t)
		testenv.Check(t, len(left) <= 0, "groups left: %v", left)
		testenv.Until(t, guestPatience, "the contender has ended", func() bool { return errors.Is(syscall.Kill(info.PID, 0), syscall.ESRCH) })
		_, stdout, _ = locbench(t, d.dir, "clean")
		testenv.Check(t, strings.Contains(stdout, "nothing to remove"), "clean again says %q", stdout)
		err := systemd("systemctl", "is-active", unit).Run()
		testenv.Check(t, err == nil, "%s, which is not locbench's, was harmed: %v", unit, err)
	})
}

// oomKills returns the number of out-of-memory kills since the kernel started.
func oomKills(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/vmstat")
	values := map[string]int64{}
	keep(values, "vmstat", string(text))
	n, ok := values["vmstat oom_kill"]
	testenv.Need(t, err == nil && ok, "the kernel counts no kills: %v", err)
	return n
}

// TestGuestOutOfMemory has a contender touch memory until the kernel kills it. The step ends by its
// requests, most of which are refused: the engine of an emulated machine reports the death many
// seconds later. Even then the trial has failed because it was out of memory.
func TestGuestOutOfMemory(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		before := oomKills(t)
		profile := guestProfile(t, runtime, "limits: {memory: 64MiB, pids: 100}", guestStep(2, "light", 20), guestStep(2, "fault", 40), guestStep(2, "light", 20))
		d := disturb(t, nil, "run", "--headless", "-p", profile, "--services", guestFaulty(t, "oom"))
		_, trial := ended(t, d, 3, "out of memory")
		n := oomKills(t) - before
		testenv.Check(t, n >= 1, "%d out-of-memory kills", n)
		if trial.State != bench.TrialFailed || !strings.Contains(trial.Failure, "out of memory") || trial.Exit == nil || !trial.Exit.OOMKilled || trial.Exit.Signal != "SIGKILL" {
			t.Errorf("state %s, %q, exit %+v", trial.State, trial.Failure, trial.Exit)
		}
		if len(trial.Steps) != 2 || trial.Steps[0].Load.Succeeded != 20 || trial.Steps[1].Load.Succeeded != 0 || trial.Steps[1].Ending != bench.EndedByDeath {
			t.Errorf("%d steps: %+v", len(trial.Steps), trial.Steps)
		}
		t.Logf("%s; in its step: %v", trial.Failure, trial.Steps[len(trial.Steps)-1].Load.Failed)
		left := groups(t)
		testenv.Check(t, len(left) <= 0, "groups left: %v", left)
	})
}

// groups returns all groups of locbench.
func groups(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "locbench-") && !strings.HasSuffix(d.Name(), ".service") {
			all = append(all, path)
		}
		return nil // groups come and go
	})
	testenv.OK(t, err)
	return all
}

// TestGuestRootless uses a rootless engine from outside of its network, where its containers cannot
// reach a store on this machine: locbench reports the command that works and measures nothing, or
// uses processes if either will do. Contenders without a store are reached through published ports.
// (TestGuestReadings runs inside.)
func TestGuestRootless(t *testing.T) {
	if os.Getenv(guestVariable) != "rootless" {
		t.Skip("it runs in the virtual machine of TestV2Host")
	}
	const limits, embedded = "limits: {cpus: 0.25, memory: 64MiB}\n", "needs: {elasticsearch: {from: embedded, cities: {count: 50, vertices: 12, seed: 1}}}"
	services, light := guestFaulty(t, "none"), guestStep(1, "light", 20)
	dir := t.TempDir()
	code, _, stderr := locbench(t, dir, "run", "--headless", "-p", guestProfile(t, "docker", limits+embedded, light), "--services", services, "-o", "refused")
	testenv.Check(t, code == 1, "exit code %d", code)
	testenv.Contains(t, stderr, "rootless", "nsenter ", "--runtime process")
	_, stdout, _ := locbench(t, dir, "doctor")
	testenv.Contains(t, stdout, "this rootless engine has its own network", "nsenter ")

	code, stdout, stderr = locbench(t, dir, "run", "--headless", "-p", guestProfile(t, "auto", limits+embedded, light), "--services", services, "-o", "auto")
	if _, trials := read(t, filepath.Join(dir, "auto")); code != 0 || trials[0].Instance.Runtime != bench.RuntimeProcess || !trials[0].Instance.LimitsEnforced {
		t.Errorf("exit code %d, %+v\n%s", code, trials[0].Instance, stderr)
	}
	testenv.Contains(t, stdout+stderr, "using processes: this rootless Docker engine")

	code, _, stderr = locbench(t, dir, "run", "--headless", "-p", guestProfile(t, "docker", limits, light), "--services", services, "-o", "none")
	_, trials := read(t, filepath.Join(dir, "none"))
	if trial := trials[0]; code != 0 || trial.Instance.Runtime != bench.RuntimeDocker || !trial.Instance.LimitsEnforced || len(trial.Steps) != 1 || trial.Steps[0].Load.Succeeded != 20 || trial.Steps[0].After.Source != "cgroup v2" {
		t.Errorf("exit code %d, %+v, %+v\n%s", code, trial.Instance, trial.Steps, stderr)
	}
}

// TestGuestClockSet sets the clock of the virtual machine an hour forward in the first step and two
// hours back in the second. Durations stay right, in the run and when it is read from disk, which
// has only times of day.
func TestGuestClockSet(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		if vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor"); err != nil || !strings.HasPrefix(string(vendor), "QEMU") {
			t.Fatalf("this is not the virtual machine (%q, %v): its clock is not touched", vendor, err)
		}
		began := time.Now()
		t.Cleanup(func() { setClock(t, began.Add(time.Since(began))) })
		// Each request takes at least 10 ms, so a step continues long after its first window.
		profile := guestProfile(t, runtime, "limits: {memory: 64MiB}", guestStep(1, "fault", 1000), guestStep(1, "fault", 1000), guestStep(4, "light", 50))
		d := disturb(t, nil, "run", "--headless", "-p", profile, "--services", guestFaulty(t, "wait"))
		d.waitEvent(d.out, answered(0))
		setClock(t, time.Now().Add(time.Hour))
		d.waitEvent(d.out, answered(1))
		setClock(t, time.Now().Add(-2*time.Hour))
		run, trial := ended(t, d, 0, "the clock was set ", "durations are correct")
		took := time.Since(began) // by the monotonic clock
		testenv.Need(t, took <= 50*time.Minute, "%v is too long to see a shift of an hour", took)
		within := func(what string, got time.Duration) {
			t.Helper()
			testenv.Check(t, got > 0 && got <= took, "%s: %v of the %v that all took", what, got, took)
		}
		within("the run, by its times of day", run.Ended.Sub(run.Started))
		testenv.Need(t, trial.StartUp != nil && trial.Stop != nil, "start-up %v, stop %+v", trial.StartUp, trial.Stop)
		within("start-up", *trial.StartUp)
		within("stop", trial.Stop.Took)
		for _, s := range trial.Steps {
			within(s.Step.Name, s.Load.Elapsed)
			between := s.After.At.Sub(s.Before.At)
			within(s.Step.Name+", between its two readings on disk", between)
			testenv.Check(t, between >= s.Load.Elapsed/2,
				"%s: %v between the two readings on disk, %v of load", s.Step.Name, between, s.Load.Elapsed)
		}
		moved := map[bool]bool{}
		for _, w := range trial.Warnings {
			if w.Kind == bench.WarnClockSet {
				moved[w.Values["moved_ns"] > 0] = true
			}
		}
		testenv.Check(t, moved[true] && moved[false], "it was set forward and back; recorded: %q", trial.Warnings)
		var last bench.Record
		testenv.OK(t, eachEvent(d.out, func(r bench.Record) error {
			testenv.Check(t, !r.At.Before(last.At), "event %d is of %v, event %d of %v", last.Seq, last.At, r.Seq, r.At)
			last = r
			return nil
		}))
		succeeds(t, d.dir, "report", "out")
	})
}

func setClock(t *testing.T, to time.Time) {
	t.Helper()
	ts := unix.NsecToTimespec(to.UnixNano())
	err := unix.ClockSettime(unix.CLOCK_REALTIME, &ts)
	testenv.Need(t, err == nil, "set the clock: %v", err)
}

// TestGuestInterleaved: interleaved contenders that spin have their CPU quotas, and no more. A slice
// that touched one period of the quota more than it has would give them 1.1 times as much, or more.
func TestGuestInterleaved(t *testing.T) {
	guestRuntimes(t, func(t *testing.T, runtime string) {
		const quota = .15
		dir := guestFaulty(t, "touch")
		profile := profileFile(t, fmt.Sprintf(`contenders:
  - faulty
  - faulty: {env: {SAME: "1"}, as: same}
rounds: 2
interleave: 500ms
runtime: %s
limits: {cpus: %v, memory: 64MiB}
isolation: off
requests: [{path: /}]
timeout: 1m
compare_bodies: none
checks: {lifecycle: none, suites: []}
steps: [4 for 10s]
`, runtime, quota))
		d := disturb(t, nil, "run", "--headless", "-v", "-p", profile, "--services", dir)
		d.wait(guestPatience)
		_, trials := d.ends(0)
		testenv.Check(t, len(trials) == 4, "%d trials", len(trials))
		for _, trial := range trials {
			for _, s := range trial.Steps {
				cpus, known := s.CPUs()
				t.Logf("%s: %.4f CPUs of %v; %+v", trial.Trial, cpus, quota, s.Interleave)
				testenv.Check(t, known && s.Interleave != nil && cpus <= 1.03*quota,
					"%s: %.4f CPUs (known: %v) of %v", trial.Trial, cpus, known, quota)
			}
		}
	})
}
