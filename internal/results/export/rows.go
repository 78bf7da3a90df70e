package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/text/safe"
)

// Column is one column of the CSV export, and one key of each object of the JSON export.
type Column struct {
	Name string // durations end in _ns, sizes in _bytes
	Doc  string
	of   func(row) any // nil: not known
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

// added returns the columns of measures that came after all others.
func added() []Column {
	var ids []measure.ID
	for _, m := range measure.View(measure.ExportAdded) {
		ids = append(ids, m.ID)
	}
	return measured(ids...)
}

type row struct {
	run    *bench.Run
	trial  *bench.TrialResult
	peak   stats.PeakTime // of the trial
	peaked bool           // it is known
	bench.StepResult
}

// Columns returns the columns in their order. New ones are added at the end only.
func Columns() []Column { return slices.Concat(identity(), loadColumns(), usageColumns(), added()) }

func identity() []Column {
	return []Column{
		{"run", "id of the run", func(r row) any { return text(r.run.ID) }},
		{"contender", "name of the contender", func(r row) any { return text(r.trial.Trial.Contender) }},
		{"variant", "its variant; empty for the default", func(r row) any { return text(r.trial.Trial.Variant) }},
		{"round", "from 1", func(r row) any { return r.trial.Trial.Round }},
		{"trial_state", "complete, failed, aborted, running", func(r row) any { return text(string(r.trial.State)) }},
		{"start_up_ns", "from the start of the process to the first response that says it is ready", func(r row) any {
			return ifThere(r.trial.StartUp, func(d bench.Duration) any { return d.Nanoseconds() })
		}},
		{"step", "index of the step, from 0", func(r row) any { return r.Index }},
		{"step_name", "its name", func(r row) any { return text(r.Step.Name) }},
		{"warm_up", "set apart from the measurement", func(r row) any { return r.Step.WarmUp }},
		{"connections", "closed loop: connections", func(r row) any { return unless0(int64(r.Step.Connections)) }},
		{"rate", "open loop: requests due per second", func(r row) any { return unless0(r.Step.Rate) }},
		{"aborted", "why the step ended early; empty: it did not", func(r row) any { return text(r.Aborted) }},
		{"started", "RFC 3339, with nanoseconds", func(r row) any { return moment(r.Load.Started) }},
	}
}

func loadColumns() []Column {
	ns := func(name, doc string, of func(bench.Latencies) time.Duration) []Column {
		return []Column{{name, doc, func(r row) any {
			d := of(r.Load.Latency)
			return ifKnown(d.Nanoseconds(), figured(r.Load.Latency, d))
		}}}
	}
	return slices.Concat([]Column{
		{"definition", "of a measured step: 2 an interval in the steady state, 1 that of another tool, 0 the earlier one: " +
			"all responses over the time of sending", func(r row) any { return int(r.Load.Definition) }},
		{"elapsed_ns", "what throughput is over", func(r row) any { return r.Load.Elapsed.Nanoseconds() }},
		{"scheduled", "requests that were scheduled", func(r row) any { return r.Load.Scheduled }},
		{"sent", "requests sent: those that succeeded (in, before and after the interval), failed, or were cut off",
			func(r row) any { return r.Load.Sent }},
		{"succeeded", "expected responses within the interval", func(r row) any { return r.Load.Succeeded }},
		{"lead_succeeded", "expected responses before the interval", func(r row) any { return r.Load.Lead }},
		{"drain_succeeded", "expected responses after the interval", func(r row) any { return r.Load.Drain }},
	}, measured(measure.Errors), []Column{
		{"backlog", "requests in flight or waiting at the end of the interval", func(r row) any { return r.Load.Backlog }},
		// Of a step without any request they are 0, not unknown.
		{"error_ratio", measure.Get(measure.ErrorRate).CSV.Doc, func(r row) any { return r.Load.ErrorRate() }},
		{"throughput", measure.Get(measure.Throughput).CSV.Doc, func(r row) any { return r.Load.Throughput() }},
		{"body_bytes", "of successful responses", func(r row) any {
			// Else imported: nobody reported.
			return ifKnown(r.Load.Bytes, r.Load.Bytes != 0 || r.Load.Latency.HDR != "")
		}},
		{"latency_of", "where latencies begin: sent or due", func(r row) any { return text(string(r.Load.Origin())) }},
	},
		ns("min_ns", "shortest latency of a success", func(l bench.Latencies) time.Duration { return l.Min }),
		measured(measure.P50, measure.P75, measure.P90, measure.P95, measure.P99, measure.P999, measure.Max, measure.Mean),
		ns("sd_ns", "standard deviation of the population", func(l bench.Latencies) time.Duration { return l.SD }),
		[]Column{
			{"late", "open loop: sent more than 1 ms after they were due", func(r row) any { return r.Load.Late }},
			{"dropped", "open loop: never sent", func(r row) any { return r.Load.Dropped }},
			{"in_flight", "requests in flight on average", func(r row) any { return unless0(r.Load.InFlight) }},
			{"client_cpu_ns", "CPU time of the load generator",
				func(r row) any { return unless0(r.Load.ClientCPU.Nanoseconds()) }},
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
		{"periods", "of the CPU quota in which it wanted to run",
			throttling(func(t bench.Throttling) int64 { return t.Periods })},
		{"throttled_periods", "those in which it used the quota up",
			throttling(func(t bench.Throttling) int64 { return t.Throttled })},
	}, measured(measure.ThrottledTime, measure.MemoryUsed, measure.MemoryPeak), []Column{
		{"memory_peak_is_sample", "the peak is the largest sample: the true one may be higher", func(r row) any {
			return ifThere(cmp.Or(r.After, &bench.Usage{}).Memory, func(m bench.Memory) any { return m.PeakIsSample })
		}},
	}, measured(measure.MemoryStep), []Column{
		{"cpu_user_ns", "of cpu_ns, as the kernel samples it: in its own code", pair(bench.StepResult.CPUSplit, 0)},
		{"cpu_system_ns", "in the kernel", pair(bench.StepResult.CPUSplit, 1)},
		{"minor_faults", "page faults that needed no disk", pair(bench.StepResult.Faults, 0)},
		{"major_faults", "page faults that read from a disk", pair(bench.StepResult.Faults, 1)},
		{"voluntary_switches", "context switches to wait for something", pair(bench.StepResult.Switches, 0)},
		{"involuntary_switches", "context switches for lack of CPU time", pair(bench.StepResult.Switches, 1)},
		{"received_bytes", "over the contender's network interfaces", pair(bench.StepResult.Network, 0)},
		{"sent_bytes", "the other way", pair(bench.StepResult.Network, 1)},
		{"threads", "at the end of the step", func(r row) any {
			return ifThere(cmp.Or(r.After, &bench.Usage{}).Threads, func(n int) any { return n })
		}},
		{"wait_cpu_ns", "time in which some of its threads waited for a CPU (pressure stall information)",
			stalled(func(p bench.Pressure) *bench.Stall { return p.CPU })},
		{"wait_memory_ns", "for memory", stalled(func(p bench.Pressure) *bench.Stall { return p.Memory })},
		{"wait_io_ns", "for a disk", stalled(func(p bench.Pressure) *bench.Stall { return p.IO })},
		{"usage_source", "where these figures were read", func(r row) any {
			source := cmp.Or(r.After, &bench.Usage{}).Source
			return ifKnown(text(source), source != "")
		}},
		{"warnings", "doubts about the step, joined by \" | \"",
			func(r row) any { return text(r.AllWarnings().Join(" | ")) }},
		{"time_to_peak_ns",
			"from the start of the process to the first second at the final throughput, which is kept for the rest",
			func(r row) any { return ifKnown(r.peak.After.Nanoseconds(), r.peaked) }},
		{"throughput_drift",
			"change of the throughput over a measured step that was not steady, as a share; empty: no trend was found",
			drift(func(d bench.Drift) *bench.Trend { return d.Throughput })},
		{"cpu_per_request_drift", "the same of the CPU time per request",
			drift(func(d bench.Drift) *bench.Trend { return d.CPU })},
	})
}

func drift(of func(bench.Drift) *bench.Trend) func(row) any {
	return func(r row) any {
		return ifThere(r.Drift, func(d bench.Drift) any {
			return ifThere(of(d), func(t bench.Trend) any { return t.Change })
		})
	}
}

// pair takes the first or the second of two counts or times.
func pair[T int64 | time.Duration](of func(bench.StepResult) (T, T, bool), i int) func(row) any {
	return func(r row) any {
		a, b, ok := of(r.StepResult)
		return ifKnown(int64([2]T{a, b}[i]), ok)
	}
}

func stalled(of func(bench.Pressure) *bench.Stall) func(row) any {
	return func(r row) any {
		return ifThere(r.Pressure(), func(p bench.Pressure) any {
			return ifThere(of(p), func(s bench.Stall) any { return s.Some.Nanoseconds() })
		})
	}
}

// figured reports whether a latency is known. Imported ones have only what their tool reported.
func figured(l bench.Latencies, d time.Duration) bool { return l.Count > 0 && (d > 0 || l.HDR != "") }

func text(s string) any { return safe.Line(s, 1000) }

func ifKnown(v any, known bool) any {
	if !known {
		return nil
	}
	return v
}

func ifThere[T any](p *T, of func(T) any) any {
	if p == nil {
		return nil
	}
	return of(*p)
}

func unless0[T int64 | float64](v T) any { return ifKnown(v, v != 0) }

func moment(t time.Time) any { return ifKnown(t.UTC().Format(time.RFC3339Nano), !t.IsZero()) }

// rows calls each with every step of every trial, in the order of the trials.
func rows(run bench.Run, trials []bench.TrialResult, each func(row) error) error {
	for i := range trials {
		peak, peaked := stats.TimeToPeak(trials[i])
		for _, s := range trials[i].Steps {
			if err := each(row{&run, &trials[i], peak, peaked, s}); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeCSV(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	out := safe.NewTable(w)
	columns := Columns()
	cells := make([]any, len(columns))
	for i, c := range columns {
		cells[i] = c.Name
	}
	if err := out.Write(cells...); err != nil {
		return err
	}
	err := rows(run, trials, func(r row) error {
		for i, c := range columns {
			cells[i] = c.of(r)
		}
		return out.Write(cells...)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func writeJSON(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	columns := Columns()
	separator := "[\n"
	err := rows(run, trials, func(r row) error {
		line := separator + " {"
		separator = ",\n"
		for i, c := range columns {
			value, err := json.Marshal(c.of(r))
			if err != nil {
				return fmt.Errorf("trial %s, step %d, %s: %w", r.trial.Trial, r.Index+1, c.Name, err)
			}
			if i > 0 {
				line += ","
			}
			line += `"` + c.Name + `":` + string(value)
		}
		_, err := io.WriteString(w, line+"}")
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if separator == "[\n" {
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
	return err
}
