package export

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/text/safe"
)

// state is what events have said of a run: a prometheus.Collector. Its methods may be called from
// any goroutine.
type state struct {
	mu      sync.Mutex
	run     *bench.Run             // nil: none has begun
	going   float64                // 1 until it has ended
	trials  int                    // that are planned
	trial   *trial                 // last heard of; where contenders take turns the one whose turn it is
	running map[bench.Trial]*trial // all of them
	counts  map[count]float64
}

// trial is what is known of one that runs.
type trial struct {
	id      bench.Trial
	number  int // from 1; 0: no trial runs
	limits  bench.Limits
	startUp time.Duration // 0: not known
	step    *bench.StepStarted
	window  *bench.Window
	usage   *bench.Usage
}

// count is one counter of a contender, over the whole run: of what its label says.
type count struct{ name, help, label, of, contender string }

// handle folds one event into the state.
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
		add("locbench_requests_total", "Requests by what became of them, in all steps.", "outcome", outcome, n)
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
		add("locbench_checks_total", "Checks by what became of them.", "status", string(e.Check.Status), 1)
	case bench.StepStarted:
		s.trial.step, s.trial.window = &e, nil
	case bench.WindowClosed:
		requests("succeeded", e.Window.Succeeded)
		for kind, n := range e.Window.Failed {
			requests(string(kind), n)
		}
		if e.Window.Dropped > 0 {
			requests("dropped", e.Window.Dropped)
		}
		if !e.Window.Drain {
			s.trial.window = &e.Window
		}
	case bench.UsageRead:
		s.trial.usage = &e.Usage
	case bench.StepEnded:
		s.trial.step, s.trial.window = nil, nil
		if n := int64(len(e.Result.Missed())); n > 0 {
			add("locbench_thresholds_missed_total", "Conditions of thresholds that a step has missed.", "", "", n)
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

// Describe announces nothing: which samples there are depends on what is known.
func (s *state) Describe(chan<- *prometheus.Desc) {}

// Collect sends the state as it is now.
func (s *state) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return
	}
	out := samples(to)
	out.gauge("locbench_run_info", "The run that the figures are of.", 1,
		"run", s.run.ID, "profile", s.run.Profile.Name, "version", s.run.Software.Locbench)
	out.gauge("locbench_run_running", "1 until the run has ended.", s.going)
	out.gauge("locbench_run_started_timestamp_seconds", "When it was started.", float64(s.run.Started.UnixMilli())/1000)
	out.known("locbench_trials", "Lives of contenders that are planned.", float64(s.trials))
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

// samples is where the samples of one answer go. Labels are names and values in turn.
type samples chan<- prometheus.Metric

func (out samples) trial(l *trial) {
	who := []string{"contender", l.id.Label(), "round", strconv.Itoa(l.id.Round)}
	out.gauge("locbench_trial_number", "Number of the running trial.", float64(l.number), who...)
	out.known("locbench_trial_start_up_seconds",
		"From the start of the process to the first response that says it is ready.", l.startUp.Seconds(), who...)
	out.known("locbench_cpu_limit", "CPU quota of the contender, in CPUs.", l.limits.CPUs, who...)
	out.known("locbench_memory_limit_bytes", "Memory limit of the contender.", float64(l.limits.Memory), who...)
	if l.usage != nil {
		kinds := map[string]prometheus.ValueType{"gauge": prometheus.GaugeValue, "counter": prometheus.CounterValue}
		for _, m := range measure.View(measure.Live) {
			if v, ok := m.Live.Of(*l.usage); ok {
				out.send(kinds[m.Live.Kind], m.Live.Name, m.Live.Help, v, who)
			}
		}
	}
	s, w := l.step, l.window
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
	out.gauge("locbench_throughput", "Successes per second, in the last second.", w.Throughput(), at...)
	out.known("locbench_rate", "Requests due per second.", w.Rate, at...)
	for quantile, v := range map[string]time.Duration{"0.5": w.P50, "0.9": w.P90, "0.99": w.P99, "1": w.Max} {
		if w.Succeeded > 0 {
			out.gauge("locbench_latency_seconds", "Latency of the successes of the last second, by quantile; 1 is the longest.",
				v.Seconds(), slices.Concat(at, []string{"quantile", quantile})...)
		}
	}
}

func (out samples) gauge(name, help string, v float64, labels ...string) {
	out.send(prometheus.GaugeValue, name, help, v, labels)
}

// known sends a gauge that is above 0: where it is not, the figure is not known.
func (out samples) known(name, help string, v float64, labels ...string) {
	if v > 0 {
		out.gauge(name, help, v, labels...)
	}
}

func (out samples) send(kind prometheus.ValueType, name, help string, v float64, labels []string) {
	values := prometheus.Labels{}
	for pair := range slices.Chunk(labels, 2) {
		values[pair[0]] = safe.Line(pair[1], 200) // the library refuses invalid UTF-8
	}
	desc := prometheus.NewDesc(name, help, nil, values)
	m, err := prometheus.NewConstMetric(desc, kind, v)
	if err != nil {
		m = prometheus.NewInvalidMetric(desc, err)
	}
	out <- m
}
