package export

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/safe"
)

// state is a run's state, from its events: a prometheus.Collector, safe for concurrent use.
type state struct {
	mu      sync.Mutex
	run     *bench.Run             // nil before the start
	going   float64                // 1 until the run has ended
	trials  int                    // number of planned trials
	trial   *trial                 // the trial of the last event; with interleaving, the one under load
	running map[bench.Trial]*trial // all running trials
	counts  map[count]float64
}

// trial is the state of a running trial.
type trial struct {
	id      bench.Trial
	number  int // from 1; 0: no running trial
	limits  bench.Limits
	startUp time.Duration // 0: unknown
	step    *bench.StepStarted
	window  *bench.Window
	usage   *bench.Usage
}

// count is the key of a counter of one contender over the whole run.
type count struct{ name, help, label, of, contender string }

// handle applies one event to the state.
func (s *state) handle(rec bench.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := rec.Event.(bench.RunStarted); ok {
		s.run, s.going = &e.Run, 1
		s.trial, s.running, s.counts = &trial{}, map[bench.Trial]*trial{}, map[count]float64{}
	}
	if s.run == nil {
		return
	}
	contender := ""
	if rec.Trial != nil {
		contender, s.trial = rec.Trial.Label(), cmp.Or(s.running[*rec.Trial], s.trial)
	}
	add := func(name, help, label, of string, n int64) {
		s.counts[count{name, help, label, of, contender}] += float64(n)
	}
	requests := func(outcome string, n int64) {
		add("locbench_requests_total", "Requests by outcome, over all steps.", "outcome", outcome, n)
	}
	switch e := rec.Event.(type) {
	case bench.TrialStarted:
		s.trial, s.trials = &trial{id: *rec.Trial, number: e.Number}, e.Of
		s.running[*rec.Trial] = s.trial
	case bench.InstanceStarted:
		s.trial.limits = e.Info.Limits
	case bench.InstanceReady:
		s.trial.startUp = e.StartUp
	case bench.CheckDone:
		add("locbench_checks_total", "Checks by status.", "status", string(e.Check.Status), 1)
	case bench.StepStarted:
		s.trial.step, s.trial.window = &e, nil
	case bench.WindowClosed:
		requests("succeeded", e.Window.Succeeded)
		for kind, n := range e.Window.Failed {
			requests(string(kind), n)
		}
		requests("rejected", e.Window.Rejected)
		requests("dropped", e.Window.Dropped)
		s.trial.window = &e.Window
	case bench.UsageRead:
		s.trial.usage = &e.Usage
	case bench.StepEnded:
		s.trial.step, s.trial.window = nil, nil
		if n := int64(len(e.Result.Missed())); n > 0 {
			add("locbench_thresholds_missed_total", "Missed thresholds, over all steps.", "", "", n)
		}
	case bench.TrialEnded:
		delete(s.running, s.trial.id)
		s.trial = &trial{}
		for _, other := range s.running {
			s.trial = other
		}
	case bench.RunEnded:
		s.going = 0
	}
}

// Describe sends nothing: which samples there are depends on the state.
func (s *state) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current state.
func (s *state) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return
	}
	out := samples(to)
	out.gauge("locbench_run_info", "The run of these metrics.", 1,
		"run", s.run.ID, "profile", s.run.Profile.Name, "version", s.run.Software.Locbench)
	out.gauge("locbench_run_running", "1 until the run has ended.", s.going)
	out.gauge("locbench_run_started_timestamp_seconds", "Start of the run.", float64(s.run.Started.UnixMilli())/1000)
	out.known("locbench_trials", "Planned trials.", float64(s.trials))
	for c, n := range s.counts {
		labels := []string{"contender", c.contender}
		if c.label != "" {
			labels = append(labels, c.label, c.of)
		}
		out.send(prometheus.CounterValue, c.name, c.help, n, labels)
	}
	if s.trial.number > 0 {
		out.trial(s.trial)
	}
}

// samples receives the samples of one scrape. Labels are pairs of a name and a value.
type samples chan<- prometheus.Metric

func (out samples) trial(t *trial) {
	who := []string{"contender", t.id.Label(), "round", strconv.Itoa(t.id.Round)}
	out.gauge("locbench_trial_number", "Number of the running trial.", float64(t.number), who...)
	out.known("locbench_trial_start_up_seconds",
		"From process start to the first ready response.", t.startUp.Seconds(), who...)
	out.known("locbench_cpu_limit", "CPU quota of the contender, in CPUs.", t.limits.CPUs, who...)
	out.known("locbench_memory_limit_bytes", "Memory limit of the contender.", float64(t.limits.Memory), who...)
	if t.usage != nil {
		kinds := map[string]prometheus.ValueType{"gauge": prometheus.GaugeValue, "counter": prometheus.CounterValue}
		for _, m := range measure.All() {
			if m.Live == nil {
				continue
			}
			if v, ok := m.Live.Of(*t.usage); ok {
				out.send(kinds[m.Live.Kind], m.Live.Name, m.Live.Help, v, who)
			}
		}
	}
	s, w := t.step, t.window
	if s == nil {
		return
	}
	at := slices.Concat(who, []string{
		"step", strconv.Itoa(s.Index), "step_name", s.Step.Name, "warm_up", strconv.FormatBool(s.Step.WarmUp),
	})
	out.gauge("locbench_step_number", "Number of the running step, from 1.", float64(s.Index+1), at...)
	out.known("locbench_connections", "Connections of the running step.", float64(s.Step.Connections), at...)
	if w == nil {
		return
	}
	out.gauge("locbench_throughput", "Successes per second in the last second.", w.Throughput(), at...)
	out.known("locbench_rate", "Scheduled requests per second.", w.Rate, at...)
	for quantile, v := range map[string]time.Duration{"0.5": w.P50, "0.9": w.P90, "0.99": w.P99, "1": w.Max} {
		if w.Succeeded > 0 {
			out.gauge("locbench_latency_seconds", "Latency of successes in the last second, by quantile; 1 is the maximum.",
				v.Seconds(), slices.Concat(at, []string{"quantile", quantile})...)
		}
	}
}

func (out samples) gauge(name, help string, v float64, labels ...string) {
	out.send(prometheus.GaugeValue, name, help, v, labels)
}

// known sends a gauge if it is above 0; otherwise its value is unknown.
func (out samples) known(name, help string, v float64, labels ...string) {
	if v > 0 {
		out.gauge(name, help, v, labels...)
	}
}

func (out samples) send(kind prometheus.ValueType, name, help string, v float64, labels []string) {
	out <- prometheus.MustNewConstMetric(describe(name, help, labels), kind, v)
}

// describe returns the description of a metric; names, help and the names of labels are constants.
func describe(name, help string, labels []string) *prometheus.Desc {
	values := prometheus.Labels{}
	for pair := range slices.Chunk(labels, 2) {
		values[pair[0]] = safe.Line(pair[1], 200) // the library rejects invalid UTF-8
	}
	return prometheus.NewDesc(name, help, nil, values)
}
