package measure

import (
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// The measures.
const (
	Throughput    ID = "throughput"
	Errors        ID = "errors"
	ErrorRate     ID = "error-ratio"
	P50           ID = "latency-p50"
	P75           ID = "latency-p75"
	P90           ID = "latency-p90"
	P95           ID = "latency-p95"
	P99           ID = "latency-p99"
	P999          ID = "latency-p99.9"
	Max           ID = "latency-max"
	Mean          ID = "latency-mean"
	P50Half       ID = "p50"
	P99Half       ID = "p99"
	InFlight      ID = "in-flight"
	Sent          ID = "sent"
	StartUp       ID = "start-up"
	PeakTime      ID = "time-to-peak"
	MemoryPeak    ID = "memory"
	MemoryStep    ID = "memory-step"
	MemoryRate    ID = "memory-rate"
	MemoryUsed    ID = "memory-used"
	CPUTime       ID = "cpu-time"
	CPURequest    ID = "cpu" // per request
	InUse         ID = "cpus"
	Throttled     ID = "throttled"
	ThrottledTime ID = "throttled-time"
	Cost          ID = "cost"
	Switches      ID = "switches" // per request
	Compiled      ID = "compiled"
	Collected     ID = "collected"
	Unexpected    ID = "unexpected"
	First         ID = "first-responses"
	DrainMax      ID = "drain-max"
	Reconnects    ID = "reconnects"
	SentAgain     ID = "sent-again"
)

var table = []Measure{
	{
		ID: Throughput, Name: "throughput", Head: "req/s", Unit: PerSecond, Higher: true,
		Of: func(s bench.StepResult) (float64, bool) { return s.Load.Throughput(), s.Load.Elapsed > 0 },
		Definition: Definition{"Throughput (successes/s)",
			"counted by the client: successes whose last byte arrived in the measured interval / its length. " +
				"Load starts before the interval and lasts to its end; responses outside it do not count. " +
				"Success: complete, with the expected status, and the expected body if compared. " +
				"Rejected requests (an expected status from 400 on, of several) do not count."},
		Chart: &Chart{ID: "throughput", Title: "Throughput",
			Note: "Successful responses per second. Errors do not count.", Unit: "successes/s", Zero: true},
		Comparison: &Comparison{Title: "peak throughput", Head: "req/s", Kind: stats.OfThroughput, Zero: "nothing succeeded",
			What: "peak throughput, of each side at its own peak step"},
		CSV:           Column{"throughput", "successes per second"},
		ConditionName: "throughput",
	},
	{
		ID: Errors, Name: "errors", Head: "errors", Unit: Count,
		Of:    func(s bench.StepResult) (float64, bool) { return float64(s.Load.FailedTotal()), true },
		over:  func(s stats.Step) (float64, bool) { return float64(s.FailedTotal()), true },
		whole: func(c stats.Contender) Result { return Result{Known: true, Value: float64(c.ErrorsTotal())} },
		CSV:   Column{"failed", "failed requests, whole step"},
	},
	{
		ID: ErrorRate, Name: "error rate", Head: "err %", Unit: Share,
		Of: func(s bench.StepResult) (float64, bool) {
			return s.Load.ErrorRate(), s.Load.Ended() > 0
		},
		Estimate: func(s bench.StepResult) bool { return s.Load.ErrorRateIsEstimate() },
		over:     func(s stats.Step) (float64, bool) { return s.ErrorRate(), s.Ended() > 0 },
		whole:    errorsOfTrial,
		Definition: Definition{"Error rate (%)",
			"errors / (errors + successes + rejected requests), counted by the client, by kind: unexpected status, " +
				"connection refused, connection reset, incomplete response, timeout, unreadable body, client limit."},
		Chart: &Chart{ID: "errors", Title: "Error rate", Note: "Errors / (errors + successes + rejected).", Unit: "%", Zero: true},
		CSV:   Column{"error_ratio", "failed / (failed + succeeded + rejected), 0 to 1"},
		Comparison: &Comparison{Title: "error rate", Head: "errors", At: FromStartToStop, Kind: stats.OfErrors, Zero: "no errors", Key: "errors",
			What: "share of failed requests, over all steps; the first one where old has none is more than any percentage"},
	},
	{
		ID: Unexpected, Name: "unexpected bodies", Head: "unexpected", Unit: Share,
		Of: func(s bench.StepResult) (float64, bool) { return unexpected(s.Load.Failed, s.Load.Checked) },
		over: func(s stats.Step) (float64, bool) { // shown where it is above 0
			share, _ := unexpected(s.Failed, s.Checked)
			return share, share > 0
		},
		Chart: &Chart{ID: "unexpected", Title: "Unexpected bodies", Note: "Share of the compared bodies.", Unit: "%"},
	},
	quantile(P50, "p50", Column{"p50_ns", "median"}, charted|defined,
		func(l bench.Latencies) time.Duration { return l.P50 }),
	quantile(P75, "p75", Column{"p75_ns", "quantile"}, 0, func(l bench.Latencies) time.Duration { return l.P75 }),
	quantile(P90, "p90", Column{"p90_ns", "quantile"}, charted, func(l bench.Latencies) time.Duration { return l.P90 }),
	quantile(P95, "p95", Column{"p95_ns", "quantile"}, 0, func(l bench.Latencies) time.Duration { return l.P95 }),
	quantile(P99, "p99", Column{"p99_ns", "quantile"}, charted,
		func(l bench.Latencies) time.Duration { return l.P99 }),
	quantile(P999, "p99.9", Column{"p999_ns", "quantile"}, 0, func(l bench.Latencies) time.Duration { return l.P999 }),
	quantile(Mean, "mean", Column{"mean_ns", "mean"}, 0, func(l bench.Latencies) time.Duration { return l.Mean }),
	quantile(Max, "max", Column{"max_ns", "longest"}, 0, func(l bench.Latencies) time.Duration { return l.Max }),
	{ID: P50Half, Name: "p50 at half peak", Head: "p50", Unit: Nanoseconds,
		Of:    latency(func(l bench.Latencies) time.Duration { return l.P50 }),
		whole: half(func(l bench.Latencies) time.Duration { return l.P50 }),
		Comparison: &Comparison{Title: "p50", Long: "p50 at half peak", Head: "p50", At: AtHalf, Kind: stats.OfLatency,
			What: "median latency at the step of p99"}},
	{
		ID: P99Half, Name: "p99 at half peak", Head: "p99", Unit: Nanoseconds,
		Of:    latency(p99),
		over:  func(s stats.Step) (float64, bool) { return known(s.Latency, p99) },
		whole: half(p99),
		Definition: Definition{"Latency at half peak (ms, µs)",
			"at the open-loop step at 50% of peak or of the lowest peak, if there is one; else at the closed-loop step nearest to half peak. " +
				"All rounds, histograms merged."},
		Comparison: &Comparison{Title: "p99", Long: "p99 at half peak", Head: "p99", At: AtHalf, Kind: stats.OfLatency,
			What: "latency that 99% of successes stay below, at the step at half of the old peak"},
	},
	{
		ID: InFlight, Name: "requests in flight", Head: "in flight", Unit: Number,
		Of: func(s bench.StepResult) (float64, bool) { return s.Load.InFlight, s.Load.InFlight > 0 },
		Chart: &Chart{ID: "in-flight", Title: "Requests in flight",
			Note: "Throughput × mean latency (Little's law). If all connections are in flight, they are the bottleneck."},
	},
	{ID: Sent, Name: "sent", Head: "sent", Unit: Count,
		Of: func(s bench.StepResult) (float64, bool) { return float64(s.Load.Sent), true }},
	{
		ID: StartUp, Name: "start-up", Head: "start-up", Unit: Nanoseconds,
		whole: func(c stats.Contender) Result { return ResultOf(c.StartUp) },
		Definition: Definition{"Start-up time (ms)",
			"from process start to the first ready response, by the clock of locbench's machine."},
		Comparison: &Comparison{Title: "start-up", Head: "start", At: FromStartToStop, Near: float64(10 * time.Millisecond),
			What: "time from process start to the first ready response"},
	},
	{
		ID: PeakTime, Name: "time to peak", Head: "to peak", Unit: Nanoseconds,
		whole: func(c stats.Contender) Result { return ResultOf(c.PeakTime) },
		Definition: Definition{"Time to peak (s)",
			"from process start to the first 1 s window within 3% of the final throughput and staying there " +
				"(running median of five windows). Searched in the end of the warm-up and the measured steps with the same load; " +
				"final throughput is the median of the last third of those windows. If they scatter by more than 3%, " +
				"twice their scatter is used. Includes time before the load, such as checks. " +
				"None if throughput did not stay, for interleaved runs and for targets."},
		Comparison: &Comparison{Title: "time to peak", Head: "to peak", At: FromStartToStop,
			What: "time from process start to full speed"},
	},
	{
		ID: MemoryPeak, Name: "peak memory", Head: "peak memory", Unit: Bytes, whole: memoryOfTrial,
		Of:      memory(func(m bench.Memory) int64 { return m.Peak }),
		AtLeast: sampled,
		Definition: Definition{"Peak memory (MiB = 2²⁰ bytes)",
			"highest memory use since start (high-water mark), as counted by the kernel: memory.peak (cgroup v2), " +
				"max_usage_in_bytes (v1) or VmHWM (process). “≥”: largest sample, no counter available; " +
				"the true peak may be higher."},
		Chart: &Chart{ID: "memory-peak", Title: "Peak memory",
			Note: "Since the contender's start, at the end of the step.", Unit: "MiB"},
		Comparison: &Comparison{Title: "peak memory", Head: "memory", At: FromStartToStop, Guess: "peak is the largest sample; the true one may be higher",
			What: "peak memory of the contender"},
		CSV: Column{"memory_peak_bytes", "peak memory since the start of the contender"},
	},
	{
		ID: MemoryStep, Name: "peak memory of the step", Head: "step peak", Unit: Bytes,
		Of: func(s bench.StepResult) (float64, bool) { n, ok := s.StepPeak(); return float64(n), ok },
		Chart: &Chart{ID: "memory-step", Title: "Peak memory of the step",
			Note: "Reset at each step, if the kernel can (cgroup v1; v2 since Linux 6.12).",
			Unit: "MiB"},
		CSV: Column{"memory_step_peak_bytes", "peak memory within the step, if the kernel keeps it"},
	},
	{
		ID: MemoryRate, Name: "memory per rate", Head: "MiB·s", Unit: MemoryPerRate, Of: bench.StepResult.MemorySeconds,
		AtLeast:    sampled,
		Definition: Definition{"Peak memory per rate (MiB·s)", "peak memory / throughput of the step."},
		Chart: &Chart{ID: "memory-per-rate", Title: "Peak memory per rate",
			Note: "Peak memory / throughput of the step.", Unit: "MiB·s",
			Log: true},
	},
	{
		ID: MemoryUsed, Name: "memory", Head: "memory", Unit: Bytes, Of: memory(func(m bench.Memory) int64 { return m.Used }),
		Definition: Definition{"Memory in use (MiB)", "at the end of the step, without the page cache."},
		Chart: &Chart{ID: "memory-used", Title: "Memory in use", Note: "Without the page cache, at the end of the step.",
			Unit: "MiB"},
		CSV: Column{"memory_used_bytes", "at the end of the step, without page cache"},
		Live: &Metric{"locbench_memory_bytes", "gauge", "Memory in use, without page cache.",
			func(u bench.Usage) (float64, bool) {
				if u.Memory == nil {
					return 0, false
				}
				return float64(u.Memory.Used), true
			}},
	},
	{
		ID: CPUTime, Name: "CPU time", Head: "CPU", Unit: Nanoseconds, Of: nanoseconds(bench.StepResult.CPU),
		Definition: Definition{"CPU time (s)",
			"user and system time of all its processes, read from the kernel at the start and end of the step. Of an interleaved step " +
				"also that of the pauses after its slices, where it is more than 2% of the slice's: what its compilers and collectors do then."},
		Chart: &Chart{ID: "cpu", Title: "CPU time per step",
			Note: "Used by the contender during the step.", Unit: "s", Zero: true},
		CSV: Column{"cpu_ns", "CPU time of the contender in the step"},
		Live: &Metric{"locbench_cpu_seconds_total", "counter", "CPU time of the contender since its start.",
			func(u bench.Usage) (float64, bool) { return u.CPU.Seconds(), true }},
	},
	{
		ID: CPURequest, Name: "CPU time per request", Head: "CPU/req", Unit: Nanoseconds,
		Of: func(s bench.StepResult) (float64, bool) {
			cpu, ok := s.CPU()
			return float64(cpu) / float64(max(1, s.Load.Counted())), ok && s.Load.Counted() > 0
		},
		Definition: Definition{"CPU time per request (µs)", "CPU time of the step / its successes."},
		Chart: &Chart{ID: "cpu-per-request", Title: "CPU time per request",
			Note: "CPU time of the step / its successes.", Unit: "µs", Log: true},
		Comparison: &Comparison{Title: "CPU per request", Head: "CPU/req", At: AtReference, Kind: stats.OfCPU,
			What: "CPU time of the contender per request, at the old peak step"},
		CSV: Column{"cpu_per_request_ns", "CPU time per success"},
	},
	{ID: InUse, Name: "CPUs in use", Head: "CPUs", Unit: CPUs, Of: bench.StepResult.CPUs},
	{
		ID: Throttled, Name: "throttled periods", Head: "throttled", Unit: Share, Of: throttled,
		Definition: Definition{"Throttled periods (%)",
			"periods with the CPU quota used up / periods in which the contender was runnable."},
		Chart: &Chart{ID: "throttling", Title: "Throttled periods",
			Note: "Share of scheduler periods in which the contender used up its CPU quota and waited.", Unit: "%", Zero: true},
		Live: &Metric{"locbench_throttled_seconds_total", "counter", "Time throttled by the CPU quota.",
			func(u bench.Usage) (float64, bool) {
				if u.Throttling == nil {
					return 0, false
				}
				return u.Throttling.Time.Seconds(), true
			}},
	},
	{
		ID: ThrottledTime, Name: "throttled for", Head: "for", Unit: Nanoseconds,
		Of:  func(s bench.StepResult) (float64, bool) { t, ok := s.Throttling(); return float64(t.Time), ok },
		CSV: Column{"throttled_ns", "time throttled, summed over CPUs"},
	},
	{
		ID: Switches, Name: "context switches per request", Head: "switches/req", Unit: PerRequest, Of: switches,
		Definition: Definition{"Context switches per request",
			"voluntary and involuntary context switches of all its threads / successes, counted by the kernel."},
		Chart: &Chart{ID: "switches-per-request", Title: "Context switches per request",
			Note: "Voluntary and involuntary, all threads / successes.", Log: true},
		Comparison: &Comparison{Title: "context switches per request", Head: "switches", At: AtReference, Apart: true},
		CSV:        Column{"switches_per_request", "voluntary and involuntary context switches per success"},
		Live: &Metric{"locbench_context_switches_total", "counter", "Context switches of the contender since its start.",
			func(u bench.Usage) (float64, bool) {
				if u.Switches == nil {
					return 0, false
				}
				return float64(u.Switches.Voluntary + u.Switches.Involuntary), true
			}},
	},
	{
		ID: Compiled, Name: "compiled", Head: "compiled", Unit: Share, Of: spentOn(func(t bench.ThreadTime) bench.Duration { return t.Compiled }),
		Definition: Definition{"Compiled, collected (%)",
			"CPU time of the threads that compile and that collect garbage, by the names that a runtime gives its threads / " +
				"CPU time of all its threads, counted by the kernel. Runtimes that do it on the threads that serve have none " +
				"(Go, Rust, native images, CPython)."},
		Chart: &Chart{ID: "compiled", Title: "Compiled", Note: "Share of the CPU time in the runtime's compilers.", Unit: "%", Zero: true},
		CSV:   Column{"compiled_ratio", "share of the CPU time in the runtime's compilers, 0 to 1"},
	},
	{
		ID: Collected, Name: "collected", Head: "collected", Unit: Share, Of: spentOn(func(t bench.ThreadTime) bench.Duration { return t.Collected }),
		Chart: &Chart{ID: "collected", Title: "Collected", Note: "Share of the CPU time in the runtime's garbage collectors.", Unit: "%", Zero: true},
		CSV:   Column{"collected_ratio", "share of the CPU time in the runtime's garbage collectors, 0 to 1"},
	},
	{
		ID: First, Name: "first responses", Head: "first", Unit: Nanoseconds, Of: firstResponses, whole: longest(firstResponses),
		Definition: Definition{"First responses (s, ms)",
			"closed loop: the longest time from the first request of a connection at the step to its response, over the " +
				"connections that start with the load. A failure or timeout ends it, too. Of an interleaved step it is that of the " +
				"first slice. Most of it lies in the lead-in, so throughput and latency do not contain it. " +
				"Of a contender: at the step where it is longest, warm-ups included."},
		Comparison: &Comparison{Title: "first responses", Head: "first", At: AtFreeze, Own: true},
		CSV:        Column{"first_responses_ns", "closed loop: longest time from the first request of a connection to its response"},
	},
	{
		ID: DrainMax, Name: "longest of the drain", Head: "drain", Unit: Nanoseconds,
		Of: longestDrain, whole: longest(longestDrain),
		CSV: Column{"drain_max_ns", "longest latency of the successes after the measured interval; " +
			"empty: none, as where whole iterations count"},
	},
	count(Reconnects, "reconnects", "connections opened again after they had ended",
		func(l bench.Load) int64 { return l.Reconnects }),
	count(SentAgain, "sent again", "requests sent a second time, since their connection ended without a response; each is once in sent",
		func(l bench.Load) int64 { return l.SentAgain }),
	{ID: Cost, Name: "cost", Head: "$/1B req", Unit: Dollars,
		whole: costOfTrial},
}

// Outputs of a quantile, in addition to tables and the CSV export.
const (
	charted = 1 << iota
	defined
)

// quantile returns a measure of the latency; over the rounds it is that of all their requests.
func quantile(id ID, name string, column Column, more int, of func(bench.Latencies) time.Duration) Measure {
	m := Measure{
		ID: id, Name: name, Head: name, Unit: Nanoseconds, Of: latency(of), CSV: column, ConditionName: name,
		over: func(s stats.Step) (float64, bool) { return known(s.Latency, of) },
	}
	if more&charted != 0 {
		m.Chart = &Chart{ID: name, Title: "Latency " + name, Note: "Successes, from sending to the last byte.", Unit: "ms",
			Log: true}
	}
	if more&defined != 0 {
		m.Definition = Definition{"Latency (ms, µs)",
			"from sending a request to the last byte of its response, successes only. " +
				"If the client was asleep, the kernel's receive timestamp counts, so its wake-up time is excluded. " +
				"p50, p90, p99: 50, 90, 99% of successes were at least this fast. Percentiles of rounds are never averaged."}
	}
	return m
}

// count returns a measure of what happened in the whole step; of a contender it is that of all steps
// and rounds, unknown if it did not happen.
func count(id ID, name, doc string, of func(bench.Load) int64) Measure {
	return Measure{
		counter: true,
		ID:      id, Name: name, Head: name, Unit: Count,
		Of: func(s bench.StepResult) (float64, bool) { return float64(of(s.Load)), true },
		whole: func(c stats.Contender) (all Result) {
			for _, s := range c.Steps {
				for _, r := range s.Results {
					all.Value += float64(of(r.Load))
				}
			}
			all.Known = all.Value > 0
			return all
		},
		CSV: Column{strings.ReplaceAll(name, " ", "_"), doc},
	}
}

func p99(l bench.Latencies) time.Duration { return l.P99 }

func latency(of func(bench.Latencies) time.Duration) func(bench.StepResult) (float64, bool) {
	return func(s bench.StepResult) (float64, bool) { return known(s.Load.Latency, of) }
}

// known returns a value of a distribution, which is unknown without any latency.
func known(l bench.Latencies, of func(bench.Latencies) time.Duration) (float64, bool) {
	return float64(of(l)), l.Count > 0
}

// half returns a quantile at the step at half peak.
func half(of func(bench.Latencies) time.Duration) func(stats.Contender) Result {
	m := quantile("", "", Column{}, 0, of)
	return func(c stats.Contender) Result {
		i, _, ok := c.HalfPeak()
		if !ok {
			return Result{}
		}
		return m.Over(c.Steps[i])
	}
}

func firstResponses(s bench.StepResult) (float64, bool) {
	longest, ok := s.FirstResponses()
	return float64(longest), ok
}

func longestDrain(s bench.StepResult) (float64, bool) {
	return float64(s.Load.DrainMax), s.Load.Drain > 0
}

// longest returns the value at the step where it is longest.
func longest(of func(bench.StepResult) (float64, bool)) func(stats.Contender) Result {
	m := Measure{Of: of}
	return func(c stats.Contender) (longest Result) {
		for _, s := range c.Steps {
			if r := m.Over(s); r.Known && r.Value > longest.Value {
				longest = r
			}
		}
		return longest
	}
}

// unexpected returns the share of unexpected bodies among those that were compared.
func unexpected(failed map[bench.ErrorKind]int64, compared int64) (share float64, ok bool) {
	wrong := failed[bench.ErrWrong]
	compared = max(compared, wrong)
	return float64(wrong) / float64(max(1, compared)), compared > 0
}

func errorsOfTrial(c stats.Contender) Result {
	f := ResultOf(c.ErrorRate)
	f.Value, f.Known = c.TotalErrorRate()
	_, f.Estimate = c.Compared()
	return f
}

// memoryOfTrial returns the highest peak memory of all rounds; Rounds has the complete ones only.
func memoryOfTrial(c stats.Contender) Result {
	f := ResultOf(c.Memory)
	f.Known, f.Value, f.AtLeast = c.MemoryPeak > 0, float64(c.MemoryPeak), c.MemoryPeakIsSample
	return f
}

// costOfTrial returns the cost of the median round, whose parts add up.
func costOfTrial(c stats.Contender) Result {
	f := ResultOf(c.CostEach)
	if f.Known = c.Cost != nil; f.Known {
		f.Value = c.Cost.Total
	}
	return f
}

func memory(of func(bench.Memory) int64) func(bench.StepResult) (float64, bool) {
	return func(s bench.StepResult) (float64, bool) {
		if s.After == nil || s.After.Memory == nil {
			return 0, false
		}
		return float64(of(*s.After.Memory)), true
	}
}

func sampled(s bench.StepResult) bool {
	return s.After != nil && s.After.Memory != nil && s.After.Memory.PeakIsSample
}

func nanoseconds(of func(bench.StepResult) (time.Duration, bool)) func(bench.StepResult) (float64, bool) {
	return func(s bench.StepResult) (float64, bool) { d, ok := of(s); return float64(d), ok }
}

func throttled(s bench.StepResult) (float64, bool) {
	t, ok := s.Throttling()
	return float64(t.Throttled) / float64(max(1, t.Periods)), ok && t.Periods > 0
}

// spentOn returns the share of a part in the CPU time of the contender's threads.
func spentOn(part func(bench.ThreadTime) bench.Duration) func(bench.StepResult) (float64, bool) {
	return func(s bench.StepResult) (float64, bool) {
		t, ended, ok := s.ThreadTime()
		all := t.Served + t.Compiled + t.Collected + t.Runtime + ended
		return float64(part(t)) / float64(max(1, all)), ok && all > 0
	}
}

func switches(s bench.StepResult) (float64, bool) {
	voluntary, involuntary, ok := s.Switches()
	return float64(voluntary+involuntary) / float64(max(1, s.Load.Counted())), ok && s.Load.Counted() > 0
}
