package cgroup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// testdata/v1 was recorded on a host with v1 and an empty v2 hierarchy next to it. The other trees
// have the form of hosts with systemd. Their values are made up, each different from the
// others.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		tree string
		pid  int
		want string
	}{
		{"v1", 4242, `{"source":"cgroup v1","cpu_ns":1097593540,"cpu_user_ns":1111975895,"cpu_system_ns":32000000,
			"throttling":{"periods":32,"throttled_periods":0,"throttled_ns":0},
			"memory":{"used_bytes":33693696,"peak_bytes":33734656,"peak_source":"max_usage","limit_bytes":67108864,"major_faults":0,"minor_faults":9345,"refaults":0},"processes":1,"threads":4}`},
		{"v1-systemd", 77, `{"source":"cgroup v1","cpu_ns":46500000000,
			"throttling":{"periods":310,"throttled_periods":290,"throttled_ns":12345678901},
			"memory":{"used_bytes":200000000,"peak_bytes":536870912,"peak_source":"max_usage","oom_kills":2,"limit_hits":123,"refaults":7},"processes":3}`},
		{"v2", 77, `{"source":"cgroup v2","cpu_ns":46500001000,"cpu_user_ns":40000000000,"cpu_system_ns":6500001000,
			"throttling":{"periods":310,"throttled_periods":290,"throttled_ns":12345678000},
			"memory":{"used_bytes":200000000,"peak_bytes":536870912,"peak_source":"memory.peak","limit_bytes":536870912,"oom_kills":1,"limit_hits":31,"major_faults":17,"refaults":42},"processes":2,"threads":11}`},
		// An older kernel without memory.peak, no quota, processes in groups below, more cache than
		// usage at that moment.
		{"v2", 78, `{"source":"cgroup v2","cpu_ns":1000,"cpu_user_ns":1000,"cpu_system_ns":0,
			"memory":{"used_bytes":0,"peak_bytes":0,"peak_source":"largest sample","peak_is_sample":true},"threads":3}`},
	} {
		t.Run(tt.tree+"/"+strconv.Itoa(tt.pid), func(t *testing.T) {
			r, err := Tree{Root: filepath.Join("testdata", tt.tree)}.Process(tt.pid)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var want bench.Usage
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from the same open files
				began := time.Now()
				u, err := r.Read()
				if err != nil || u.At.Before(began) || u.At.After(time.Now()) {
					t.Fatal(u.At, err)
				}
				if u.Took <= 0 {
					t.Error("a reading that took no time")
				}
				u.At, u.Took = time.Time{}, 0
				got, _ := json.Marshal(u)
				if expected, _ := json.Marshal(want); string(got) != string(expected) {
					t.Errorf("got  %s\nwant %s", got, expected)
				}
			}
			r.Close()
			if _, err := r.Read(); !errors.Is(err, ErrNone) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

func TestProcessErrors(t *testing.T) {
	for _, tt := range []struct {
		tree string
		pid  int
	}{{"v2", 79}, {"v2", 12345}, {"absent", 1}, {"v1-container", 1}} {
		t.Run(tt.tree, func(t *testing.T) {
			if r, err := (Tree{Root: filepath.Join("testdata", tt.tree)}).Process(tt.pid); err == nil {
				r.Close()
				t.Errorf("%s, process %d: no error", tt.tree, tt.pid)
			}
		})
	}
}

func TestVersionAndOwn(t *testing.T) {
	for _, tt := range []struct {
		tree    string
		version int
		cpus    float64
	}{{"v1", 1, 0}, {"v1-systemd", 1, 0}, {"v2", 2, 0}, {"v1-container", 1, 1.5}, {"absent", 0, 0}} {
		t.Run(tt.tree, func(t *testing.T) {
			tree := Tree{Root: filepath.Join("testdata", tt.tree)}
			if v := tree.Version(); v != tt.version {
				t.Errorf("%s: version %d, want %d", tt.tree, v, tt.version)
			}
			if cpus, memory := tree.Own(); cpus != tt.cpus || memory != 0 {
				t.Errorf("%s: own limits %v CPUs, %d bytes", tt.tree, cpus, memory)
			}
		})
	}
	// In a container only a part of the hierarchy is mounted, but paths still start at its
	// top.
	dirs, err := Tree{Root: "testdata/v1-container"}.dirs("self")
	if err != nil || dirs["cpuacct"] != "testdata/v1-container/sys/fs/cgroup/cpu,cpuacct/inner" {
		t.Errorf("%v, %v", dirs, err)
	}
}

// TestReadOpensNothing: files are opened once. A reading must not open a file or leave one open.
func TestReadOpensNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc here")
	}
	r, err := Tree{Root: "testdata/v2"}.Process(77)
	if err != nil {
		t.Fatal(err)
	}
	count := func() int { e, _ := os.ReadDir("/proc/self/fd"); return len(e) }
	before := count()
	for range 100 {
		if _, err := r.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(); n != before {
		t.Errorf("%d files open, before %d", n, before)
	}
	if r.Close(); count() >= before {
		t.Error("Close closed nothing")
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{`a\040b`: "a b", `\134`: `\`, `a\0`: `a\0`, `\999`: `\999`, "": ""} {
		t.Run(in, func(t *testing.T) {
			if got := unescape(in); got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		})
	}
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n", "4:cpu,cpuacct:/docker/0123\n0::/\n",
		"nr_periods 3\nnr_throttled -1\nx", "1 - cgroup2", "::/..", "99999999999999999999", "max\n", "a\\04",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range parseMounts(data) {
			m.point = "/nowhere"
			for _, path := range parseMembership(data) {
				if dir, err := m.dir(path); err == nil {
					t.Fatalf("%q is a folder", dir)
				}
				for _, c := range m.candidates(path) {
					if rel, err := filepath.Rel(m.point, c); err != nil || !filepath.IsLocal(rel) {
						t.Fatalf("%q leads out to %q", path, c)
					}
				}
			}
		}
		for k, v := range keyed(data) {
			if v < 0 {
				t.Fatalf("%q is %d", k, v)
			}
		}
		if n, ok := number(data); ok && n < 0 {
			t.Fatal(n)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r, err := Tree{}.Process(os.Getpid())
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	for b.Loop() {
		if _, err := r.Read(); err != nil {
			b.Fatal(err)
		}
	}
}
