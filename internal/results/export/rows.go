package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// Column is one column of the CSV export, and one key of each object of the JSON export.
type Column struct {
	Name string // ends in _ns for durations and in _bytes for sizes
	Doc  string
	of   func(row) any // returns nil for unknown
}

func measured(ids ...measure.ID) (all []Column) {
	for _, id := range ids {
		m := measure.Get(id)
		all = append(all, Column{m.CSV.Name, m.CSV.Doc, func(r row) any {
			v, ok := m.Of(r.StepResult)
			if m.Unit.Whole() {
				return ifKnown(int64(v), ok)
			}
			return ifKnown(v, ok)
		}})
	}
	return all
}

type row struct {
	bench.StepResult
	run    *bench.Run
	trial  *bench.TrialResult
	peak   stats.PeakTime // time to peak of the trial
	peaked bool           // peak is known
	after  bench.Usage    // After; zero without a reading
}

// Columns returns the columns in their order. New columns come at the end.
func Columns() []Column {
	all := slices.Concat(identity(), loadColumns(), usageColumns(), measured(measure.Switches, measure.Compiled, measure.Collected))
	all = append(all,
		Column{"rejected", "responses with an expected status that does not count as throughput, whole step",
			func(r row) any { return r.Load.Rejected.Total() }},
		Column{"statuses", "complete responses by status, whole step; empty: unknown",
			func(r row) any { return r.Load.Statuses.Exact() }},
		Column{"disk_read_bytes", "read from disks by the contender in the step",
			ofDisk(func(d bench.Disk) int64 { return d.Read })},
		Column{"disk_written_bytes", "written to disks by the contender in the step",
			ofDisk(func(d bench.Disk) int64 { return d.Written })},
		Column{"disk_operations", "reads and writes of disks by the contender in the step",
			ofDisk(func(d bench.Disk) int64 { return d.Reads + d.Writes })})
	return append(all, measured(append([]measure.ID{measure.First, measure.DrainMax}, measure.Counters()...)...)...)
}

func ofDisk(of func(bench.Disk) int64) func(row) any {
	return func(r row) any { return ifSet(r.Disk(), func(d bench.Disk) any { return of(d) }) }
}

// NeedColumns returns the columns of a need, which follow all others.
func NeedColumns(name string) (all []Column) {
	for _, m := range measure.ExportedOfNeed(name) {
		all = append(all, Column{m.CSV.Name, m.CSV.Doc, func(r row) any {
			v, ok := m.InStep(r.StepResult)
			if m.Unit == measure.Share {
				return ifKnown(v, ok)
			}
			return ifKnown(int64(v), ok)
		}})
	}
	return all
}

// columnsOf returns the columns of trials: Columns, and those of the needs that were measured.
func columnsOf(trials []bench.TrialResult) []Column {
	var steps []stats.Step
	for _, t := range trials {
		steps = append(steps, stats.Step{Results: t.Steps})
	}
	all := Columns()
	for _, name := range measure.Needs(steps) {
		all = append(all, NeedColumns(name)...)
	}
	return all
}

func identity() []Column {
	return []Column{
		{"run", "id of the run", func(r row) any { return text(r.run.ID) }},
		{"contender", "name of the contender", func(r row) any { return text(r.trial.Trial.Contender) }},
		{"variant", "its variant; empty for the default", func(r row) any { return text(r.trial.Trial.Variant) }},
		{"round", "from 1", func(r row) any { return r.trial.Trial.Round }},
		{"trial_state", "complete, failed, aborted, running", func(r row) any { return text(string(r.trial.State)) }},
		{"start_up_ns", "from process start to the first ready response", func(r row) any {
			return ifSet(r.trial.StartUp, func(d bench.Duration) any { return d.Nanoseconds() })
		}},
		{"step", "index of the step, from 0", func(r row) any { return r.Index }},
		{"step_name", "its name", func(r row) any { return text(r.Step.Name) }},
		{"warm_up", "a warm-up: shown but not compared", func(r row) any { return r.Step.WarmUp }},
		{"connections", "closed loop: connections", func(r row) any { return unless0(int64(r.Step.Connections)) }},
		{"rate", "open loop: scheduled requests per second", func(r row) any { return unless0(r.Step.Rate) }},
		{"aborted", "why the step stopped early; empty: it did not", func(r row) any { return text(r.Aborted) }},
		{"started", "RFC 3339, with nanoseconds", func(r row) any {
			return ifKnown(r.Load.Started.UTC().Format(time.RFC3339Nano), !r.Load.Started.IsZero())
		}},
	}
}

func loadColumns() []Column {
	ns := func(name, doc string, of func(bench.Latencies) time.Duration) []Column {
		return []Column{{name, doc, func(r row) any {
			d := of(r.Load.Latency)
			return ifKnown(d.Nanoseconds(), r.Load.Latency.Count > 0)
		}}}
	}
	return slices.Concat([]Column{
		{"definition",
			"of the measured interval: 2 steady state, 0 earlier (all responses / time of sending)",
			func(r row) any { return int(r.Load.Definition) }},
		{"elapsed_ns", "length of the measured interval", func(r row) any { return r.Load.Elapsed.Nanoseconds() }},
		{"scheduled", "scheduled requests", func(r row) any { return r.Load.Scheduled }},
		{"sent", "sent requests: successes (before, in and after the measured interval), errors, rejected ones, and those cut off",
			func(r row) any { return r.Load.Sent }},
		{"succeeded", "successes in the measured interval", func(r row) any { return r.Load.Succeeded }},
		{"lead_succeeded", "successes before the measured interval", func(r row) any { return r.Load.Lead }},
		{"drain_succeeded", "successes after the measured interval", func(r row) any { return r.Load.Drain }},
	}, measured(measure.Errors), []Column{
		{"backlog", "requests in flight or waiting at the end of the measured interval",
			func(r row) any { return r.Load.Backlog }},
		// Without any request they are 0, not unknown.
		{"error_ratio", measure.Get(measure.ErrorRate).CSV.Doc, func(r row) any { return r.Load.ErrorRate() }},
		{"throughput", measure.Get(measure.Throughput).CSV.Doc, func(r row) any { return r.Load.Throughput() }},
		{"body_bytes", "bytes of the bodies of successes", func(r row) any { return r.Load.Bytes }},
		{"latency_of", "where latencies begin: sent or scheduled", func(r row) any { return text(string(r.Load.Origin())) }},
	},
		ns("min_ns", "shortest latency of a success", func(l bench.Latencies) time.Duration { return l.Min }),
		measured(measure.P50, measure.P75, measure.P90, measure.P95, measure.P99, measure.P999, measure.Max, measure.Mean),
		ns("sd_ns", "population standard deviation of latency", func(l bench.Latencies) time.Duration { return l.SD }),
		[]Column{
			{"late", "open loop: requests sent more than 1 ms after their scheduled time",
				func(r row) any { return r.Load.Late }},
			{"dropped", "open loop: requests never sent", func(r row) any { return r.Load.Dropped }},
			{"in_flight", "requests in flight on average", func(r row) any { return unless0(r.Load.InFlight) }},
			{"client_cpu_ns", "CPU time of the client", func(r row) any { return unless0(r.Load.ClientCPU.Nanoseconds()) }},
		})
}

func usageColumns() []Column {
	throttling := func(of func(bench.Throttling) int64) func(row) any {
		return func(r row) any {
			t, ok := r.Throttling()
			return ifKnown(of(t), ok)
		}
	}
	return slices.Concat(measured(measure.CPUTime, measure.CPURequest), []Column{
		{"periods", "periods of the CPU quota in which the contender was runnable",
			throttling(func(t bench.Throttling) int64 { return t.Periods })},
		{"throttled_periods", "periods in which it used up the quota",
			throttling(func(t bench.Throttling) int64 { return t.Throttled })},
	}, measured(measure.ThrottledTime, measure.MemoryUsed, measure.MemoryPeak), []Column{
		{"memory_peak_is_sample", "memory_peak_bytes is the largest sample; the true peak may be higher", func(r row) any {
			return ifSet(r.after.Memory, func(m bench.Memory) any { return m.PeakIsSample })
		}},
	}, measured(measure.MemoryStep), []Column{
		{"cpu_user_ns", "CPU time in user code, as sampled by the kernel; without the pauses of an interleaved step", pair(bench.StepResult.CPUSplit, 0)},
		{"cpu_system_ns", "the same in the kernel", pair(bench.StepResult.CPUSplit, 1)},
		{"minor_faults", "page faults without disk access", pair(bench.StepResult.Faults, 0)},
		{"major_faults", "page faults with disk access", pair(bench.StepResult.Faults, 1)},
		{"voluntary_switches", "context switches to wait for something", pair(bench.StepResult.Switches, 0)},
		{"involuntary_switches", "context switches by the scheduler", pair(bench.StepResult.Switches, 1)},
		{"received_bytes", "bytes received by the contender's network interfaces", pair(bench.StepResult.Network, 0)},
		{"sent_bytes", "bytes sent by the contender's network interfaces", pair(bench.StepResult.Network, 1)},
		{"threads", "threads at the end of the step", func(r row) any {
			return ifSet(r.after.Threads, func(n int) any { return n })
		}},
		{"wait_cpu_ns", "time in which some threads waited for a CPU (pressure stall information)",
			stalled(func(p bench.Pressure) *bench.Stall { return p.CPU })},
		{"wait_memory_ns", "time in which some threads waited for memory",
			stalled(func(p bench.Pressure) *bench.Stall { return p.Memory })},
		{"wait_io_ns", "time in which some threads waited for a disk",
			stalled(func(p bench.Pressure) *bench.Stall { return p.IO })},
		{"usage_source", "source of the readings",
			func(r row) any { return ifKnown(text(r.after.Source), r.after.Source != "") }},
		{"warnings", "warnings of the step, joined by \" | \"", func(r row) any { return text(r.AllWarnings().Join(" | ")) }},
		{"time_to_peak_ns", "from process start to the first second at the final throughput that lasts",
			func(r row) any { return ifKnown(r.peak.After.Nanoseconds(), r.peaked) }},
		{"throughput_drift", "change of the throughput over an unstable measured step, as a share; empty: no trend",
			drift(func(d bench.Drift) *bench.Trend { return d.Throughput })},
		{"cpu_per_request_drift",
			"change of the CPU time per request over an unstable measured step, as a share; empty: no trend",
			drift(func(d bench.Drift) *bench.Trend { return d.CPU })},
	})
}

func drift(of func(bench.Drift) *bench.Trend) func(row) any {
	return func(r row) any {
		return ifSet(r.Drift, func(d bench.Drift) any {
			return ifSet(of(d), func(t bench.Trend) any { return t.Change })
		})
	}
}

// pair returns a column with the first or the second of two values.
func pair[T int64 | time.Duration](of func(bench.StepResult) (T, T, bool), i int) func(row) any {
	return func(r row) any {
		a, b, ok := of(r.StepResult)
		return ifKnown(int64([2]T{a, b}[i]), ok)
	}
}

func stalled(of func(bench.Pressure) *bench.Stall) func(row) any {
	return func(r row) any {
		return ifSet(r.Pressure(), func(p bench.Pressure) any {
			return ifSet(of(p), func(s bench.Stall) any { return s.Some.Nanoseconds() })
		})
	}
}

func text(s string) any { return safe.Line(s, 1000) }

func ifKnown(v any, known bool) any {
	if !known {
		return nil
	}
	return v
}

func ifSet[T any](p *T, of func(T) any) any {
	if p == nil {
		return nil
	}
	return of(*p)
}

func unless0[T int64 | float64](v T) any { return ifKnown(v, v != 0) }

// rows yields every step of every trial, in order.
func rows(run bench.Run, trials []bench.TrialResult) iter.Seq[row] {
	return func(yield func(row) bool) {
		for i := range trials {
			peak, peaked := stats.TimeToPeak(trials[i])
			for _, s := range trials[i].Steps {
				if !yield(row{s, &run, &trials[i], peak, peaked, *cmp.Or(s.After, &bench.Usage{})}) {
					return
				}
			}
		}
	}
}

func writeCSV(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	out, columns := safe.NewCSV(w), columnsOf(trials)
	cells := make([]any, len(columns))
	for i, c := range columns {
		cells[i] = c.Name
	}
	_ = out.Write(cells...) // Flush returns the first error
	for r := range rows(run, trials) {
		for i, c := range columns {
			cells[i] = c.of(r)
		}
		_ = out.Write(cells...)
	}
	return out.Flush()
}

// writeJSON writes one object per line.
func writeJSON(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	columns := columnsOf(trials)
	var lines, pairs []string
	for r := range rows(run, trials) {
		pairs = pairs[:0]
		for _, c := range columns {
			value, err := json.Marshal(c.of(r))
			if err != nil {
				return fmt.Errorf("trial %s, step %d, %s: %w", r.trial.Trial, r.Index+1, c.Name, err)
			}
			pairs = append(pairs, fmt.Sprintf("%q:%s", c.Name, value))
		}
		lines = append(lines, "\n {"+strings.Join(pairs, ",")+"}")
	}
	_, err := fmt.Fprintf(w, "[%s\n]\n", strings.Join(lines, ","))
	return err
}
