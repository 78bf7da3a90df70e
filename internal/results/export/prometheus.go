package export

import (
	"io"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
)

// writePrometheus writes the results of each step in Prometheus' text exposition format (0.0.4).
// Durations are in seconds and sizes in bytes. Unknown values have no sample.
func writePrometheus(w io.Writer, run bench.Run, trials []bench.TrialResult) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(steps{run, trials}); err != nil {
		return err
	}
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return err
		}
	}
	return nil
}

// steps are the finished steps of a run as a prometheus.Collector.
type steps struct {
	run    bench.Run
	trials []bench.TrialResult
}

// Describe sends nothing: which samples there are depends on the steps.
func (s steps) Describe(chan<- *prometheus.Desc) {}

// Collect sends the samples of all steps.
func (s steps) Collect(to chan<- prometheus.Metric) {
	for r := range rows(s.run, s.trials) {
		samples(to).step(r)
	}
}

// samples receives the samples of one export. Labels are pairs of a name and a value.
type samples chan<- prometheus.Metric

func (out samples) gauge(name, help string, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(describe(name, help, labels), prometheus.GaugeValue, v)
}

func (out samples) step(r row) {
	at := []string{
		"run", r.run.ID, "contender", r.trial.Trial.Label(), "round", strconv.Itoa(r.trial.Trial.Round),
		"step", strconv.Itoa(r.Index), "step_name", r.Step.Name,
		"connections", strconv.Itoa(r.Step.Connections), "warm_up", strconv.FormatBool(r.Step.WarmUp),
	}
	for _, m := range measure.All() {
		if m.Prometheus == nil {
			continue
		}
		if v, ok := m.Of(r.StepResult); ok {
			out.gauge(m.Prometheus.Name, m.Prometheus.Help, m.Unit.Base(v), at...)
		}
	}
	out.gauge("locbench_step_definition", "Definition of the measured interval: 2 steady state, 3 whole iterations.",
		float64(r.Load.Definition), at...)
	out.gauge("locbench_step_elapsed_seconds", "Length of the measured interval.", r.Load.Elapsed.Seconds(), at...)
	requests := func(outcome string, n int64) {
		out.gauge("locbench_step_requests", "Requests by outcome.", float64(n), append(at, "outcome", outcome)...)
	}
	requests("succeeded", r.Load.Succeeded)
	for kind, n := range r.Load.Failed {
		requests(string(kind), n)
	}
	if l := r.Load.Latency; l.Count > 0 {
		out <- prometheus.MustNewConstSummary(describe("locbench_step_latency_seconds", "Latency of successes.", at),
			uint64(l.Count), l.Mean.Seconds()*float64(l.Count), map[float64]float64{
				.5: l.P50.Seconds(), .75: l.P75.Seconds(), .9: l.P90.Seconds(), .95: l.P95.Seconds(),
				.99: l.P99.Seconds(), .999: l.P999.Seconds(), 1: l.Max.Seconds(),
			})
	}
	if r.trial.StartUp != nil {
		out.gauge("locbench_trial_start_up_seconds",
			"From process start to the first ready response; repeated for every step of the trial.",
			r.trial.StartUp.Seconds(), at...)
	}
	if r.peaked {
		out.gauge("locbench_trial_time_to_peak_seconds",
			"From process start to the final throughput; repeated for every step of the trial.",
			r.peak.After.Seconds(), at...)
	}
}
