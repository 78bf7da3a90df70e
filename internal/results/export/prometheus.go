package export

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// family is one metric of the Prometheus text format; of returns its samples for a step.
type family struct {
	name, kind, help string
	of               func(r row) []promSample
}

type promSample struct {
	suffix string // of the name: "_sum", "_count"
	label  string // an additional label: `,quantile="0.5"`
	value  string
}

// writePrometheus writes the results of each step in Prometheus' text exposition format (0.0.4).
// Durations are in seconds and sizes in bytes. Unknown values have no sample.
func writePrometheus(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	for _, f := range families() {
		var b strings.Builder
		err := rows(run, trials, func(r row) error {
			labels := promLabels(r)
			for _, s := range f.of(r) {
				fmt.Fprintf(&b, "%s%s{%s%s} %s\n", f.name, s.suffix, labels, s.label, s.value)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if b.Len() == 0 {
			continue
		}
		_, err = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", f.name, f.help, f.name, f.kind, b.String())
		if err != nil {
			return err
		}
	}
	return nil
}

func promLabels(r row) string {
	return fmt.Sprintf(`run="%s",contender="%s",round="%d",step="%d",step_name="%s",connections="%d",warm_up="%t"`,
		promText(r.run.ID), promText(r.trial.Trial.Label()), r.trial.Trial.Round, r.Index, promText(r.Step.Name),
		r.Step.Connections, r.Step.WarmUp)
}

func families() []family {
	gauge := func(name, help string, of func(r row) (float64, bool)) family {
		return family{name, "gauge", help, func(r row) []promSample {
			if v, ok := of(r); ok {
				return []promSample{{value: number(v)}}
			}
			return nil
		}}
	}
	of := func(id measure.ID) family {
		m := measure.Get(id)
		return gauge(m.Prometheus.Name, m.Prometheus.Help, func(r row) (float64, bool) {
			v, ok := m.Of(r.StepResult)
			return m.Unit.Base(v), ok
		})
	}
	all := []family{
		of(measure.Throughput),
		gauge("locbench_step_definition",
			"Definition of the measured interval: 2 steady state, 0 earlier.",
			func(r row) (float64, bool) { return float64(r.Load.Definition), true }),
		gauge("locbench_step_elapsed_seconds", "Length of the measured interval.",
			func(r row) (float64, bool) { return r.Load.Elapsed.Seconds(), true }),
		{"locbench_step_requests", "gauge", "Requests by outcome.", promRequests},
		{"locbench_step_latency_seconds", "summary", "Latency of successes.", promLatency},
	}
	for _, m := range measure.View(measure.PrometheusSteps) {
		all = append(all, of(m.ID))
	}
	return append(all,
		gauge("locbench_trial_start_up_seconds",
			"From process start to the first ready response; repeated for every step of the trial.",
			func(r row) (float64, bool) {
				return cmp.Or(r.trial.StartUp, new(bench.Duration)).Seconds(), r.trial.StartUp != nil
			}),
		gauge("locbench_trial_time_to_peak_seconds",
			"From process start to the final throughput; repeated for every step of the trial.",
			func(r row) (float64, bool) { return r.peak.After.Seconds(), r.peaked }),
	)
}

func promRequests(r row) []promSample {
	of := func(outcome string, n int64) promSample {
		return promSample{label: `,outcome="` + promText(outcome) + `"`, value: fmt.Sprint(n)}
	}
	out := []promSample{of("succeeded", r.Load.Succeeded)}
	for _, kind := range slices.Sorted(maps.Keys(r.Load.Failed)) {
		out = append(out, of(string(kind), r.Load.Failed[kind]))
	}
	return out
}

func promLatency(r row) []promSample {
	l := r.Load.Latency
	if l.Count == 0 {
		return nil
	}
	var out []promSample
	for _, q := range []struct {
		name  string
		value time.Duration
	}{{"0.5", l.P50}, {"0.75", l.P75}, {"0.9", l.P90}, {"0.95", l.P95}, {"0.99", l.P99}, {"0.999", l.P999}, {"1", l.Max}} {
		out = append(out, promSample{label: `,quantile="` + q.name + `"`, value: number(q.value.Seconds())})
	}
	return append(out, promSample{suffix: "_sum", value: number(l.Mean.Seconds() * float64(l.Count))},
		promSample{suffix: "_count", value: fmt.Sprint(l.Count)})
}

func promText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(safe.Line(s, 200))
}
