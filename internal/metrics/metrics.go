// Package metrics tells how a run stands while it goes on, in Prometheus' text exposition format:
// at an address of this machine, and by pushing.
//
// It is a subscriber of the event stream: what it knows is what events say, at most a second old,
// and nothing of it touches the load. What is not known now has no sample: between two steps there
// is no throughput. The final figures of finished steps are package export's.
package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/safe"
)

// ContentType is that of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Run is the state of a run. The zero value is ready; its methods may be called from any goroutine.
type Run struct {
	mu       sync.Mutex
	run      *bench.Run
	ended    bool
	legs     int
	*life                        // that something was last heard of; of those that take turns the one whose turn it is
	lives    map[bench.Leg]*life // all that run
	requests map[outcome]int64
	checks   map[outcome]int64
	missed   map[outcome]int64
}

type life struct {
	number  int // of the leg, from 1; 0: none
	leg     bench.Leg
	limits  bench.Limits
	startUp time.Duration // 0: not known
	step    *bench.StepStarted
	window  *bench.Window
	usage   *bench.Usage
}

// outcome counts for a contender.
type outcome struct{ contender, what string }

// Handle folds one event into the state. It is what event.Stream.Subscribe wants.
func (r *Run) Handle(rec bench.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := rec.Event.(bench.RunStarted); ok {
		r.run, r.ended = &e.Run, false
		r.life, r.lives = &life{}, map[bench.Leg]*life{}
		r.requests, r.checks, r.missed = map[outcome]int64{}, map[outcome]int64{}, map[outcome]int64{}
	}
	if r.run == nil {
		return
	}
	contender := ""
	if rec.Leg != nil {
		contender, r.life = rec.Leg.Label(), cmp.Or(r.lives[*rec.Leg], r.life)
	}
	add := func(m map[outcome]int64, what string, n int64) { m[outcome{contender, what}] += n }
	switch e := rec.Event.(type) {
	case bench.LegStarted:
		r.life, r.legs = &life{leg: *rec.Leg, number: e.Number}, e.Of
		r.lives[*rec.Leg] = r.life
	case bench.InstanceStarted:
		r.limits = e.Info.Limits
	case bench.InstanceReady:
		r.startUp = e.StartUp
	case bench.CheckDone:
		add(r.checks, string(e.Check.Status), 1)
	case bench.StepStarted:
		r.step, r.window = &e, nil
	case bench.WindowClosed:
		add(r.requests, "succeeded", e.Window.Succeeded)
		for kind, n := range e.Window.Failed {
			add(r.requests, string(kind), n)
		}
		if e.Window.Dropped > 0 {
			add(r.requests, "dropped", e.Window.Dropped)
		}
		if !e.Window.Drain {
			r.window = &e.Window
		}
	case bench.UsageRead:
		r.usage = &e.Usage
	case bench.StepEnded:
		r.step, r.window = nil, nil
		if n := len(e.Result.Missed()); n > 0 {
			add(r.missed, "", int64(n))
		}
	case bench.LegEnded:
		delete(r.lives, r.leg)
		r.life = &life{}
		for _, other := range r.lives { // that still runs
			r.life = other
		}
	case bench.RunEnded:
		r.ended = true
	}
}

// Write writes the state as it is now.
func (r *Run) Write(w io.Writer) error {
	r.mu.Lock()
	t := r.text()
	r.mu.Unlock()
	_, err := io.WriteString(w, t)
	return err
}

func (r *Run) text() string {
	if r.run == nil {
		return ""
	}
	var t text
	run := r.run
	t.family("locbench_run_info", "gauge", "The run that the figures are of.")
	t.sample(1, "run", run.ID, "profile", run.Profile.Name, "version", run.Software.Locbench)
	running := 1.
	if r.ended {
		running = 0
	}
	t.gauge("locbench_run_running", "1 until the run has ended.", running)
	t.gauge("locbench_run_started_timestamp_seconds", "When it was started.", float64(run.Started.UnixMilli())/1000)
	t.known("locbench_legs", "Lives of contenders that are planned.", float64(r.legs))
	if r.number > 0 {
		r.write(&t)
	}
	t.counts("locbench_requests_total", "Requests by what became of them, in all steps.", "outcome", r.requests)
	t.counts("locbench_checks_total", "Checks by what became of them.", "status", r.checks)
	t.counts("locbench_thresholds_missed_total", "Conditions of thresholds that a step has missed.", "", r.missed)
	return t.String()
}

func (r *Run) write(t *text) {
	who := []string{"contender", r.leg.Label(), "round", strconv.Itoa(r.leg.Round)}
	t.gauge("locbench_leg_number", "Number of the running leg.", float64(r.number), who...)
	t.known("locbench_leg_start_up_seconds", "From the start of the process to the first answer that says it is ready.",
		r.startUp.Seconds(), who...)
	t.known("locbench_cpu_limit", "CPU quota of the contender, in CPUs.", r.limits.CPUs, who...)
	t.known("locbench_memory_limit_bytes", "Memory limit of the contender.", float64(r.limits.Memory), who...)
	if u := r.usage; u != nil {
		for _, m := range measure.View(measure.Live) {
			if v, ok := m.Live.Of(*u); ok {
				t.family(m.Live.Name, m.Live.Kind, m.Live.Help)
				t.sample(v, who...)
			}
		}
	}
	s, w := r.step, r.window
	if s == nil {
		return
	}
	at := append(slices.Clone(who), "step", strconv.Itoa(s.Index), "step_name", s.Step.Name, "warm_up", strconv.FormatBool(s.Step.WarmUp))
	t.gauge("locbench_step_number", "Number of the running step, from 1.", float64(s.Index+1), at...)
	t.known("locbench_connections", "Connections of the running step.", float64(s.Step.Connections), at...)
	if w == nil {
		return
	}
	t.gauge("locbench_throughput", "Successes per second, in the last second.", w.Throughput(), at...)
	t.known("locbench_rate", "Requests due per second.", w.Rate, at...)
	if w.Succeeded > 0 {
		t.family("locbench_latency_seconds", "gauge", "Latency of the successes of the last second, by quantile; 1 is the longest.")
		for _, q := range []struct {
			name  string
			value float64
		}{{"0.5", w.P50.Seconds()}, {"0.9", w.P90.Seconds()}, {"0.99", w.P99.Seconds()}, {"1", w.Max.Seconds()}} {
			t.sample(q.value, append(slices.Clone(at), "quantile", q.name)...)
		}
	}
}

// text is the exposition format. A family is written as a whole before the next begins.
type text struct {
	strings.Builder
	name string
}

func (t *text) family(name, kind, help string) {
	t.name = name
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (t *text) gauge(name, help string, v float64, labels ...string) {
	t.family(name, "gauge", help)
	t.sample(v, labels...)
}

// known writes a gauge that is above 0: where it is not, the figure is not known.
func (t *text) known(name, help string, v float64, labels ...string) {
	if v > 0 {
		t.gauge(name, help, v, labels...)
	}
}

// sample writes one of the family; labels are names and values in turn.
func (t *text) sample(v float64, labels ...string) {
	t.WriteString(t.name)
	var pairs []string
	for pair := range slices.Chunk(labels, 2) {
		pairs = append(pairs, fmt.Sprintf(`%s="%s"`, pair[0], label(pair[1])))
	}
	if pairs != nil {
		t.WriteString("{" + strings.Join(pairs, ",") + "}")
	}
	t.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

func (t *text) counts(name, help, by string, all map[outcome]int64) {
	if len(all) == 0 {
		return
	}
	t.family(name, "counter", help)
	keys := slices.SortedFunc(maps.Keys(all), func(a, b outcome) int {
		return strings.Compare(a.contender+"\x00"+a.what, b.contender+"\x00"+b.what)
	})
	for _, k := range keys {
		labels := []string{"contender", k.contender}
		if by != "" {
			labels = append(labels, by, k.what)
		}
		t.sample(float64(all[k]), labels...)
	}
}

func label(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(safe.Line(s, 200))
}
