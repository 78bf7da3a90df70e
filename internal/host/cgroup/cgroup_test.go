package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestTree_Own(t *testing.T) {
	machine := files{
		"proc/self/mountinfo": "30 25 0:1 / /top - cgroup2 cgroup2 rw\n" +
			"31 25 0:2 / /cpu rw - cgroup cgroup rw,cpu\n32 25 0:2 / /memory rw - cgroup cgroup rw,memory\n",
		"proc/self/cgroup": "0::/a/b\n1:cpu:/c\n2:memory:/c\n",
	}
	for name, test := range map[string]struct {
		files files
		want  string
	}{
		"none": {nil, "0 0"},
		"above": {files{
			"top/a/cpu.max": "150000 100000\n", "top/a/b/cpu.max": "max 100000\n",
			"top/a/memory.max": "100\n", "top/a/b/memory.max": "max\n",
		}, "1.5 100"},
		"the lower ones": {files{
			"top/a/cpu.max": "2 1", "top/a/b/cpu.max": "1 1", "top/a/memory.max": "200", "top/a/b/memory.max": "100",
		}, "1 100"},
		"the lower ones, above": {files{
			"top/a/cpu.max": "1 2", "top/a/b/cpu.max": "1 1", "top/a/memory.max": "100", "top/a/b/memory.max": "200",
		}, "0.5 100"},
		"not a quota":   {files{"top/a/b/cpu.max": "0 1"}, "0 0"},
		"below 0":       {files{"top/a/b/cpu.max": "-1 100000"}, "0 0"},
		"not a period":  {files{"top/a/b/cpu.max": "1 0"}, "0 0"},
		"a text":        {files{"top/a/b/cpu.max": "1 x"}, "0 0"},
		"three numbers": {files{"top/a/b/cpu.max": "1 1 1"}, "0 0"},
		"v1": {files{
			"cpu/c/cpu.cfs_quota_us": "50\n", "cpu/c/cpu.cfs_period_us": "100\n",
			"memory/c/memory.limit_in_bytes": "7\n",
		}, "0.5 7"},
		"v1 without a quota": {files{"cpu/c/cpu.cfs_quota_us": "-1\n", "cpu/c/cpu.cfs_period_us": "100\n"}, "0 0"},
		"the most memory":    {files{"memory/c/memory.limit_in_bytes": "4611686018427387903"}, "0 4611686018427387903"},
		"without a limit":    {files{"memory/c/memory.limit_in_bytes": "4611686018427387904"}, "0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			cpus, memory := fake(t, with(machine, test.files)).Own()
			testenv.Equal(t, fmt.Sprint(cpus, memory), test.want)
		})
	}
	n := OwnCPUs()
	testenv.Check(t, n > 0 && n <= float64(runtime.NumCPU()), "%g CPUs", n)
	swaps := fake(t, map[string]string{"none": "heading\n", "one": "heading\n/swap\n"})
	for name, want := range map[string]bool{"none": false, "one": true, "unknown": true} {
		testenv.Equal(t, swapsIn(swaps.path(name)), want, name)
	}
}

// In a container only a part of the hierarchy is mounted, but paths still start at its top.
func TestTree_Version(t *testing.T) {
	for name, want := range map[string]string{
		"v1": "1 map[cpu:ROOT/cpu cpuacct:ROOT/cpuacct memory:ROOT/memory pids:ROOT/pids] <nil>; 0 0",
		"v1-systemd": "1 map[] stat ROOT/unified/user.slice/session-1.scope: no such file or directory\n" +
			strings.Repeat("stat ROOT/cpu,cpuacct/user.slice: no such file or directory\n", 2) +
			"stat ROOT/memory/user.slice: no such file or directory\nno cgroup of process self is visible; 0 0",
		"v2": "2 map[] stat ROOT/user.slice: no such file or directory\n" +
			"no cgroup of process self is visible; 0 0",
		"v1-container": "1 map[cpu:ROOT/cpu,cpuacct/inner cpuacct:ROOT/cpu,cpuacct/inner] <nil>; 1.5 0",
		"absent":       "0 map[] read mounts: open testdata/absent/proc/self/mountinfo: no such file or directory; 0 0",
	} {
		t.Run(name, func(t *testing.T) {
			tree := Tree{Root: filepath.Join("testdata", name)}
			dirs, err := tree.dirs("self")
			cpus, memory := tree.Own()
			got := fmt.Sprintf("%d %v %v; %g %d", tree.Version(), dirs, err, cpus, memory)
			got = strings.ReplaceAll(got, tree.Root+"/sys/fs/cgroup", "ROOT")
			testenv.Check(t, got == want, "%s, want %s", got, want)
		})
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{`a\040b`: "a b", `\134`: `\`, `a\0`: `a\0`, `\04`: `\04`, `\999`: `\999`, "": ""} {
		t.Run(in, func(t *testing.T) {
			got := unescape(in)
			testenv.Check(t, got == want, "%q: %q, want %q", in, got, want)
		})
	}
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n",
		"4:cpu,cpuacct:/docker/0123\n0::/\n",
		"nr_periods 3\nnr_throttled -1\nx", "1 - cgroup2", "::/..", "99999999999999999999", "max\n", "a\\04",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range parseMounts(data) {
			m.point = "/nowhere"
			for _, path := range parseMembership(data) {
				dir, err := m.dir(path)
				testenv.Need(t, err != nil, "%q is a folder", dir)
				for _, c := range m.candidates(path) {
					rel, err := filepath.Rel(m.point, c)
					testenv.Need(t, err == nil && filepath.IsLocal(rel), "%q leads out to %q", path, c)
				}
			}
		}
		for k, v := range keyed(data) {
			testenv.Need(t, v >= 0, "%q is %d", k, v)
		}
		n, ok := number(data)
		testenv.Need(t, !ok || n >= 0, "%v", n)
	})
}

func BenchmarkRead(b *testing.B) {
	r, err := Tree{}.Process(os.Getpid())
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	for b.Loop() {
		testenv.OK(b, testenv.Err(r.Read()))
	}
}
