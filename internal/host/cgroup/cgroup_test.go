package cgroup

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

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

// TestTree_Limits: those of any process, with its number of processes and whether it may swap.
func TestTree_Limits(t *testing.T) {
	machine := files{"proc/self/mountinfo": "30 25 0:1 / /top - cgroup2 cgroup2 rw\n", "proc/7/cgroup": "0::/a/b\n"}
	for name, c := range map[string]struct {
		files files
		want  string
	}{
		"none":  {nil, "{0 0 0 0} true"},
		"above": {files{"top/a/cpu.max": "1 2", "top/a/memory.max": "9\n", "top/a/pids.max": "8\n", "top/a/memory.swap.max": "0\n", "top/a/b/memory.swap.max": "max\n"}, "{0.5 9 0 8} false"},
		"swap":  {files{"top/a/b/memory.swap.max": "4096\n", "top/a/b/pids.max": "max\n"}, "{0 0 0 0} true"},
	} {
		t.Run(name, func(t *testing.T) {
			l, swaps := fake(t, with(machine, c.files)).Limits("7")
			testenv.Equal(t, fmt.Sprint(struct {
				cpus         float64
				memory       int64
				set, maximum int64
			}{l.CPUs, l.Memory, int64(l.CPUSet), l.PIDs}, swaps), c.want)
		})
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

// Each physical disk counts once: what is stacked on it, and what is in memory, does not.
func TestReader_Disk(t *testing.T) {
	devices := files{
		"sys/dev/block/254:0": "-> ../../devices/virtio/block/vda", "sys/devices/virtio/block/vda/slaves/": "",
		"sys/dev/block/7:1": "-> ../../devices/virtual/block/loop1", "sys/devices/virtual/block/loop1/size": "1",
		"sys/dev/block/252:0": "-> ../../devices/virtual/block/dm-0", "sys/devices/virtual/block/dm-0/slaves/vda": "",
		"sys/dev/block/253:0": "-> ../../devices/virtual/block/zram0", "sys/devices/virtual/block/zram0/size": "1",
		"sys/dev/block/1:0": "-> ../../devices/virtual/block/ram0", "sys/devices/virtual/block/ram0/size": "1",
	}
	v2 := func(stat string) files {
		return with(devices, files{"proc/self/mountinfo": "30 25 0:1 / /top rw - cgroup2 cgroup2 rw\n", "proc/7/cgroup": "0::/g\n",
			"top/g/cpu.stat": "usage_usec 1\n", "top/g/io.stat": stat})
	}
	v1 := func(group, top, bytes, calls string) files {
		return with(devices, files{
			"proc/self/mountinfo":        "31 25 0:2 / /cpu rw - cgroup cgroup rw,cpuacct,cpu\n32 25 0:3 / /blkio rw - cgroup cgroup rw,blkio\n",
			"proc/7/cgroup":              "1:cpuacct,cpu:/docker/g\n2:blkio:/docker/" + group + "\n",
			"cpu/docker/g/cpuacct.usage": "1", "blkio/" + blkioBytes: top, "blkio/docker/" + blkioBytes: "",
			"blkio/docker/" + group + "/" + blkioBytes: bytes, "blkio/docker/" + group + "/" + blkioCalls: calls,
		})
	}
	const (
		bytes = "254:0 Read 100\n254:0 Write 200\n254:0 Sync 300\n254:0 Total 300\n252:0 Read 100\n252:0 Write 200\nTotal 600\n"
		calls = "254:0 Read 3\n254:0 Write 4\n254:0 Total 7\n252:0 Read 3\n"
		top   = "254:0 Read 5\n"
	)
	recursive := v1("g", top, "254:0 Read 1\n", "254:0 Read 1\n")
	recursive["blkio/docker/g/"+blkioBytes+"_recursive"] = "254:0 Read 10\n254:0 Write 20\n"
	recursive["blkio/docker/g/"+blkioCalls+"_recursive"] = "254:0 Read 1\n254:0 Write 2\n"
	for name, test := range map[string]struct {
		files files
		want  string
	}{
		"v2": {v2("254:0 rbytes=100 wbytes=200 rios=3 wios=4 dbytes=50 dios=5\n8:16 rbytes=1 wbytes=1 rios=1 wios=1\n"),
			"{io.stat 101 201 4 5}"},
		"v2, stacked and in memory": {v2("252:0 rbytes=7 wbytes=7 rios=7 wios=7\n254:0 rbytes=1 wios=2\n7:1 rbytes=7\n253:0 rbytes=7\n1:0 rbytes=7\n"),
			"{io.stat 1 0 0 2}"},
		"v2, nothing yet":       {v2(""), "{io.stat 0 0 0 0}"},
		"v2, out of bounds":     {v2("254:0 rbytes=9223372036854775807 wbytes=-1 rios=x\n8:0 rbytes=1\n8:1 \n"), "{io.stat 9223372036854775807 0 0 0}"},
		"v1":                    {v1("g", top, bytes, calls), "{blkio.throttle 100 200 3 4}"},
		"v1, nothing yet":       {v1("g", top, "Total 0\n", "Total 0\n"), "{blkio.throttle 0 0 0 0}"},
		"v1, not counted":       {v1("g", "Total 0\n", "Total 0\n", "Total 0\n"), ""},
		"v1, of others":         {v1("h", top, bytes, calls), ""},
		"v1, with groups below": {recursive, "{blkio.throttle 10 20 1 2}"},
	} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, test.files, 7)
			for range 2 {
				u := testenv.Must(r.Read())(t)
				got := ""
				if u.Disk != nil {
					got = fmt.Sprint(*u.Disk)
				}
				testenv.Equal(t, got, test.want, "disk")
			}
		})
	}
}

// files are paths with contents.
type files = map[string]string

// fake makes a tree of files, in place of the kernel's: it shows what is read and written where,
// without rights. A name that ends in a slash is a folder, a content such as "-> x" a link. A
// folder that is created in it has no files, as if the kernel had no controllers.
func fake(t testing.TB, in files) Tree {
	t.Helper()
	root, all := t.TempDir(), fstest.MapFS{}
	for path, content := range in {
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path, "/") {
			mode = fs.ModeDir | 0o755
		}
		to, link := strings.CutPrefix(content, "-> ")
		if link {
			mode = fs.ModeSymlink | 0o777
		}
		all[strings.TrimSuffix(path, "/")] = &fstest.MapFile{Data: []byte(to), Mode: mode}
	}
	testenv.OK(t, os.CopyFS(root, all))
	return Tree{Root: root}
}

// content returns the files below top with their contents, and the folders, whose names end in a
// slash.
func content(t testing.TB, top string) files {
	t.Helper()
	all := files{}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, path)
		switch {
		case err != nil || rel == ".":
			return err
		case e.IsDir():
			all[rel+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		all[rel] = string(data)
		return err
	})
	testenv.Need(t, err == nil, "%v", err)
	return all
}

func with(in files, more ...files) files {
	in = maps.Clone(in)
	for _, m := range more {
		maps.Copy(in, m)
	}
	return in
}
