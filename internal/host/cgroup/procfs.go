// Parsers of counters in /proc, in addition to those of groups. They treat their input as hostile
// and leave out what makes no sense.
package cgroup

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Stall reads a file such as
//
//	some avg10=0.00 avg60=0.32 avg300=3.70 total=14118633912
//	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
//
// where total is in microseconds. Before Linux 5.13 the file of the CPU has no second line. Stall
// returns nil if the first line is missing.
func Stall(data []byte) *bench.Stall {
	var s *bench.Stall
	for line := range bytes.Lines(data) {
		kind, rest, _ := bytes.Cut(line, []byte(" "))
		total, ok := stallTotal(rest)
		switch {
		case !ok:
		case string(kind) == "some" && s == nil:
			s = &bench.Stall{Some: total}
		case string(kind) == "full" && s != nil && s.Full == nil:
			s.Full = &total
		}
	}
	return s
}

func stallTotal(fields []byte) (time.Duration, bool) {
	_, value, ok := bytes.Cut(fields, []byte("total="))
	if !ok {
		return 0, false
	}
	n, ok := number(value)
	return time.Duration(n) * time.Microsecond, ok && n <= int64(1<<62/time.Microsecond)
}

// network adds up the bytes of /proc/PID/net/dev over all interfaces but loopback, or of loopback
// if there is no other. ok is false if no line can be read.
func network(data []byte) (received, sent int64, ok bool) {
	var lo [2]int64
	onlyLo := false
	for line := range bytes.Lines(data) {
		name, rest, found := strings.Cut(string(line), ":")
		f := strings.Fields(rest)
		if !found || len(f) < 16 {
			continue // one of the two heading lines
		}
		in, err1 := strconv.ParseInt(f[0], 10, 64)
		out, err2 := strconv.ParseInt(f[8], 10, 64)
		if err1 != nil || err2 != nil || in < 0 || out < 0 || received+in < received || sent+out < sent {
			continue
		}
		if strings.TrimSpace(name) == "lo" {
			lo, onlyLo = [2]int64{in, out}, true
			continue
		}
		received, sent, ok = received+in, sent+out, true
	}
	if !ok && onlyLo {
		return lo[0], lo[1], true
	}
	return received, sent, ok
}

// switches reads the last two lines of /proc/TID/status.
func switches(status []byte) (voluntary, involuntary int64, ok bool) {
	found := 0
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		var to *int64
		switch string(name) {
		case "voluntary_ctxt_switches":
			to = &voluntary
		case "nonvoluntary_ctxt_switches":
			to = &involuntary
		default:
			continue
		}
		n, valid := number(value)
		if !valid {
			return 0, 0, false
		}
		*to = n
		found++
	}
	return voluntary, involuntary, found == 2
}

// numbers reads lines of one number each, as in cgroup.procs, cgroup.threads and tasks, at most
// limit; whole is false if there are more.
func numbers(data []byte, limit int) (ids []int, whole bool) {
	for line := range bytes.Lines(data) {
		n, ok := number(line)
		if !ok || n == 0 || n > math.MaxInt32 { // 0: a process of another namespace
			continue
		}
		if len(ids) == limit {
			return ids, false
		}
		ids = append(ids, int(n))
	}
	return ids, true
}

// work is what a thread does, as its name says.
type work int

const (
	serves   work = iota
	compiles      // to machine code, while the service runs
	collects      // garbage
	either        // of the two, or neither: work of the runtime, not known which
	kinds
)

// threadNames has the work of threads whose names begin so, as seen with each runtime under load. A name has
// at most 15 bytes. Threads of other names serve. Runtimes without such threads (Go, Rust, native images, CPython, Ruby, PHP,
// the Workstation collector and the first tier of .NET) do this work on those that serve.
var threadNames = []struct {
	name string
	work work
	of   string // runtime, and the versions that were seen
}{
	{"C1 CompilerThre", compiles, "OpenJDK 11 to 25"},
	{"C2 CompilerThre", compiles, "OpenJDK 11 to 25"},
	{"GC Thread#", collects, "OpenJDK 11 to 25, G1; 17 to 25, Parallel"},
	{"ParGC Thread#", collects, "OpenJDK 11, Parallel"},
	{"G1 ", collects, "OpenJDK 11 to 25: Conc#, Main Marker, Refine#, Service"},
	{"VM Thread", collects, "OpenJDK 11 to 25: all of Serial, and the pauses of the others"},
	{"ZWorker", collects, "OpenJDK 17 to 25, ZGC: also Young#, Old#"},
	{"ZDriver", collects, "OpenJDK 17 to 25, ZGC: also Minor, Major"},
	{"ZDirector", collects, "OpenJDK 25, ZGC"},
	{"XWorker#", collects, "OpenJDK 21, ZGC without generations"},
	{"XDriver", collects, "OpenJDK 21, ZGC without generations"},
	{"Shenandoah", collects, "OpenJDK 11 to 25: GC Threads and Control"},
	{".NET Tiered Com", compiles, ".NET 10: the second tier"},
	{".NET Server GC", collects, ".NET 10: one for each heap"},
	{".NET BGC", collects, ".NET 10"},
	{"V8Worker", either, "Node 23 and 24"},
	{"node-V8Worker", either, "Node 25 and 26"},
	{"V8 DefaultWorke", either, "Deno 2.9"},
	{"JITWorker", compiles, "Bun 1.4"},
	{"HeapHelper", collects, "Bun 1.4"},
	{"JSCWarmUp", collects, "Bun 1.4: named by its first job"},
	{"ollector Thread", collects, "Bun 1.4: without its first letters"},
}

// workOf returns the work of a thread by its status, which begins with its name.
func workOf(status []byte) work {
	line, _, _ := bytes.Cut(status, []byte("\n"))
	name, ok := bytes.CutPrefix(line, []byte("Name:\t"))
	if !ok {
		return serves
	}
	for _, t := range threadNames {
		if bytes.HasPrefix(name, []byte(t.name)) {
			return t.work
		}
	}
	return serves
}

// threadTime returns CPU times by work as results have them.
func threadTime(by [kinds]int64) *bench.ThreadTime {
	return &bench.ThreadTime{Served: bench.Duration(by[serves]), Compiled: bench.Duration(by[compiles]),
		Collected: bench.Duration(by[collects]), Runtime: bench.Duration(by[either])}
}
