package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/stats"
)

// measure is what a figure over the steps shows: the value in the unit of its title and the words for it.
type measure struct {
	id, title, note string
	log             bool
	marked          bool // its points say what bound the step
	value           func(bench.StepResult) (v float64, words string, ok bool)
	format          func(v float64) string
	// whole is the value of all rounds together; nil: the median of the rounds. A quantile needs it, since medians of an even
	// number of rounds would average quantiles.
	whole func(stats.Step) (v float64, ok bool)
}

// measures are the figures over the steps. The memory per rate divides the high-water mark, as the published
// comparison did, so that it belongs to the figure before it.
func measures(p bench.Profile) []measure {
	return []measure{
		{id: "throughput", title: "Throughput, successes/s", note: "Successful answers per second of the step. Errors never count.", marked: true, format: func(v float64) string { return significant(v) + "/s" },
			value: func(s bench.StepResult) (float64, string, bool) {
				v := s.Load.Throughput()
				return v, significant(v) + "/s", s.Load.Elapsed > 0 && s.Load.Succeeded+s.Load.FailedTotal() > 0
			}},
		{id: "errors", title: "Error ratio, %", note: "Errors / (errors + successes).", value: errorRatio, format: func(v float64) string { return percent(v / 100) }},
		quantile("p50", "p50", func(l bench.Latencies) time.Duration { return l.P50 }),
		quantile("p90", "p90", func(l bench.Latencies) time.Duration { return l.P90 }),
		quantile("p99", "p99", func(l bench.Latencies) time.Duration { return l.P99 }),
		{id: "memory-peak", title: "Memory high-water mark, MiB", note: "Since the start of the contender, read at the end of the step." + limitNote(p.Limits.Memory > 0, "The limit is "+mebibytes(p.Limits.Memory)+".") + " “≥” marks an estimate: the largest sample, where no counter could be read.",
			format: func(v float64) string { return significant(v) + nbsp + "MiB" },
			value: func(s bench.StepResult) (float64, string, bool) {
				m, ok := memory(s)
				return float64(m.Peak) / (1 << 20), peak(m), ok && m.Peak > 0
			}},
		{id: "memory-per-rate", title: "Memory high-water mark per rate, MiB·s", note: "The figure before divided by the throughput of the step: memory held per request a second.", log: true,
			format: func(v float64) string { return significant(v) + nbsp + "MiB·s" },
			value: func(s bench.StepResult) (float64, string, bool) {
				m, ok := memory(s)
				rate := s.Load.Throughput()
				if !ok || m.Peak <= 0 || rate <= 0 {
					return 0, "", false
				}
				v := float64(m.Peak) / (1 << 20) / rate
				return v, estimate(m) + significant(v) + nbsp + "MiB·s", true
			}},
		{id: "memory-used", title: "Memory in use, MiB", note: "Without the page cache, at the end of the step.",
			format: func(v float64) string { return significant(v) + nbsp + "MiB" },
			value: func(s bench.StepResult) (float64, string, bool) {
				m, ok := memory(s)
				return float64(m.Used) / (1 << 20), mebibytes(m.Used), ok && m.Used > 0
			}},
		{id: "cpu", title: "CPU time per step, s", note: "Used by the contender between the two ends of the step." + cpuLimitNote(p),
			format: func(v float64) string { return duration(time.Duration(v * float64(time.Second))) },
			value: func(s bench.StepResult) (float64, string, bool) {
				cpu, ok := s.CPU()
				return cpu.Seconds(), duration(cpu), ok
			}},
		{id: "cpu-per-request", title: "CPU time per request, µs", note: "CPU time of the step / its successes.", log: true,
			format: func(v float64) string { return duration(time.Duration(v * float64(time.Microsecond))) },
			value: func(s bench.StepResult) (float64, string, bool) {
				d, ok := s.CPUPerRequest()
				return float64(d) / float64(time.Microsecond), duration(d), ok && d > 0
			}},
		{id: "throttling", title: "Throttled periods, %", note: "Share of the scheduler's periods in which the contender used up its CPU quota and had to wait.",
			format: func(v float64) string { return percent(v / 100) },
			value: func(s bench.StepResult) (float64, string, bool) {
				t, ok := s.Throttling()
				if !ok || t.Periods <= 0 {
					return 0, "", false
				}
				ratio := float64(t.Throttled) / float64(t.Periods)
				return ratio * 100, fmt.Sprintf("%s (%s of %s periods, %s)", percent(ratio), count(t.Throttled), count(t.Periods), duration(t.Time)), true
			}},
	}
}

func quantile(id, title string, of func(bench.Latencies) time.Duration) measure {
	known := func(l bench.Latencies) (float64, bool) {
		d := of(l)
		return float64(d) / float64(time.Millisecond), l.Count > 0 && d > 0
	}
	return measure{id: id, title: "Latency " + title + ", ms", note: "Of successes, from sending to the last byte.", log: true,
		format: func(v float64) string { return duration(time.Duration(v * float64(time.Millisecond))) },
		value: func(s bench.StepResult) (float64, string, bool) {
			v, ok := known(s.Load.Latency)
			return v, duration(of(s.Load.Latency)), ok
		},
		whole: func(s stats.Step) (float64, bool) { return known(s.Latency) }}
}

// memoryOfAStep stands beside the high-water mark since start, which tells nothing of the steps after the highest one.
func memoryOfAStep() measure {
	return measure{id: "memory-step", title: "Memory high-water mark of the step, MiB", note: "Begun anew with each step, where the kernel can do that (cgroup v1; v2 since Linux 6.12).",
		format: func(v float64) string { return significant(v) + nbsp + "MiB" },
		value: func(s bench.StepResult) (float64, string, bool) {
			n, ok := s.StepPeak()
			return float64(n) / (1 << 20), mebibytes(n), ok && n > 0
		}}
}

// inFlight stands beside the throughput where the steps differ in what they ask: without it, a client's ceiling looks like the
// contenders' convergence.
func inFlight() measure {
	return measure{id: "in-flight", title: "Requests in flight", note: "Throughput × mean latency, by Little's law. Where all connections are in flight, their number bounds the throughput.",
		format: significant, value: func(s bench.StepResult) (float64, string, bool) {
			return s.Load.InFlight, significant(s.Load.InFlight), s.Load.InFlight > 0
		}}
}

func errorRatio(s bench.StepResult) (float64, string, bool) {
	failed := s.Load.FailedTotal()
	if failed+s.Load.AllSucceeded() <= 0 {
		return 0, "", false
	}
	ratio := s.Load.ErrorRatio()
	words := percent(ratio)
	if failed > 0 {
		words += " (" + strings.Join(errorKinds(s.Load.Failed), ", ") + ")"
	}
	return ratio * 100, words, true
}

// errorKinds is "timeout 12", "5xx 3", the most frequent first.
func errorKinds(failed map[bench.ErrorKind]int64) []string {
	kinds := make([]bench.ErrorKind, 0, len(failed))
	for k, n := range failed {
		if n != 0 {
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(failed[b], failed[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = cleanName(string(k)) + " " + count(failed[k])
	}
	return words
}

func memory(s bench.StepResult) (bench.Memory, bool) {
	if s.After == nil || s.After.Memory == nil {
		return bench.Memory{}, false
	}
	return *s.After.Memory, true
}

// estimate marks a high-water mark that was only sampled: the true one is as high or higher.
func estimate(m bench.Memory) string {
	if m.PeakIsSample {
		return "≥" + nbsp
	}
	return ""
}

func peak(m bench.Memory) string { return estimate(m) + mebibytes(m.Peak) }

func limitNote(limited bool, words string) string {
	if !limited {
		return ""
	}
	return " " + words
}

// cpuLimitNote says how much the quota allows, where all steps take equally long.
func cpuLimitNote(p bench.Profile) string {
	if p.Limits.CPUs <= 0 || len(p.Steps) == 0 {
		return ""
	}
	d := p.Steps[0].Duration
	for _, s := range p.Steps {
		if s.Duration != d {
			return " The quota is " + plain(p.Limits.CPUs) + " CPU seconds a second."
		}
	}
	return " The quota of " + plain(p.Limits.CPUs) + " CPUs allows " + plain(p.Limits.CPUs*d.Seconds()) + " s" + " a step."
}
