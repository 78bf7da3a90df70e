package cgroup

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestStall(t *testing.T) {
	const us = time.Microsecond
	for in, want := range map[string]string{
		"some avg10=0.00 avg60=0.32 avg300=3.70 total=14118633912\n" +
			"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n": fmt.Sprint(14118633912*us, " ", 7*us),
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n": fmt.Sprint(5*us, " none"),
		"some total=4611686018427387\n":                    fmt.Sprint(4611686018427387*us, " none"),
		"some total=4611686018427388\n":                    "nil",
		"full total=5\n":                                   "nil",
		"some total=-1\n":                                  "nil",
		"some total=99999999999999999999":                  "nil",
		"":                                                 "nil",
		"some total=1\nsome total=2\nfull total=x\nfull total=3\nfull total=4": fmt.Sprint(us, " ", 3*us),
	} {
		t.Run(in, func(t *testing.T) {
			got := "nil"
			if s := Stall([]byte(in)); s != nil {
				got = fmt.Sprint(s.Some, " none")
				if s.Full != nil {
					got = fmt.Sprint(s.Some, " ", *s.Full)
				}
			}
			testenv.Check(t, got == want, "%q: %s, want %s", in, got, want)
		})
	}
}

const headings = "Inter-|   Receive                                                |  Transmit\n" +
	" face |bytes    packets errs drop fifo frame compressed multicast|" +
	"bytes    packets errs drop fifo colls carrier compressed\n"

func TestNetwork(t *testing.T) {
	line := func(name string, in, out int64) string {
		return fmt.Sprintf("%6s:%8d 2 0 0 0 0 0 0 %8d 1 0 0 0 0 0 0\n", name, in, out)
	}
	for name, tt := range map[string]struct {
		in        string
		rx, tx    int64
		available bool
	}{
		"a container's":       {headings + line("lo", 900, 900) + line("eth0", 100, 200), 100, 200, true},
		"two networks":        {headings + line("eth0", 100, 200) + line("lo", 5, 5) + line("b", 1, 2), 101, 202, true},
		"no network":          {headings + line("lo", 900, 901), 900, 901, true},
		"one direction":       {headings + line("a", 100, 0) + line("b", 0, 200), 100, 200, true},
		"nothing":             {headings, 0, 0, false},
		"garbage":             {"eth0: x y z\n: \nlo:" + strings.Repeat(" -1", 16), 0, 0, false},
		"too large for int64": {line("a", 1<<62, 0) + line("b", 1<<62, 0), 1 << 62, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			rx, tx, ok := network([]byte(tt.in))
			testenv.Check(t, rx == tt.rx && tx == tt.tx && ok == tt.available, "%s: %d, %d, %v", name, rx, tx, ok)
		})
	}
}

func TestNumbers(t *testing.T) {
	ids, whole := numbers([]byte("12\n0\n2147483647\n2147483648\nx\n-3\n9\n"), 3)
	testenv.Check(t, slices.Equal(ids, []int{12, math.MaxInt32, 9}) && whole, "%v %v", ids, whole)
	ids, whole = numbers([]byte("1\n2\n3\n"), 2)
	testenv.Check(t, len(ids) == 2 && !whole, "%v %v", ids, whole)
}

// TestThreadsComeAndGo: the sum only grows, even when threads end and their numbers are used
// again.
func TestThreadsComeAndGo(t *testing.T) {
	root := t.TempDir()
	set := func(id int, voluntary, involuntary int) {
		t.Helper()
		text := fmt.Sprintf("Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", voluntary, involuntary)
		testenv.Write(t, text, root, "proc", strconv.Itoa(id), "status")
	}
	threads := &threadTimes{root: root}
	defer threads.close()
	want := func(voluntary, involuntary int64, ids ...int) {
		t.Helper()
		var u bench.Usage
		threads.read(&u, ids)
		s := u.Switches
		testenv.Check(t, s != nil && s.Voluntary == voluntary && s.Involuntary == involuntary && s.Source == switchesSource,
			"%v: %+v, want %d and %d", ids, s, voluntary, involuntary)
	}
	set(1, 10, 1)
	set(2, 100, 2)
	want(110, 3, 1, 2)
	set(2, 150, 2)
	want(160, 3, 1, 2)
	want(160, 3, 1) // the second has ended
	want(160, 3, 1, 77)
	set(2, 5, 0) // another one with its number
	want(165, 3, 1, 2)
	set(1, 11, 1)
	want(166, 3, 2, 1)
	want(166, 3)
	testenv.Check(t, len(threads.open) == 0, "%d files are open", len(threads.open))
}

// The CPU time of each running thread is that of its schedstat; without one of them none is known.
func TestCPUOfThreads(t *testing.T) {
	root := t.TempDir()
	set := func(id int, name, text string) {
		testenv.Write(t, text, root, "proc", strconv.Itoa(id), name)
	}
	threads := &threadTimes{root: root}
	defer threads.close()
	want := func(want map[int]time.Duration, ids ...int) {
		t.Helper()
		var u bench.Usage
		threads.read(&u, ids)
		testenv.Equal(t, u.ThreadCPU, want)
	}
	for id := range 3 {
		set(id+1, "status", "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1\n")
	}
	set(1, "schedstat", "1500 20 3\n")
	set(2, "schedstat", "70 20 3\n")
	want(map[int]time.Duration{1: 1500, 2: 70}, 1, 2)
	set(1, "schedstat", "2500 20 3\n")
	set(2, "schedstat", "broken\n")
	want(map[int]time.Duration{1: 2500, 2: 70}, 1, 2)
	want(map[int]time.Duration{1: 2500}, 1)
	want(nil, 1, 3)
}

// What threads did is known by their names, of those that have ended, too.
func TestThreadTime(t *testing.T) {
	root := t.TempDir()
	set := func(id int, name string, cpu int) {
		testenv.Write(t, "Name:\t"+name+"\nUmask:\t0022\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1\n",
			root, "proc", strconv.Itoa(id), "status")
		testenv.Write(t, strconv.Itoa(cpu)+" 20 3\n", root, "proc", strconv.Itoa(id), "schedstat")
	}
	threads := &threadTimes{root: root}
	defer threads.close()
	want := func(served, compiled, collected, runtime bench.Duration, ids ...int) {
		t.Helper()
		var u bench.Usage
		threads.read(&u, ids)
		testenv.Equal(t, u.ThreadTime, &bench.ThreadTime{Served: served, Compiled: compiled, Collected: collected, Runtime: runtime})
	}
	set(1, "java", 1)
	set(2, "C2 CompilerThre", 20)
	set(3, "GC Thread#0", 300)
	set(4, "node-V8Worker", 4000)
	set(5, "G1", 50000) // a thread of the service may be called so
	want(50001, 20, 300, 4000, 1, 2, 3, 4, 5)
	want(50001, 20, 300, 4000, 1) // the others have ended
	set(2, "http-nio-8080-e", 7)  // another with the number of one that has ended
	want(50008, 20, 300, 4000, 1, 2)
	set(1, "C1 CompilerThre", 2) // a name may change after the start
	want(50007, 22, 300, 4000, 1, 2)
	set(1, "java", 2) // not read: it has not run
	want(50007, 22, 300, 4000, 1, 2)

	for name, want := range map[string]work{
		"C1 CompilerThre": compiles, "C2 CompilerThre": compiles, ".NET Tiered Com": compiles,
		"VM Thread": collects, "ParGC Thread#1": collects, "G1 Conc#0": collects, "ZWorkerYoung#0": collects, "XWorker#0": collects,
		"ZDriverMinor": collects, "Shenandoah GC T": collects, ".NET Server GC": collects, ".NET BGC": collects,
		"V8Worker": either, "V8 DefaultWorke": either, "JITWorker": compiles, "HeapHelper": collects, "ollector Thread": collects, "node": serves, "MainThread": serves, "libuv-worker": serves, ".NET TP Worker": serves, "tokio-rt-worker": serves, "server.rb:3": serves,
		"VM Periodic Tas": serves, "": serves,
	} {
		testenv.Check(t, workOf([]byte("Name:\t"+name+"\nUmask:\t0022\n")) == want, "%q does %d, want %d", name,
			workOf([]byte("Name:\t"+name+"\n")), want)
	}
	testenv.Check(t, workOf([]byte("Umask:\t0\nName:\tVM Thread\n")) == serves, "a status without a name")
}

// TestThreadsOfThisProcess: a sleeping thread gives up its CPU, and the kernel counts that.
func TestThreadsOfThisProcess(t *testing.T) {
	ids := func() (ids []int) {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Skip("no /proc here")
		}
		for _, e := range entries {
			id, _ := strconv.Atoi(e.Name())
			ids = append(ids, id)
		}
		return ids
	}
	threads := &threadTimes{}
	defer threads.close()
	read := func() *bench.Switches {
		var u bench.Usage
		threads.read(&u, ids())
		return u.Switches
	}
	before := read()
	testenv.Need(t, before != nil, "nothing was read")
	testenv.Until(t, 30*time.Second, "more switches than before", func() bool {
		after := read()
		return after != nil && after.Voluntary > before.Voluntary
	})
}

func FuzzProcParsers(f *testing.F) {
	for _, s := range []string{
		"some avg10=0.00 total=5\nfull total=6\n", headings + "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
		"voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n", "12\n0\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Stall(data)
		testenv.Check(t, s == nil || s.Some >= 0 && (s.Full == nil || *s.Full >= 0), "%v", s)
		in, out, ok := network(data)
		testenv.Check(t, in >= 0 && out >= 0 && (ok || in == 0 && out == 0), "%v %v %v", in, out, ok)
		v, i, ok := switches(data)
		testenv.Check(t, !ok || v >= 0 && i >= 0, "%v %v", v, i)
		ids, _ := numbers(data, 10)
		testenv.Check(t, len(ids) <= 10 && !slices.ContainsFunc(ids, func(n int) bool { return n <= 0 }), "%v", ids)
	})
}
