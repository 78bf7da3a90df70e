package cgroup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// The two trees have the layout, the files and the order of lines that kernels with cgroup v2 alone
// write, according to the kernel's Documentation/admin-guide/cgroup-v2.rst and
// Documentation/accounting/psi.rst and the tables in mm/memcontrol.c and kernel/sched; the paths
// are those of Docker's two drivers. The values are made up, each different from the
// others.
//
//	v2-systemd   Linux 6.1, Docker with the systemd driver: system.slice/docker-<id>.scope,
//	             memory.peak, pressure of the CPU with "full"
//	v2-cgroupfs  Linux 5.10, Docker with the cgroupfs driver: docker/<id>, no memory.peak,
//	             pressure of the CPU without "full"
const (
	common = `"cpu_ns":61504321000,"cpu_user_ns":48111222000,"cpu_system_ns":13393099000,
		"throttling":{"periods":410,"throttled_periods":61,"throttled_ns":4101234000},"processes":1,"threads":3,
		"context_switches":{"source":"/proc/PID/status of all threads","voluntary":6000,"involuntary":60},
		"network":{"source":"/proc/PID/net/dev","received_bytes":73400320,"sent_bytes":104857600},`
	wantSystemd = `{"source":"cgroup v2",` + common + `
		"memory":{"used_bytes":226492416,"peak_bytes":402653184,"peak_source":"memory.peak","limit_bytes":536870912,"limit_hits":12,"major_faults":245,"minor_faults":301000,"refaults":214},
		"pressure":{"source":"cgroup v2","cpu":{"some_ns":7654321000,"full_ns":4321098000},"memory":{"some_ns":2345000,"full_ns":1234000},"io":{"some_ns":99887000,"full_ns":77665000}}}`
	wantCgroupfs = `{"source":"cgroup v2",` + common + `
		"memory":{"used_bytes":226492416,"peak_bytes":226492416,"peak_source":"largest sample","limit_bytes":536870912,"limit_hits":12,"major_faults":245,"minor_faults":301000,"refaults":214,"peak_is_sample":true},
		"pressure":{"source":"cgroup v2","cpu":{"some_ns":7654321000},"memory":{"some_ns":2345000,"full_ns":1234000},"io":{"some_ns":99887000,"full_ns":77665000}}}`
)

// tree copies a recorded tree and adds a process's links for its namespaces.
func tree(t testing.TB, name, theirs, ours string) Tree {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	for pid, to := range map[string]string{"4211": theirs, "self": ours} {
		ns := filepath.Join(root, "proc", pid, "ns")
		if err := errors.Join(os.MkdirAll(ns, 0o755), os.Symlink(to, filepath.Join(ns, "net"))); err != nil {
			t.Fatal(err)
		}
	}
	return Tree{Root: root}
}

func follow(t testing.TB, tr Tree) *Reader {
	t.Helper()
	r, err := tr.Process(4211)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	r.Follow(4211)
	return r
}

func reading(t testing.TB, r *Reader) bench.Usage {
	t.Helper()
	u, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestReadV2(t *testing.T) {
	for name, text := range map[string]string{"v2-systemd": wantSystemd, "v2-cgroupfs": wantCgroupfs} {
		t.Run(name, func(t *testing.T) {
			tr := tree(t, name, "net:[4026532281]", "net:[4026531840]")
			if v := tr.Version(); v != 2 {
				t.Errorf("%s: version %d", name, v)
			}
			r := follow(t, tr)
			var want bench.Usage
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			for range 2 { // again from the same open files
				u := reading(t, r)
				u.At, u.Took = time.Time{}, 0
				got, _ := json.Marshal(u)
				if expected, _ := json.Marshal(want); string(got) != string(expected) {
					t.Errorf("%s\n got %s\nwant %s", name, got, expected)
				}
			}
			if u := reading(t, r); u.Memory.StepPeak != nil {
				t.Errorf("%s: a mark of a step that has not started", name)
			}
		})
	}
}

// TestSharedNetwork: in the machine's namespace the counters include all processes.
func TestSharedNetwork(t *testing.T) {
	r := follow(t, tree(t, "v2-systemd", "net:[4026531840]", "net:[4026531840]"))
	if u := reading(t, r); u.Network != nil {
		t.Errorf("%+v", u.Network)
	}
}

// TestStepPeakV2: since Linux 6.12 memory.peak has its own mark for each open file that was
// written to, next to the one that all others see. A regular file cannot do that, so a second one
// replaces the open file here.
func TestStepPeakV2(t *testing.T) {
	r := follow(t, tree(t, "v2-systemd", "net:[1]", "net:[2]"))
	own := filepath.Join(t.TempDir(), "memory.peak of this open file")
	if err := os.WriteFile(own, []byte("402653184\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(own, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.stepPeak.Close()
	r.stepPeak = f
	if err := r.BeginPeak(); err != nil {
		t.Fatal(err)
	}
	for _, now := range []string{"230686720\n", "314572800\n"} { // the kernel's next values
		if err := os.WriteFile(own, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		u := reading(t, r)
		if want, _ := number([]byte(now)); u.Memory.StepPeak == nil || *u.Memory.StepPeak != want || u.Memory.Peak != 402653184 {
			t.Errorf("%s: %+v", now, u.Memory)
		}
	}
}

// TestNoStepPeak: before Linux 6.12 memory.peak cannot be opened for writing, before 5.19 there is
// none.
func TestNoStepPeak(t *testing.T) {
	r := follow(t, tree(t, "v2-cgroupfs", "net:[1]", "net:[2]"))
	if err := r.BeginPeak(); err == nil {
		t.Error("a missing mark was reset")
	}
	if u := reading(t, r); u.Memory.StepPeak != nil {
		t.Errorf("%+v", u.Memory)
	}
}

// TestThreadsBelow: with threads in groups below, or more than are followed, there is no sum
// instead of a wrong one.
func TestThreadsBelow(t *testing.T) {
	for name, threads := range map[string]string{"below": "", "too many": many(maxThreads + 1)} {
		t.Run(name, func(t *testing.T) {
			tr := tree(t, "v2-systemd", "net:[1]", "net:[2]")
			files, err := filepath.Glob(filepath.Join(tr.Root, "sys/fs/cgroup/system.slice/*/cgroup.threads"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			if err := os.WriteFile(files[0], []byte(threads), 0o644); err != nil {
				t.Fatal(err)
			}
			if u := reading(t, follow(t, tr)); u.Switches != nil {
				t.Errorf("%s: %+v", name, u.Switches)
			}
		})
	}
}

func many(n int) (text string) {
	for range n {
		text += "4211\n"
	}
	return text
}

// TestSharedMemoryIsNotCache: v1 counts it as cache, though it cannot be given up. Some runtimes
// have their heap there.
func TestSharedMemoryIsNotCache(t *testing.T) {
	v1, v2 := &Reader{memV1: true}, &Reader{}
	stat := map[string]int64{"total_cache": 100, "total_shmem": 70, "cache": 5, "inactive_file": 12, "file": 99}
	if n := v1.pageCache(stat); n != 30 {
		t.Errorf("v1: %d", n)
	}
	if n := v2.pageCache(stat); n != 12 {
		t.Errorf("v2: %d", n)
	}
	if n := v1.pageCache(map[string]int64{"total_cache": 1, "total_shmem": 5}); n != 0 {
		t.Errorf("more shared memory than cache: %d", n)
	}
}
