package cgroup

import (
	"bytes"

	"github.com/locbench/locbench/internal/bench"
)

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
	{"ollector Thread", collects, "Bun 1.4: a name that is cut in front"},
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
