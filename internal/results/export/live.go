package export

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/text/safe"
)

// state has the samples of a run, from its events: a prometheus.Collector, safe for concurrent use.
type state struct {
	mu      sync.Mutex
	samples map[string]sample        // by name and labels; nil before the start
	steps   map[bench.Trial][]string // labels of the running steps
}

// sample is the value of a metric with its labels, pairs of a name and a value.
type sample struct {
	prometheus.Metric
	value  float64
	labels []string
}

// handle applies one event to the state.
func (s *state) handle(rec bench.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start, isStart := rec.Event.(bench.RunStarted)
	if isStart {
		s.samples, s.steps = map[string]sample{}, map[bench.Trial][]string{}
	}
	if s.samples == nil {
		return
	}
	var trial bench.Trial
	if rec.Trial != nil {
		trial = *rec.Trial
	}
	contender := []string{"contender", trial.Label()}
	who := append(slices.Clip(contender), "round", strconv.Itoa(trial.Round))
	at := s.steps[trial]
	drop := func(most int) { // the samples of the trial with more labels, which are those of its step
		maps.DeleteFunc(s.samples, func(_ string, x sample) bool {
			return len(x.labels) > most && slices.Equal(x.labels[:len(who)], who)
		})
	}
	put := func(kind prometheus.ValueType, name, help string, v float64, labels []string) {
		m := prometheus.MustNewConstMetric(describe(name, help, labels), kind, v)
		s.samples[fmt.Sprintf("%s %q", name, labels)] = sample{m, v, labels}
	}
	gauge := func(name, help string, v float64, labels ...string) {
		put(prometheus.GaugeValue, name, help, v, labels)
	}
	known := func(name, help string, v float64, labels ...string) { // else the value is unknown
		if v > 0 {
			gauge(name, help, v, labels...)
		}
	}
	add := func(name, help string, n int64, labels ...string) {
		labels = append(slices.Clip(contender), labels...)
		put(prometheus.CounterValue, name, help, s.samples[fmt.Sprintf("%s %q", name, labels)].value+float64(n), labels)
	}
	requests := func(outcome string, n int64) {
		add("locbench_requests_total", "Requests by outcome, over all steps.", n, "outcome", outcome)
	}
	running := func(v float64) { gauge("locbench_run_running", "1 until the run has ended.", v) }
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		gauge("locbench_run_info", "The run of these metrics.", 1,
			"run", start.Run.ID, "profile", start.Run.Profile.Name, "version", start.Run.Software.Locbench)
		gauge("locbench_run_started_timestamp_seconds", "Start of the run.", float64(start.Run.Started.UnixMilli())/1000)
		running(1)
	case bench.TrialStarted:
		known("locbench_trials", "Planned trials.", float64(e.Of))
		gauge("locbench_trial_number", "Number of the running trial.", float64(e.Number), who...)
	case bench.InstanceStarted:
		known("locbench_cpu_limit", "CPU quota of the contender, in CPUs.", e.Info.Limits.CPUs, who...)
		known("locbench_memory_limit_bytes", "Memory limit of the contender.", float64(e.Info.Limits.Memory), who...)
	case bench.InstanceReady:
		known("locbench_trial_start_up_seconds", "From process start to the first ready response.", e.StartUp.Seconds(), who...)
	case bench.CheckDone:
		add("locbench_checks_total", "Checks by status.", 1, "status", string(e.Check.Status))
	case bench.StepStarted:
		drop(len(who))
		at = append(who, "step", strconv.Itoa(e.Index), "step_name", e.Step.Name, "warm_up", strconv.FormatBool(e.Step.WarmUp))
		s.steps[trial] = slices.Clip(at)
		gauge("locbench_step_number", "Number of the running step, from 1.", float64(e.Index+1), at...)
		known("locbench_connections", "Connections of the running step.", float64(e.Step.Connections), at...)
	case bench.WindowClosed:
		w := e.Window
		requests("succeeded", w.Succeeded)
		for kind, n := range w.Failed {
			requests(string(kind), n)
		}
		requests("rejected", w.Rejected)
		requests("dropped", w.Dropped)
		gauge("locbench_throughput", "Successes per second in the last second.", w.Throughput(), at...)
		known("locbench_rate", "Scheduled requests per second.", w.Rate, at...)
		for quantile, v := range map[string]time.Duration{"0.5": w.P50, "0.9": w.P90, "0.99": w.P99, "1": w.Max} {
			if w.Succeeded > 0 {
				gauge("locbench_latency_seconds", "Latency of successes in the last second, by quantile; 1 is the maximum.",
					v.Seconds(), append(at, "quantile", quantile)...)
			}
		}
	case bench.UsageRead:
		for _, m := range measure.All() {
			if m.Live == nil {
				continue
			}
			if v, ok := m.Live.Of(e.Usage); ok {
				kinds := map[string]prometheus.ValueType{"gauge": prometheus.GaugeValue, "counter": prometheus.CounterValue}
				put(kinds[m.Live.Kind], m.Live.Name, m.Live.Help, v, who)
			}
		}
	case bench.StepEnded:
		drop(len(who))
		if n := int64(len(e.Result.Missed())); n > 0 {
			add("locbench_thresholds_missed_total", "Missed thresholds, over all steps.", n)
		}
	case bench.TrialEnded:
		drop(len(who) - 1)
		delete(s.steps, trial)
	case bench.RunEnded:
		running(0)
	}
}

// Describe sends nothing: which samples there are depends on the state.
func (s *state) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current state.
func (s *state) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.samples {
		to <- x.Metric
	}
}

// describe returns the description of a metric; names, help and the names of labels are constants.
func describe(name, help string, labels []string) *prometheus.Desc {
	values := prometheus.Labels{}
	for pair := range slices.Chunk(labels, 2) {
		values[pair[0]] = safe.Line(pair[1], 200) // the library rejects invalid UTF-8
	}
	return prometheus.NewDesc(name, help, nil, values)
}

// MetricsServer serves the state of a run at GET /metrics.
type MetricsServer struct {
	listener net.Listener
	server   http.Server
	state    state
	serving  sync.WaitGroup
}

// ListenMetrics listens at the address; without a host (":9464", "9464") only on loopback.
func ListenMetrics(ctx context.Context, address string) (*MetricsServer, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address (use HOST:PORT, such as 127.0.0.1:9464)", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	s := &MetricsServer{server: http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}}
	registry := prometheus.NewRegistry()
	if err := registry.Register(&s.state); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	if s.listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, err
	}
	a, ok := s.listener.Addr().(*net.TCPAddr)
	loopback := ok && a.IP.IsLoopback()
	paths := http.NewServeMux()
	// Compression would use CPU time of the measured machine.
	paths.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true}))
	s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if loopback && !literal(r.Host) {
			http.Error(w, "use 127.0.0.1, [::1] or localhost", http.StatusMisdirectedRequest)
			return
		}
		paths.ServeHTTP(w, r)
	})
	return s, nil
}

// literal reports whether a Host header is an IP address or localhost, so not of another site.
func literal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}

// Follow serves the state of the run in stream until Close.
func (s *MetricsServer) Follow(stream *event.Stream) {
	say := func(level, text string) { stream.Publish(nil, bench.Notice{Level: level, Text: text}) }
	s.serving.Go(func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			say("warning", fmt.Sprintf("serve metrics: %v", err))
		}
	})
	stream.Subscribe(func(rec bench.Record) {
		s.state.handle(rec)
		if _, ok := rec.Event.(bench.RunStarted); ok { // the first event
			say("info", fmt.Sprintf("metrics  http://%s/metrics", s.listener.Addr()))
		}
	})
}

// Close stops the server and waits for its end. Follow need not have been called.
func (s *MetricsServer) Close() {
	_ = s.server.Close()
	_ = s.listener.Close()
	s.serving.Wait()
}
