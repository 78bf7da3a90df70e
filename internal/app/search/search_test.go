package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func TestMain(m *testing.M) { os.Exit(testenv.AloneOnMachine(m, machine.RunsVariable)) }

// service has a known capacity: up to it a response takes 10 ms, above it a second.
type service struct {
	capacity float64
	fails    bool // every third response is a 5xx
	steps    int
}

func (s *service) result(step bench.Step) bench.Load {
	n := int64(step.Rate * step.Duration.Seconds())
	if step.Rate == 0 { // the warm-up's closed loop
		n = int64(s.capacity * step.Duration.Seconds())
	}
	p99 := 10 * time.Millisecond
	if step.Rate > s.capacity {
		p99 = time.Second
	}
	l := bench.Load{
		Elapsed: step.Duration, Wall: step.Duration, Counts: bench.Counts{Scheduled: n, Sent: n}, Outcomes: bench.Outcomes{Succeeded: n},
		Latency: bench.Latencies{Count: n, P50: 5 * time.Millisecond, P99: p99, Max: p99},
	}
	if s.fails {
		l.Succeeded -= n / 3
		l.Failed = map[bench.ErrorKind]int64{"5xx": n / 3}
	}
	return l
}

func (s *service) Run(_ context.Context, _ runner.Place, step bench.Step, _ runner.Hooks) (bench.Load, error) {
	s.steps++
	return s.result(step), nil
}

func (s *service) Rest(runner.Place) {}

// TestSearch_FindsTheCapacity: a search finds the capacity within the resolution, from any guess.
func TestSearch_FindsTheCapacity(t *testing.T) {
	for name, c := range map[string]struct {
		capacity, guess, resolution float64
		need, of                    int
		state                       capacity.State
		rate                        float64 // between the found rate and the next failing one
	}{
		"from below":         {400, 10, .1, 1, 2, capacity.Found, 400},
		"from above":         {400, 9000, .1, 1, 2, capacity.Found, 400},
		"of the warm-up":     {400, 0, .1, 1, 2, capacity.Found, 400},
		"closely":            {387, 100, .01, 2, 3, capacity.Found, 387},
		"more than the most": {1e6, 100, .1, 2, 3, capacity.AtLeast, 10_000},
		"nothing":            {.5, 100, .1, 2, 3, capacity.None, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, s := newSearch(t), &service{capacity: c.capacity}
				h.config = capacity.Config{Start: c.guess, Min: 1, Max: 10_000, Resolution: c.resolution, Need: c.need, Of: c.of, Probes: 60}
				var done []bench.StepResult
				for {
					step, ok := h.Next(t.Context(), bench.Trial{}, done)
					if !ok {
						break
					}
					if step.WarmUp {
						step.Duration = time.Second
					}
					done = append(done, bench.StepResult{Index: len(done), Step: step, Load: s.result(step)})
				}
				p := h.log.record.Points[0]
				if h.err != nil || p.Result.State != c.state || len(p.Outcomes) != len(done)-1 || p.Result.Probes != len(p.Outcomes) {
					t.Fatalf("%v: %+v, %d probes recorded, %d steps", h.err, p.Result, len(p.Outcomes), len(done))
				}
				switch r := p.Result; c.state {
				case capacity.Found:
					if r.Rate > c.rate || r.Above <= c.rate || r.Above/r.Rate > (1+c.resolution)*1.0001 || r.Held < c.need {
						t.Errorf("%+v of %g", r, c.rate)
					}
				default:
					testenv.Check(t, math.Abs(r.Rate-c.rate) <= 1e-6, "%+v, want %g", r, c.rate)
				}
			})
		})
	}
}

// searched runs a search of a service in a whole run, and returns its exit code, record and output.
func searched(t *testing.T, s *service, change func(*Options)) (int, capacity.Record, string) {
	t.Helper()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // for the readiness check
	defer target.Close()
	dir := filepath.Join(t.TempDir(), "out")
	o := Options{
		RunOptions: app.RunOptions{Profile: "quick", Changes: profile.Changes{"target": {target.URL}, "no-checks": {"true"}}, Out: dir, Output: app.Output{JSON: true}, Command: []string{"capacity"}},
		SLO:        "p99<50ms,errors<0.1%", Resolution: "10%", Confirm: "1/2", Probe: time.Second, WarmUp: time.Second, MaxProbes: 60,
		engine: s, rest: time.Nanosecond,
	}
	change(&o)
	var out, stderr bytes.Buffer
	err := Run(t.Context(), console.Env{Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }}, o)
	var r capacity.Record
	if e := json.Unmarshal(out.Bytes(), &r); e != nil || len(r.Points) != 1 {
		t.Fatalf("%v, %v: %s%s", err, e, out.String(), stderr.String())
	}
	kept, e := app.ReadSearch(dir)
	if a, b := fmt.Sprint(kept.Points[0].Result), fmt.Sprint(r.Points[0].Result); e != nil || a != b {
		t.Errorf("%v: on disk %s, written %s", e, a, b)
	}
	if _, trials, e := results.Read(dir); e != nil || len(trials) != 1 || len(trials[0].Steps) != s.steps || s.steps != len(r.Points[0].Outcomes)+1 {
		t.Errorf("%v: %d trials; %d steps run, %d probes recorded", e, len(trials), s.steps, len(r.Points[0].Outcomes))
	}
	text := stderr.String()
	if err != nil {
		text += err.Error()
	}
	return console.ExitCode(t.Context(), err), r, text
}

func TestRun_UpToMaxRate(t *testing.T) {
	code, r, stderr := searched(t, &service{capacity: 1e9}, func(o *Options) { o.Guess, o.MaxRate = 60, 100 })
	if res := r.Points[0].Result; code != console.ExitOK || res.State != capacity.AtLeast || res.Rate != 100 || !strings.Contains(stderr, "probes of 1s, about") {
		t.Errorf("exit code %d, %+v\n%s", code, res, stderr)
	}
}

// A service with errors at every rate meets no SLO.
func TestRun_NoRateMeetsTheSLO(t *testing.T) {
	code, r, stderr := searched(t, &service{capacity: 1e9, fails: true}, func(o *Options) { o.Guess, o.MaxProbes = 30, 2 })
	if code != console.ExitThreshold || r.Points[0].Result.Rate != 0 || len(r.Points[0].Outcomes) != 2 || !strings.Contains(stderr, "no rate meets p99<50ms,errors<0.1%") {
		t.Errorf("exit code %d, %+v\n%s", code, r.Points[0], stderr)
	}
	why := capacity.Reason(r.Points[0].Outcomes[0].Why)
	testenv.Check(t, strings.Contains(why, "errors is 33"), "%q", why)
}

// The end of a search is its conclusion; the same is the first screen of the report and in the
// summary.
func TestRun_Conclusion(t *testing.T) {
	var end, dir string
	_, _, stderr := searched(t, &service{capacity: 400}, func(o *Options) { dir = o.Out })
	testenv.Check(t, strings.HasSuffix(strings.TrimSpace(stderr), "report   "+filepath.Join(dir, results.ReportFile)), "%s", stderr)
	search, err := app.ReadSearch(dir)
	testenv.OK(t, err)
	end = search.Conclusion.Verdict
	for _, file := range []string{results.ReportFile, results.SummaryFile} {
		data := testenv.Must(os.ReadFile(filepath.Join(dir, file)))(t)
		testenv.Check(t, strings.Contains(string(data), end) && strings.Contains(string(data), "Probes"), "%s: no %q", file, end)
	}
}

func TestOptions_Refused(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"--slo is missing":     func(o *Options) { o.SLO = "" },
		"--slo: ":              func(o *Options) { o.SLO = "p99" },
		"remove throughput":    func(o *Options) { o.SLO = "throughput>5" },
		"--confirm \"3/2 \"":   func(o *Options) { o.Confirm = "3/2 " },
		"3 of 2 confirmations": func(o *Options) { o.Confirm = "3/2" },
		"--resolution \"3\"":   func(o *Options) { o.Resolution = "3" },
		"resolution 2":         func(o *Options) { o.Resolution = "200%" },
		"--guess -1":           func(o *Options) { o.Guess = -1 },
		"--max-rate 2e+06":     func(o *Options) { o.MaxRate = 2e6 },
		"--probe 1ms":          func(o *Options) { o.Probe = time.Millisecond },
		"--warm-up 1ms":        func(o *Options) { o.WarmUp = time.Millisecond },
		"--connections 70000":  func(o *Options) { o.MaxConnections = 70_000 },
		"at least 1 probe":     func(o *Options) { o.MaxProbes = 0 },
		"not with --target": func(o *Options) {
			o.Limits, o.Changes = []string{"cpus=1"}, profile.Changes{"target": {"http://127.0.0.1:1"}}
		},
		"expected cpus=0.5,1":                         func(o *Options) { o.Limits = []string{"disk=1"} },
		"either --limits or --cpus":                   func(o *Options) { o.Limits, o.Changes = []string{"cpus=1"}, profile.Changes{"cpus": {"1"}} },
		"--limits: \"many\": write from 0.01 to 1024": func(o *Options) { o.Limits = []string{"cpus=1,many"} },
		"--limits: ":                                  func(o *Options) { o.Limits = []string{"memory=much"} },
		"1 CPU is given twice":                        func(o *Options) { o.Limits = []string{"cpus=1,1.0"} },
		"cpus is given twice; write one list":         func(o *Options) { o.Limits = []string{"cpus=1", "cpus=2"} },
		"cpus has 2 values, memory 3: they are pairs": func(o *Options) { o.Limits = []string{"cpus=1,2", "memory=64MiB,128MiB,256MiB"} },
		"0.5 CPUs, 64 MiB is given twice":             func(o *Options) { o.Limits = []string{"cpus=0.5,1,0.5", "memory=64MiB"} },
		"51 given, at most 50":                        func(o *Options) { o.Limits = []string{"cpus=" + strings.Join(numbers(51), ",")} },
		"name a contender":                            func(o *Options) {},
		"already holds a search": func(o *Options) {
			o.Contenders, o.Out = []string{"go-nethttp"}, t.TempDir()
			os.WriteFile(filepath.Join(o.Out, capacity.File), nil, 0o600)
		},
		"2 contenders were given": func(o *Options) {
			o.Contenders, o.Changes = []string{"go-nethttp", "x"}, profile.Changes{"target": {"http://127.0.0.1:1"}}
		},
		"name one contender": func(o *Options) { o.Contenders = []string{"go-nethttp", "rs-actix"} },
	} {
		t.Run(want, func(t *testing.T) {
			o := Options{RunOptions: app.RunOptions{Profile: "quick", Out: filepath.Join(t.TempDir(), "out")}, SLO: "p99<50ms", Resolution: "10%", Confirm: "1/2", Probe: time.Second, WarmUp: time.Second, MaxProbes: 60}
			change(&o)
			var out bytes.Buffer
			err := Run(t.Context(), console.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}, o)
			if console.ExitCode(t.Context(), err) != console.ExitUsage || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want exit code %d and %q", err, console.ExitUsage, want)
			}
		})
	}
}

func numbers(n int) (all []string) {
	for i := range n {
		all = append(all, strconv.Itoa(i+1))
	}
	return all
}

// TestPlaces: --limits gives the limits of several searches.
func TestPlaces(t *testing.T) {
	for limits, want := range map[string]string{
		"":                               "[{ . 0 0}]",
		"cpus=0.5,2":                     "[{0.5 CPUs cpus-0.5 0.5 0} {2 CPUs cpus-2 2 0}]",
		"memory=64MiB, 512MiB":           "[{64 MiB memory-64MiB 0 67108864} {512 MiB memory-512MiB 0 536870912}]",
		"memory=64MiB,128MiB;cpus=0.5,1": "[{0.5 CPUs, 64 MiB cpus-0.5-memory-64MiB 0.5 67108864} {1 CPU, 128 MiB cpus-1-memory-128MiB 1 134217728}]",
		"cpus=0.5,1;memory=64MiB":        "[{0.5 CPUs, 64 MiB cpus-0.5-memory-64MiB 0.5 67108864} {1 CPU, 64 MiB cpus-1-memory-64MiB 1 67108864}]",
	} {
		t.Run(limits, func(t *testing.T) {
			all, err := (&Options{Limits: strings.FieldsFunc(limits, func(r rune) bool { return r == ';' })}).places()
			got := fmt.Sprint(all)
			testenv.Check(t, got == want && err == nil, "%s, %v; want %s", got, err, want)
		})
	}
	o := &Options{RunOptions: app.RunOptions{Profile: "quick", Contenders: []string{"go-nethttp"}, Out: "out"}, Probe: 5 * time.Second, WarmUp: time.Second}
	plan, err := o.plan(place{label: "2 CPUs", dir: "cpus-2", cpus: 2}, nil)
	if p := plan.Run.Profile; err != nil || plan.Dir != filepath.Join("out", "cpus-2") || p.Limits.CPUs != 2 || p.Rounds != 1 || len(p.Steps) != 1 || !p.Steps[0].WarmUp || !strings.HasSuffix(p.Title, "with 2 CPUs") {
		t.Errorf("%+v, %v", plan, err)
	}
}

// newSearch returns a search outside of a run: SLO p99<50ms, first probe at 100/s.
func newSearch(t *testing.T) *capacitySearch {
	t.Helper()
	slo, err := profile.ParseConditions("p99<50ms")
	testenv.OK(t, err)
	log := &recorder{dir: t.TempDir(), record: capacity.Record{Schema: capacity.Schema}}
	return &capacitySearch{
		options: &Options{Probe: time.Second}, slo: slo, log: log, point: log.add(capacity.Point{Dir: "."}),
		config: capacity.Config{Start: 100, Min: 1, Max: 1000, Resolution: .5, Need: 1, Of: 1, Probes: 9},
		run:    &bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: "a"}}, Steps: []bench.Step{{Connections: 16, WarmUp: true}}}}, publish: func(*bench.Trial, bench.Event) {},
	}
}

func done(p99 time.Duration, aborted string) bench.StepResult {
	return bench.StepResult{Step: bench.Step{Duration: time.Second}, Aborted: aborted, Load: bench.Load{
		Elapsed: time.Second, Counts: bench.Counts{Scheduled: 100, Sent: 100}, Outcomes: bench.Outcomes{Succeeded: 100}, Latency: bench.Latencies{Count: 100, P99: p99},
	}}
}

// The warm-up comes first; a skipped step has no result and is repeated.
func TestSearchRepeatsSkippedSteps(t *testing.T) {
	h := newSearch(t)
	var steps []bench.StepResult
	next := func() bench.Step {
		t.Helper()
		s, ok := h.Next(t.Context(), bench.Trial{}, steps)
		testenv.Need(t, ok && h.err == nil, "it ended: %v", h.err)
		return s
	}
	if s := next(); !s.WarmUp {
		t.Errorf("the first step is %+v", s)
	}
	steps = append(steps, done(1, "skipped by the user"))
	if s := next(); !s.WarmUp {
		t.Errorf("after a skipped warm-up comes %+v", s)
	}
	steps = append(steps, done(1, ""))
	if s := next(); s.Rate != 100 || s.Duration != time.Second {
		t.Errorf("the first probe is %+v", s)
	}
	steps = append(steps, done(time.Second, "skipped by the user"))
	if s := next(); s.Rate != 100 || len(h.log.record.Points[0].Outcomes) != 0 {
		t.Errorf("after a skipped probe comes %+v", s)
	}
	steps = append(steps, done(time.Millisecond, ""))
	if s := next(); s.Rate != 200 {
		t.Errorf("after a passed probe comes %+v", s)
	}
	kept, err := app.ReadSearch(h.log.dir)
	if err != nil || len(kept.Points) != 1 || len(kept.Points[0].Outcomes) != 1 || !kept.Points[0].Outcomes[0].Sustained {
		t.Errorf("on disk: %+v, %v", kept, err)
	}
}

// A full disk ends the search with the reason, and the pause after a probe ends with the run.
func TestSearchEnds(t *testing.T) {
	h := newSearch(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	steps := []bench.StepResult{done(1, "")}
	h.Next(ctx, bench.Trial{}, steps)
	steps = append(steps, done(time.Second, ""))
	if s, ok := h.Next(ctx, bench.Trial{}, steps); !ok || s.Rate != 100 {
		t.Errorf("after a failed probe comes %+v, %t", s, ok)
	}
	h.log.dir = filepath.Join(h.log.dir, "not", "there")
	steps = append(steps, done(time.Second, ""))
	if _, ok := h.Next(ctx, bench.Trial{}, steps); ok || h.err == nil || !strings.Contains(h.err.Error(), "save the probe") {
		t.Errorf("%t, %v", ok, h.err)
	}
}
