package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// rule finds a bottleneck by one of its functions, which return a text if it is one.
type rule struct {
	bound Bound
	holds func(facts) string
	need  func(facts, need) string // for each need, which is then the bottleneck
}

func (r rule) of(f facts) (bound Bound, text string) {
	if r.need == nil {
		return r.bound, r.holds(f)
	}
	for _, n := range f.needs {
		if text = r.need(f, n); text != "" {
			return Bound(n.name), text
		}
	}
	return "", ""
}

// rules are tried in this order.
var rules = []rule{
	{bound: Memory, holds: facts.killed},
	{bound: Errors, holds: facts.fails},
	{bound: Quota, holds: facts.overQuota},
	{bound: Memory, holds: facts.atMemoryLimit},
	{bound: Memory, holds: facts.rereads},
	{bound: Client, holds: facts.clientBusy},
	// Before needs and machine: a thread that ran all the time waited for neither.
	{bound: Threads, holds: facts.threadBusy},
	{need: facts.needThreadBusy},
	// Before needs and machine: other programs may keep all CPUs busy although more connections
	// bring several times the throughput.
	{bound: Connections, holds: facts.moreBringsMuch},
	{need: facts.needBusy},
	// Before the machine: who waits for a disk does not wait for the CPUs that other programs use.
	{bound: Disk, holds: facts.contenderWaits},
	{need: facts.needWaits},
	{bound: Contender, holds: facts.logs},
	// Before the machine: other programs do not keep those that hardly need a CPU from more throughput.
	{bound: Contender, holds: facts.inTurn},
	{bound: Machine, holds: facts.machineBusy},
	{need: facts.needHolds},
	{bound: Rate, holds: facts.rateKept},
	{bound: Connections, holds: facts.moreBringsMore},
	{bound: Contender, holds: facts.moreBringsNothing},
	{bound: Connections, holds: facts.latencyFlat},
}

func (f facts) killed() string {
	if n := oomKills(f.step); n > 0 {
		return fmt.Sprintf("out of memory: %s killed at the limit of %s", units.Plural(n, "process"), units.Bytes(f.memory))
	}
	return ""
}

func (f facts) fails() string {
	if r := f.step.Load.ErrorRate(); r >= mostErrors {
		return fmt.Sprintf("%s of responses were errors", units.Percent(r))
	}
	return ""
}

func (f facts) overQuota() string {
	if !AtQuota(f.step, f.quota) {
		return ""
	}
	return ofQuota("", f.cpus, f.quota, f.throttled)
}

// ofQuota says how much of a quota was used, and how it throttled.
func ofQuota(whose string, used, quota float64, t bench.Throttling) string {
	text := fmt.Sprintf("%s of %s%s", units.Percent(used/quota), whose, units.CPUs(quota))
	if t.Periods > 0 {
		text += fmt.Sprintf(", %d of %d periods throttled for %s", t.Throttled, t.Periods, units.Duration(t.Time))
	}
	return text
}

// atMemoryLimit also checks memory without the page cache, because a cache alone fills any limit.
func (f facts) atMemoryLimit() string {
	b, a := memories(f.step)
	if f.memory <= 0 || b.LimitHits == nil || a.LimitHits == nil || *a.LimitHits <= *b.LimitHits ||
		float64(a.Used) < usedUp*float64(f.memory) {
		return ""
	}
	text := fmt.Sprintf("%s of %s in use, limit hit %s times", units.Bytes(a.Used), units.Bytes(f.memory),
		units.Count(*a.LimitHits-*b.LimitHits))
	if b.MajorFaults != nil && a.MajorFaults != nil && *a.MajorFaults > *b.MajorFaults {
		text += fmt.Sprintf(", %s pages reread from disk", units.Count(*a.MajorFaults-*b.MajorFaults))
	}
	return text
}

// rereads finds a contender that stays below its limit only because the kernel evicts page cache
// that is needed again. Not every kernel counts hits of the limit, so peak memory shows the cause.
func (f facts) rereads() string {
	b, a := memories(f.step)
	if f.memory <= 0 || b.Refaults == nil || a.Refaults == nil || float64(a.Peak) < atLimit*float64(f.memory) {
		return ""
	}
	pages, responses := *a.Refaults-*b.Refaults, f.step.Load.Ended()
	if responses == 0 || float64(pages) < refaulting*float64(responses) {
		return ""
	}
	return fmt.Sprintf("page cache thrashing at the limit of %s: %s pages reread, %.1f per response; "+
		"%s in use without page cache",
		units.Bytes(f.memory), units.Count(pages), float64(pages)/float64(responses), units.Bytes(a.Used))
}

func (f facts) clientBusy() string {
	may := f.step.Load.ClientCPUs
	if ThreadBusy(f.step.Load) {
		return fmt.Sprintf("a client thread was busy %s of the step",
			units.Percent(f.step.Load.Saturation))
	}
	if may > 0 && f.client >= usedUp*may {
		return fmt.Sprintf("client used %.2f of its %s", f.client, units.CPUs(may))
	}
	if f.local && f.client >= usedUp*f.machine {
		return fmt.Sprintf("client used %.2f of %s", f.client, units.CPUs(f.machine))
	}
	return ""
}

func (f facts) needBusy(n need) string {
	if !n.cpusOK {
		return ""
	}
	if atQuota(n.cpus, n.quota, n.throttled) {
		return ofQuota("its ", n.cpus, n.quota, n.throttled)
	}
	if n.set > 0 && n.cpus >= usedUp*n.set {
		return fmt.Sprintf("%s of its %s", units.Percent(n.cpus/n.set), units.CPUs(n.set))
	}
	share := fmt.Sprintf("%s of %s", units.Percent(n.cpus/f.host), units.CPUs(f.host))
	if n.cpus >= usedUp*f.host {
		return share
	}
	if f.busyOK && f.busy+f.steal >= fullyBusy && n.cpus >= f.host/2 {
		return fmt.Sprintf("%s, which were %s busy", share, units.Percent(f.busy))
	}
	return ""
}

func (f facts) machineBusy() string {
	if !f.busyOK || !f.local {
		return ""
	}
	by := ""
	if f.cpusOK {
		by = fmt.Sprintf(": contender %.2f, client %.2f", f.cpus, f.client)
		rest := f.busy*f.host - f.cpus - f.client
		for _, n := range f.needs {
			if rest -= n.cpus; n.cpusOK {
				by += fmt.Sprintf(", %s %.2f", n.name, n.cpus)
			}
		}
		if f.logCPUs >= ofLog {
			rest -= f.logCPUs
			by += fmt.Sprintf(", the engine for its log %.2f", f.logCPUs)
		}
		// The rest is other programs, if the needs' part is known; that of an embedded need is the
		// client's.
		if len(f.needs) > 0 && rest >= otherWork*f.host {
			by += fmt.Sprintf(", other %.2f", rest)
		}
	}
	if f.steal >= stealBinds {
		return fmt.Sprintf("other VMs took %s of its CPU time%s", units.Percent(f.steal), by)
	}
	if f.busy+f.steal >= fullyBusy {
		return fmt.Sprintf("%s were %s busy%s", units.CPUs(f.host), units.Percent(f.busy), by)
	}
	return ""
}

// logs finds a contender whose log takes CPUs that are then missing: the work of the engine that
// passes it on is not that of other programs.
func (f facts) logs() string {
	if !f.busyOK || !f.local || f.busy+f.steal < fullyBusy || f.logCPUs < otherWork*f.host {
		return ""
	}
	l, _ := f.step.Log()
	return fmt.Sprintf("the engine used %.2f CPUs for its log, %s per request, while %s were %s busy", f.logCPUs,
		LogPerRequest(l, f.step.Load), units.CPUs(f.host), units.Percent(f.busy))
}

// LogPerRequest returns the size of a log in words: "3.0 lines and 412 B".
func LogPerRequest(l bench.Log, load bench.Load) string {
	n := max(1, load.Ended())
	lines := fmt.Sprintf("%.1f lines", float64(l.Lines)/float64(n))
	if lines == "1.0 lines" {
		lines = "1 line"
	}
	return lines + " and " + units.Bytes(l.Bytes/n)
}

func (f facts) needHolds(n need) string {
	if all := f.step.Load.InFlight; n.heldOK && all > 0 && n.held >= waiting*all {
		return fmt.Sprintf("%.1f of %.1f requests waited for it", min(n.held, all), all)
	}
	return ""
}

func (f facts) rateKept() string {
	l := f.step.Load
	if !f.step.Step.Open() || l.Scheduled == 0 || l.Succeeded == 0 || float64(l.Late+l.Dropped) > late*float64(l.Scheduled) {
		return ""
	}
	text := fmt.Sprintf("%s of %s scheduled requests succeeded", units.Count(l.AllSucceeded()),
		units.Count(l.Scheduled))
	if f.quota > 0 && f.cpusOK {
		text += fmt.Sprintf(", with %s of %s", units.Percent(f.cpus/f.quota), units.CPUs(f.quota))
	}
	return text
}

func (f facts) moreBringsMuch() string { return f.brings(muchMore) }
func (f facts) moreBringsMore() string { return f.brings(more) }

// threadBusy finds a contender whose only busy thread has no time left, while its quota has.
func (f facts) threadBusy() string {
	share, ok := f.step.BusyThread()
	if !ok || !f.cpusOK || share < threadFull || f.cpus >= usedUp*f.may || !f.full() {
		return ""
	}
	return oneThread(share, f.cpus, f.may) + ": " + moreThreadsBy(f.language)
}

// needThreadBusy does the same for a need: one thread of a cache, or the one connection to a database.
func (f facts) needThreadBusy(n need) string {
	may := cmp.Or(n.quota, n.set, f.host)
	if !n.cpusOK || n.thread < threadFull || n.cpus >= usedUp*may || !f.full() {
		return ""
	}
	return oneThread(n.thread, n.cpus, may)
}

// oneThread says how busy one thread was, and the others of those that may use some CPUs.
func oneThread(share, used, may float64) string {
	return fmt.Sprintf("one thread was busy %s of the time, all others used %.2f of the %s that it may use",
		units.Percent(share), max(0, used-share), units.CPUs(may))
}

// full reports whether more connections, or a higher rate, bring nothing: those of another step do
// not, requests queue, or there are several for each CPU.
func (f facts) full() bool {
	switch {
	case f.step.Step.Open():
		return f.rateKept() == ""
	case len(f.above) > 0:
		return f.brings(more) == ""
	case len(f.below) > 0:
		return f.queues(muchMore) != ""
	}
	return float64(f.step.Step.Connections) >= manyEach*f.may
}

// family is what languages of manifests have in common: what makes their runtimes use more threads,
// a larger heap if it is the same in 256 and 512 MiB, a larger heap for a busy collector, less
// compiling, and a larger pool for requests that wait.
type family struct {
	languages                               []string
	threads, heap, collects, compiles, pool string
}

var families = []family{
	{languages: []string{"rust"}, threads: "TOKIO_WORKER_THREADS, worker_threads or .workers(n)", pool: "spawn_blocking"},
	{languages: []string{"javascript", "typescript", "node", "node.js"}, threads: "cluster with one worker for each CPU begun, or worker_threads",
		heap: "--max-old-space-size", pool: "UV_THREADPOOL_SIZE, or the pool of its database client"},
	{languages: []string{"python"}, threads: "the number of workers (--workers, WEB_CONCURRENCY)", pool: "--threads, --workers"},
	{languages: []string{"ruby"}, threads: "WEB_CONCURRENCY", pool: "RAILS_MAX_THREADS"},
	{languages: []string{"php"}, threads: "pm.max_children, or the number of workers", pool: "pm.max_children"},
	{languages: []string{"go"}, threads: "GOMAXPROCS", pool: "SetMaxOpenConns, MaxConnsPerHost"},
	{languages: []string{"java", "kotlin", "scala", "clojure", "groovy"}, threads: "the threads of its event loop, or -XX:ActiveProcessorCount",
		heap: "-XX:MaxRAMPercentage", collects: "-Xmx, -XX:MaxRAMPercentage",
		compiles: "-XX:TieredStopAtLevel=1, more CPUs, a native image",
		pool:     "the threads of its server, -Djava.util.concurrent.ForkJoinPool.common.parallelism, virtual threads"},
	{languages: []string{"c#", "f#", ".net"}, threads: "DOTNET_PROCESSOR_COUNT", collects: "its memory limit, DOTNET_GCHeapHardLimit",
		compiles: "ReadyToRun, Native AOT", pool: "ThreadPool.SetMinThreads"},
	{languages: []string{"elixir", "erlang"}, threads: "the number of schedulers (+S)"},
}

func familyOf(language string) family {
	is := func(f family) bool { return slices.Contains(f.languages, strings.ToLower(strings.TrimSpace(language))) }
	if i := slices.IndexFunc(families, is); i >= 0 {
		return families[i]
	}
	return family{threads: "its number of workers or threads"}
}

// moreThreadsBy says what to set for more threads in a language.
func moreThreadsBy(language string) string {
	return "set " + familyOf(language).threads + "; see docs/runtimes.md"
}

// HeapOption returns what sets the heap of a language whose runtimes have the same one in 256 and
// 512 MiB; "" for others.
func HeapOption(language string) string { return familyOf(language).heap }

// brings returns a text if a step with more connections had at least times × the throughput.
func (f facts) brings(times float64) string {
	for _, s := range f.above {
		if f.step.Load.Succeeded == 0 { // those above have successes
			return fmt.Sprintf("%d connections gave responses, %d none", s.Step.Connections, f.step.Step.Connections)
		}
		if ratio := s.Load.Throughput() / f.step.Load.Throughput(); ratio >= times {
			return fmt.Sprintf("%d connections gave %.2f× the throughput of %d", s.Step.Connections, ratio,
				f.step.Step.Connections)
		}
	}
	return ""
}

// moreBringsNothing also holds on a machine that is nearly busy, if many requests are in flight: those
// that wait for its CPUs would keep them all busy.
func (f facts) moreBringsNothing() string {
	most := nearlyBusy
	if float64(f.step.Step.Connections) >= queueEach*f.host {
		most = fullyBusy
	}
	if !f.cpusOK || f.busyOK && f.busy+f.steal >= most {
		return ""
	}
	text := f.queues(more)
	if text == "" {
		return ""
	}
	text += fmt.Sprintf(", using %.2f of %s", f.cpus, units.CPUs(cmp.Or(max(f.quota, 0), f.machine)))
	if len(f.needs) == 0 {
		text += "; it may wait for what is not measured, such as a database"
	}
	return text
}

// inTurn finds a contender that serves few requests at a time on a machine that is busy for others: a
// multiple of the connections has the same throughput at that multiple of the latency, and neither
// the contender nor a need or the client uses much of the CPUs.
func (f facts) inTurn() string {
	low := func(cpus, of float64) bool { return cpus < hardly*of }
	if !f.busyOK || f.busy+f.steal < nearlyBusy || !f.cpusOK || !low(f.cpus, f.may) || !low(f.client, f.machine) ||
		slices.ContainsFunc(f.needs, func(n need) bool { return !n.cpusOK || !low(n.cpus, f.host) }) {
		return ""
	}
	for _, s := range f.below {
		times := float64(f.step.Step.Connections) / float64(s.Step.Connections)
		latency, ok := f.slower(s)
		if ratio := f.step.Load.Throughput() / s.Load.Throughput(); ok && times >= muchMore && latency >= inProportion*times && ratio < more {
			return fmt.Sprintf("%d connections gave %.2f× the throughput of %d at %.1f× the latency, using %.2f of %s",
				f.step.Step.Connections, ratio, s.Step.Connections, latency, f.cpus, units.CPUs(cmp.Or(max(f.quota, 0), f.machine)))
		}
	}
	return ""
}

// queues returns a text if requests queue: this step has a longer latency than one with fewer
// connections, and less than times its throughput.
func (f facts) queues(times float64) string {
	if len(f.below) == 0 {
		return ""
	}
	best := slices.MaxFunc(f.below, func(a, b *bench.StepResult) int {
		return cmp.Compare(a.Load.Throughput(),
			b.Load.Throughput())
	})
	ratio := f.step.Load.Throughput() / best.Load.Throughput()
	latency, ok := f.slower(best)
	if ratio >= times || !ok || latency < sameTime {
		return ""
	}
	return fmt.Sprintf("%d connections gave %.2f× the throughput of %d at %.1f× the latency",
		f.step.Step.Connections, ratio, best.Step.Connections, latency)
}

// slower returns the ratio of the mean latencies of the step and s.
func (f facts) slower(s *bench.StepResult) (times float64, ok bool) {
	a, b := f.step.Load.Latency.Mean, s.Load.Latency.Mean
	return float64(a) / float64(max(b, 1)), a > 0 && b > 0
}

// latencyFlat is for the step with the most connections, or the only one so far.
func (f facts) latencyFlat() string {
	if f.step.Step.Open() || f.step.Load.Succeeded == 0 {
		return ""
	}
	for _, s := range f.below {
		if latency, ok := f.slower(s); ok && latency < sameTime {
			return fmt.Sprintf("latency still %.2f× that of %d", latency, s.Step.Connections)
		}
	}
	if f.step.Step.Connections == 1 {
		return "one request at a time"
	}
	return ""
}

func (f facts) unclear() string {
	if !f.cpusOK {
		return "no counters of the contender"
	}
	of := " CPUs"
	if f.quota > 0 {
		of = " of " + units.CPUs(f.quota)
	}
	what := "no limit reached"
	if f.step.Load.Succeeded == 0 {
		what = "nothing succeeded"
	}
	text := fmt.Sprintf("%s: contender used %.2f%s, client %.2f", what, f.cpus, of, f.client)
	if f.busyOK && f.local {
		text += fmt.Sprintf("; machine %s busy", units.Percent(f.busy))
	}
	return text + f.waitingWords()
}
