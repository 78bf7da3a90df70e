package cgroup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// testdata/v1 was recorded on a host with v1 and an empty v2 hierarchy next to it. The other trees
// have the layout, the files and the order of lines that hosts with systemd and kernels with cgroup
// v2 alone write, according to the kernel's Documentation/admin-guide/cgroup-v2.rst and
// Documentation/accounting/psi.rst and the tables in mm/memcontrol.c and kernel/sched; the paths
// are those of Docker's two drivers. The values are made up, each different from the others.
//
//	v2-systemd   Linux 6.1, Docker with the systemd driver: system.slice/docker-<id>.scope,
//	             memory.peak, pressure of the CPU with "full"
//	v2-cgroupfs  Linux 5.10, Docker with the cgroupfs driver: docker/<id>, no memory.peak,
//	             pressure of the CPU without "full"
func recorded(t testing.TB, name string) files {
	return content(t, filepath.Join("testdata", name))
}

// usage is a reading as JSON, without its time.
func usage(t testing.TB, r *Reader) string {
	t.Helper()
	began := time.Now()
	u, err := r.Read()
	testenv.Need(t, err == nil && !u.At.Before(began) && !u.At.After(time.Now()) && u.Took > 0,
		"%v %v %v", u.At, u.Took, err)
	u.At, u.Took = time.Time{}, 0
	data := testenv.Must(json.Marshal(u))(t)
	return string(data)
}

func follow(t testing.TB, in files, pid int) *Reader {
	t.Helper()
	r := testenv.Must(fake(t, in).Process(pid))(t)
	t.Cleanup(func() { r.Close() })
	r.Follow(pid)
	return r
}

func TestReader_Read(t *testing.T) {
	const (
		common = `"cpu_ns":61504321000,"cpu_user_ns":48111222000,"cpu_system_ns":13393099000,
			"throttling":{"periods":410,"throttled_periods":61,"throttled_ns":4101234000},"processes":1,"threads":3,
			"context_switches":{"source":"/proc/PID/status of all threads","voluntary":6000,"involuntary":60},
			"network":{"source":"/proc/PID/net/dev","received_bytes":73400320,"sent_bytes":104857600},`
		counts = `"limit_bytes":536870912,"limit_hits":12,"major_faults":245,"minor_faults":301000,"refaults":214`
		waits  = `"memory":{"some_ns":2345000,"full_ns":1234000},"io":{"some_ns":99887000,"full_ns":77665000}}`
		mounts = "30 25 0:1 / /top rw - cgroup2 cgroup2 rw\n"
		v1     = "31 25 0:2 / /cpu rw - cgroup cgroup rw,cpuacct,cpu\n" +
			"32 25 0:2 / /memory rw - cgroup cgroup rw,memory\n"
	)
	links := files{"proc/4211/ns/net": "-> net:[2]", "proc/self/ns/net": "-> net:[1]"}
	// a group of cgroup v2 with these files, next to its CPU time
	v2 := func(pairs ...string) files {
		all := files{
			"proc/self/mountinfo": mounts, "proc/7/cgroup": "0::/\n", "top/cpu.stat": "usage_usec 1\n",
		}
		for i := 0; i < len(pairs); i += 2 {
			all["top/"+pairs[i]] = pairs[i+1]
		}
		return all
	}
	// a group of cgroup v1 with these files, and a group in an empty hierarchy of v2
	old := func(below string, pairs ...string) files {
		all := files{
			"proc/self/mountinfo": mounts + v1, "proc/7/cgroup": "1:cpuacct,cpu:/g\n2:memory:/g\n0::/" + below + "\n",
			"cpu/g/cpuacct.usage": "1", "top/" + below + "/cpu.pressure": "some total=3\n", "memory/g/": "",
		}
		for i := 0; i < len(pairs); i += 2 {
			all["memory/g/"+pairs[i]] = pairs[i+1]
		}
		return all
	}
	const (
		newer, older = `{"source":"cgroup v2","cpu_ns":1000`, `{"source":"cgroup v1","cpu_ns":1`
		inUse        = newer + `,"memory":{"used_bytes":5,` +
			`"peak_bytes":5,"peak_source":"largest sample","peak_is_sample":true`
		pressed = newer + `,"pressure":{"source":"cgroup v2",`
	)
	for name, test := range map[string]struct {
		files files
		pid   int
		want  string
	}{
		"v1": {recorded(t, "v1"), 4242, `{"source":"cgroup v1","cpu_ns":1097593540,
			"cpu_user_ns":1111975895,"cpu_system_ns":32000000,
			"throttling":{"periods":32,"throttled_periods":0,"throttled_ns":0},"processes":1,"threads":4,
			"memory":{"used_bytes":33693696,"peak_bytes":33734656,"peak_source":"max_usage","limit_bytes":67108864,
				"major_faults":0,"minor_faults":9345,"refaults":0}}`},
		"v1-systemd": {recorded(t, "v1-systemd"), 77, `{"source":"cgroup v1","cpu_ns":46500000000,
			"throttling":{"periods":310,"throttled_periods":290,"throttled_ns":12345678901},"processes":3,
			"memory":{"used_bytes":200000000,"peak_bytes":536870912,"peak_source":"max_usage",
				"oom_kills":2,"limit_hits":123,"refaults":7}}`},
		"v2": {recorded(t, "v2"), 77, `{"source":"cgroup v2","cpu_ns":46500001000,
			"cpu_user_ns":40000000000,"cpu_system_ns":6500001000,
			"throttling":{"periods":310,"throttled_periods":290,"throttled_ns":12345678000},"processes":2,"threads":11,
			"memory":{"used_bytes":200000000,"peak_bytes":536870912,"peak_source":"memory.peak","limit_bytes":536870912,
				"oom_kills":1,"limit_hits":31,"major_faults":17,"refaults":42}}`},
		// An older kernel without memory.peak, no quota, processes in groups below, more cache than
		// usage at that moment.
		"v2, an older kernel": {recorded(t, "v2"), 78, newer + `,"cpu_user_ns":1000,"cpu_system_ns":0,"threads":3,
			"memory":{"used_bytes":0,"peak_bytes":0,"peak_source":"largest sample","peak_is_sample":true}}`},
		"v2-systemd": {with(recorded(t, "v2-systemd"), links), 4211, `{"source":"cgroup v2",` + common +
			`"memory":{"used_bytes":226492416,"peak_bytes":402653184,"peak_source":"memory.peak",` + counts + `},
			"pressure":{"source":"cgroup v2","cpu":{"some_ns":7654321000,"full_ns":4321098000},` + waits + `}`},
		"v2-cgroupfs": {with(recorded(t, "v2-cgroupfs"), links), 4211, `{"source":"cgroup v2",` + common +
			`"memory":{"used_bytes":226492416,"peak_bytes":226492416,"peak_source":"largest sample",` +
			counts + `,"peak_is_sample":true},
			"pressure":{"source":"cgroup v2","cpu":{"some_ns":7654321000},` + waits + `}`},
		"the most CPU time": {v2("cpu.stat", "usage_usec 4611686018427387\nuser_usec 4611686018427388\n"), 7,
			`{"source":"cgroup v2","cpu_ns":4611686018427387000}`},
		"no quota": {v2(), 7, newer + `}`},
		"a quota": {v2("cpu.stat", "usage_usec 1\nnr_periods 0\n"), 7,
			newer + `,"throttling":{"periods":0,"throttled_periods":0,"throttled_ns":0}}`},
		"nothing runs":    {v2("pids.current", "0", "cgroup.procs", ""), 7, newer + `,"processes":0,"threads":0}`},
		"runs below":      {v2("pids.current", "1", "cgroup.procs", ""), 7, newer + `,"threads":1}`},
		"threads unknown": {v2("cgroup.procs", ""), 7, newer + `,"processes":0}`},
		"major faults alone": {v2("memory.current", "5", "memory.stat", "pgfault 5\npgmajfault 5\n"), 7,
			inUse + `,"major_faults":5,"minor_faults":0}}`},
		"too many of them": {v2("memory.current", "5", "memory.stat", "pgfault 4\npgmajfault 5\n"), 7,
			inUse + `,"major_faults":5}}`},
		"all faults alone": {v2("memory.current", "5", "memory.stat", "pgfault 4\n"), 7,
			inUse + `}}`},
		"the highest limit": {v2("memory.current", "5", "memory.max", "4611686018427387903"), 7,
			inUse + `,"limit_bytes":4611686018427387903}}`},
		"no limit": {v2("memory.current", "5", "memory.max", "4611686018427387904"), 7,
			inUse + `}}`},
		"pressure":       {v2("cpu.pressure", "some total=1\n"), 7, pressed + `"cpu":{"some_ns":1000}}}`},
		"of memory":      {v2("memory.pressure", "some total=1\n"), 7, pressed + `"memory":{"some_ns":1000}}}`},
		"of disks":       {v2("io.pressure", "some total=1\n"), 7, pressed + `"io":{"some_ns":1000}}}`},
		"of nothing":     {v2("io.pressure", ""), 7, newer + `}`},
		"v1 and a group": {old("g"), 7, older + `,"pressure":{"source":"cgroup v2","cpu":{"some_ns":3000}}}`},
		"v1 and another": {old("h"), 7, older + `}`},
		"v1 with hits": {old("h", "memory.usage_in_bytes", "9", "memory.failcnt", "3",
			"memory.stat", "total_cache 9\ntotal_shmem 4\ncache 1\n", "memory.oom_control", "max 5\n"), 7,
			older + `,"memory":{"used_bytes":4,"peak_bytes":4,"peak_source":"largest sample",
				"limit_hits":3,"peak_is_sample":true}}`},
		"v1 with swap": {old("h", "memory.usage_in_bytes", "9", "memory.failcnt", "3", "memory.memsw.failcnt", "4",
			"memory.stat", "total_cache 1\ntotal_shmem 5\n", "memory.max_usage_in_bytes", "10"), 7,
			older + `,"memory":{"used_bytes":9,"peak_bytes":10,"peak_source":"max_usage","limit_hits":7}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, test.files, test.pid)
			var want bench.Usage
			testenv.OK(t, json.Unmarshal([]byte(test.want), &want))
			expected, _ := json.Marshal(want)
			for range 2 { // the second time from the same open files
				got := usage(t, r)
				testenv.Check(t, got == string(expected), "got  %s\nwant %s", got, expected)
			}
			r.Close()
			_, err := r.Read()
			testenv.Check(t, errors.Is(err, ErrNone), "after Close: %v", err)
		})
	}
	for name, in := range map[string]files{
		"no CPU time": v2("cpu.stat", ""), "too much CPU time": v2("cpu.stat", "usage_usec 4611686018427388\n"),
		"no group":   with(v2(), files{"proc/7/cgroup": "1:pids:/\n"}),
		"no process": {"proc/self/mountinfo": mounts}, "no /proc": nil,
		"a group that is gone": recorded(t, "v2"), "outside the mounted part": recorded(t, "v1-container"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, pid := range []int{1, 7, 79} {
				if r, err := fake(t, in).Process(pid); err == nil {
					r.Close()
					t.Errorf("process %d: no error", pid)
				}
			}
		})
	}
}

// Counters of a network that other processes are in as well, and of threads that are not all known,
// are absent instead of wrong.
func TestReader_Follow(t *testing.T) {
	recording := recorded(t, "v2-systemd")
	own := files{"proc/4211/ns/net": "-> net:[2]", "proc/self/ns/net": "-> net:[1]"}
	var group string
	for path := range recording {
		if strings.HasSuffix(path, "/cgroup.threads") {
			group = filepath.Dir(path)
		}
	}
	threads := func(n int) files {
		return with(own, files{group + "/cgroup.threads": strings.Repeat("4211\n", n)})
	}
	for name, test := range map[string]struct {
		more              files
		network, switches bool
	}{
		"its own network":  {own, true, true},
		"a shared network": {with(own, files{"proc/4211/ns/net": "-> net:[1]"}), false, true},
		"an unknown one":   {files{"proc/self/ns/net": "-> net:[1]"}, false, true},
		"threads below":    {threads(0), true, false},
		"the most threads": {threads(maxThreads), true, true},
		"too many threads": {threads(maxThreads + 1), true, false},
		"none":             {with(threads(0), files{group + "/pids.current": "0"}), true, true},
		"unknown":          {with(threads(0), files{group + "/pids.current": ""}), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := usage(t, follow(t, with(recording, test.more), 4211))
			network, switches := strings.Contains(got, `"network"`), strings.Contains(got, `"context_switches"`)
			testenv.Check(t, network == test.network && switches == test.switches, "%s", got)
		})
	}
}

// On v1 the mark of a step is that since the start, which is kept here. Since Linux 6.12
// memory.peak of v2 has its own mark for each open file that was written to, next to the one that
// all others see. A regular file cannot do that, so a second one replaces the open file here.
func TestReader_BeginPeak(t *testing.T) {
	peaks := func(r *Reader) string {
		u, err := r.Read()
		testenv.Need(t, err == nil && u.Memory != nil, "%v", err)
		if u.Memory.StepPeak == nil {
			return strconv.FormatInt(u.Memory.Peak, 10)
		}
		return strconv.FormatInt(u.Memory.Peak, 10) + " " + strconv.FormatInt(*u.Memory.StepPeak, 10)
	}
	replace := func(path, content string) {
		t.Helper()
		testenv.OK(t, os.WriteFile(path, []byte(content), 0o644))
	}
	begin := func(r *Reader) {
		t.Helper()
		testenv.OK(t, r.BeginPeak())
	}
	expect := func(r *Reader, want string) {
		t.Helper()
		testenv.Equal(t, peaks(r), want)
	}
	t.Run("v1", func(t *testing.T) {
		tree := fake(t, recorded(t, "v1"))
		r, err := tree.Process(4242)
		testenv.OK(t, err)
		defer r.Close()
		file := filepath.Join(tree.Root, "sys/fs/cgroup/memory/docker/0123456789ab/memory.max_usage_in_bytes")
		expect(r, "33734656")
		replace(file, "500")
		begin(r)
		data, _ := os.ReadFile(file)
		testenv.Check(t, string(data) == "0\n0", "%q was written", data)
		for now, want := range map[string]string{"300": "500 300", "700": "700 700", "500": "500 500"} {
			replace(file, now)
			expect(r, want)
		}
		replace(file, "")
		err = r.BeginPeak()
		testenv.Check(t, errors.Is(err, ErrNone), "%v", err)
	})
	t.Run("v2", func(t *testing.T) {
		r := follow(t, recorded(t, "v2-systemd"), 4211)
		own := filepath.Join(t.TempDir(), "memory.peak of this open file")
		replace(own, "402653184\n")
		f := testenv.Must(os.OpenFile(own, os.O_RDWR, 0))(t)
		r.stepPeak.Close()
		r.stepPeak = f
		begin(r)
		for _, now := range []string{"230686720", "314572800"} { // the kernel's next values
			replace(own, now)
			expect(r, "402653184 "+now)
		}
		replace(own, "x")
		expect(r, "402653184")
		f.Close()
		testenv.Check(t, r.BeginPeak() != nil, "a closed file was reset")
	})
	t.Run("before Linux 6.12", func(t *testing.T) {
		r := follow(t, recorded(t, "v2-cgroupfs"), 4211)
		err := r.BeginPeak()
		testenv.Check(t, errors.Is(err, errPeak), "%v", err)
		expect(r, "226492416")
	})
}

// Files are opened once. A reading does not open a file or leave one open.
func TestReader_OpenFiles(t *testing.T) {
	count := func() int { e, _ := os.ReadDir("/proc/self/fd"); return len(e) }
	if count() == 0 {
		t.Skip("no /proc here")
	}
	r := follow(t, recorded(t, "v2"), 77)
	before := count()
	for range 100 {
		usage(t, r)
	}
	testenv.Equal(t, count(), before)
	if r.Close(); count() >= before {
		t.Error("Close closed nothing")
	}
	// A file that is longer than the buffer, and one that is longer than what is read.
	long := strings.Repeat("x 1\n", maxRead/4)
	for content, want := range map[string]int{long[:64<<10]: 16 << 10, long: maxRead / 4, long + long: maxRead / 4} {
		f := testenv.Must(os.Open(filepath.Join(fake(t, files{"f": content}).Root, "f")))(t)
		r := &Reader{files: map[string]*os.File{"f": f}, buf: make([]byte, 16<<10)}
		n, ok := r.lines("f")
		testenv.Check(t, n == want && ok, "%d lines, want %d", n, want)
		r.Close()
	}
}

// TestReader_ListsOfV1: what starts after the first reading is read, although the kernel keeps the lists of open files.
func TestReader_ListsOfV1(t *testing.T) {
	thread := "Name:\tx\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t0\n"
	tree := fake(t, files{"proc/self/mountinfo": "31 25 0:2 / /cpu rw - cgroup cgroup rw,cpuacct,cpu\n", "proc/7/cgroup": "1:cpuacct,cpu:/g\n",
		"proc/7/status": thread, "proc/8/status": thread, "cpu/g/cpuacct.usage": "1\n", "cpu/g/tasks": "7\n", "cpu/g/cgroup.procs": "7\n"})
	r := testenv.Must(tree.Process(7))(t)
	defer r.Close()
	r.Follow(7)
	for n, list := range []string{"7\n", "7\n8\n"} {
		for _, name := range []string{"tasks", "cgroup.procs"} {
			file := filepath.Join(tree.Root, "cpu/g", name)
			testenv.OK(t, os.Remove(file))
			testenv.OK(t, os.WriteFile(file, []byte(list), 0o644))
		}
		u := testenv.Must(r.Read())(t)
		testenv.Need(t, u.Processes != nil && u.Switches != nil, "%+v", u)
		testenv.Equal(t, *u.Processes, n+1)
		testenv.Equal(t, u.Switches.Voluntary, int64(n+1))
	}
}
