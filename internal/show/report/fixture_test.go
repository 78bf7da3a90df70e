package report

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

// fixture returns a run of profile locations: 3 contenders × 3 rounds × 16 steps. The last trial of
// kt-http4k was OOM-killed, kt-ktor's second one has failed readings, rs-actix's memory peak is
// only sampled, and checks differ.
func fixture() (bench.Run, []bench.TrialResult) { return fixtureOf(3, 3) }

// fixtureOf returns the same run with more contenders or rounds.
func fixtureOf(contenders, rounds int) (bench.Run, []bench.TrialResult) {
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	profile := bench.Profile{
		Name: "locations", Title: "Constrained microservices", Rounds: rounds, Runtime: bench.RuntimeDocker,
		Contenders:  []bench.Selection{{Contender: "rs-actix"}, {Contender: "kt-ktor"}, {Contender: "kt-http4k"}},
		Limits:      bench.Limits{CPUs: 1.5, CPUSet: 4, Memory: 512 << 20, PIDs: 4096},
		Requests:    []bench.Request{{Name: "get", Weight: 1, Method: "GET", Path: "/city/v1/get?id={id}&language=cs", IDs: bench.IDSpec{Distribution: "uniform"}, ExpectStatus: 200}},
		Timeout:     5 * time.Second,
		Checks:      bench.CheckSpec{Suites: []string{"locations"}},
		PriceVCPUHr: 0.0275,
	}
	for k := 3; k < contenders; k++ {
		profile.Contenders = append(profile.Contenders, bench.Selection{Contender: fmt.Sprintf("java-micronaut-%d", k)})
	}
	for i := range 16 {
		s := bench.Step{Connections: 1, WarmUp: true, Duration: 10 * time.Second}
		if i >= 5 {
			s.Connections, s.WarmUp = 2<<(i-5), false
		}
		s.Name = fmt.Sprintf("%d connections", s.Connections)
		profile.Steps = append(profile.Steps, s)
	}
	profile.Needs = []bench.NeedSpec{{Name: "elasticsearch", Kind: "elasticsearch", From: bench.NeedExternal}}
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: "20260314-092653-locations", State: bench.RunFailed, Profile: profile, Seed: 42,
		Started: start, Ended: start.Add(27 * time.Minute), Command: []string{"locbench", "run", "--profile", "locations", "rs-actix", "kt-ktor", "kt-http4k"},
		Machine:  bench.Machine{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUModel: "EPYC", CPUs: 4, MemoryBytes: 8 << 30, Governor: "performance", CgroupVersion: 2, Load1: "0.12"},
		Software: bench.Software{Locbench: "v0.1.0", Go: "go1.26.0", Docker: "20.10.24", DockerAPI: "1.41"},
		Needs:    []bench.NeedInfo{{Name: "elasticsearch", From: bench.NeedExternal, URL: "http://10.0.0.5:9200", Version: "7.10.2"}},
		Data:     bench.DataInfo{Name: "bundled", Size: "14,945 cities, 83 regions", Hash: "sha256:0f3a"},
		Warnings: bench.Warnings{{Text: "the CPU governor could not be read on 2 of 4 CPUs"}},
		ManualChanges: []bench.ManualChange{
			{At: start.Add(9 * time.Minute), Control: bench.Control{Kind: bench.ControlPause}},
			{At: start.Add(10 * time.Minute), Control: bench.Control{Kind: bench.ControlResume}},
		},
	}
	var trials []bench.TrialResult
	for round := 1; round <= rounds; round++ {
		for k := range profile.Contenders {
			trial := fixtureTrial(profile, k, round, start)
			trials = append(trials, trial)
			run.Trials = append(run.Trials, bench.TrialEntry{Trial: trial.Trial, State: trial.State, File: trial.Trial.String() + ".json"})
		}
	}
	return run, trials
}

// small returns the fixture with six of its steps, for tests that do not depend on their number.
func small() (bench.Run, []bench.TrialResult) { return shortened(fixture()) }

// shortened returns six of the fixture's sixteen steps, at least one of each kind: further rows are
// alike, and tools such as axe-core take longer with more of them.
func shortened(run bench.Run, trials []bench.TrialResult) (bench.Run, []bench.TrialResult) {
	at := map[int]int{}
	var steps []bench.Step
	for n, i := range []int{0, 1, 5, 6, 14, 15} {
		at[i], steps = n, append(steps, run.Profile.Steps[i])
	}
	run.Profile.Steps = steps
	for i := range trials {
		all := trials[i].Steps
		trials[i].Steps = nil
		for _, s := range all {
			if n, ok := at[s.Index]; ok {
				s.Index = n
				trials[i].Steps = append(trials[i].Steps, s)
			}
		}
		for _, in := range trials[i].ManualChanges {
			if in.Step != nil {
				*in.Step = at[*in.Step]
			}
		}
	}
	return run, trials
}

func fixtureTrial(p bench.Profile, k, round int, start time.Time) bench.TrialResult {
	type model struct {
		language, framework     string
		startUp, cpuPerRequest  time.Duration
		maximum, base, jit, mem float64
	}
	m := []model{
		{"Rust", "Actix Web", 2 * time.Millisecond, 135 * time.Microsecond, 11000, 160e-6, 0, 12},
		{"Kotlin", "Ktor", 1850 * time.Millisecond, 300 * time.Microsecond, 5000, 310e-6, 9, 180},
		{"Kotlin", "http4k", 2310 * time.Millisecond, 420 * time.Microsecond, 3300, 290e-6, 11, 210},
	}[k%3]
	more := 1 + 0.17*float64(k/3)
	m.maximum, m.base, m.mem = m.maximum*more, m.base/more, m.mem*more
	wobble := func(i int) float64 { return 1 + 0.03*math.Sin(float64(7*i+11*round+5*k)) }
	startUp := time.Duration(float64(m.startUp) * wobble(1))
	trial := bench.TrialResult{
		Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: p.Contenders[k].Contender, Round: round}, State: bench.TrialComplete,
		Service:  bench.Service{Name: p.Contenders[k].Contender, Language: m.language, Framework: m.framework, Version: "1.0", Tags: []string{"async"}},
		Artifact: bench.Artifact{ImageSize: int64(20+60*k) << 20, BuildTime: 42 * time.Second},
		Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker, Limits: p.Limits, LimitsEnforced: true, CPUSet: cpuset.UpTo(4), ImageID: "sha256:77af"},
		Started:  start, StartUp: &startUp,
		Stop: &bench.StopResult{Took: 300 * time.Millisecond, Graceful: true},
	}
	if k == 0 && round == 2 {
		trial.ManualChanges = []bench.ManualChange{
			{At: start.Add(8 * time.Minute), Step: new(6), Control: bench.Control{Kind: "a | of *another* program"}},
			{At: start.Add(499 * time.Second), Step: new(15), Control: bench.Control{Kind: bench.ControlSkipStep}},
			{At: start.Add(500 * time.Second), Control: bench.Control{Kind: bench.ControlStop}},
		}
	}
	trial.Checks = fixtureChecks(k, round)
	trial.Marks = []bench.Mark{{Name: "after start-up", Usage: bench.Usage{CPU: startUp, Source: "cgroup v2"}}}
	cpu := startUp + time.Duration(m.jit*0.2*float64(time.Second))
	usage := func(i int) *bench.Usage {
		if k == 1 && round == 2 && i >= 7 && i <= 9 {
			return nil // could not be read
		}
		used := int64((m.mem + m.mem*0.08*float64(i)) * (1 << 20))
		return &bench.Usage{CPU: cpu, Source: "cgroup v2",
			Throttling: &bench.Throttling{Periods: int64(100 * i), Throttled: int64(max(0, 90*(i-6))), Time: time.Duration(max(0, i-6)) * time.Second},
			Memory:     &bench.Memory{Used: used, Peak: used + 9<<20, PeakSource: "memory.peak", PeakIsSample: k == 0}}
	}
	for i, step := range p.Steps {
		conns := float64(step.Connections)
		rate := math.Min(conns/m.base, m.maximum) * wobble(i)
		extra := 0.0
		if step.WarmUp && m.jit > 0 {
			extra = m.jit / float64(i+1)
			rate /= 1 + 2/float64(i+1)
		}
		s := bench.StepResult{Index: i, Step: step, Before: usage(i)}
		s.Load = bench.Load{Elapsed: step.Duration, Counts: bench.Counts{Sent: int64(rate * 10)}, Outcomes: bench.Outcomes{Succeeded: int64(rate * 10)}, ClientCPU: 2 * time.Second}
		if step.Connections >= 1024 {
			failed := s.Load.Sent / 60
			s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: failed - failed/4, bench.ErrReset: failed / 4}
			s.Load.Succeeded -= failed
			s.Load.Warnings = bench.Warnings{{Text: "the client was the bottleneck: it used 1.9 of 2 CPUs"}}
		}
		begun := start.Add(time.Duration(k)*time.Hour + time.Duration(i)*10200*time.Millisecond)
		fixtureSeconds(&s, begun, rate, conns, float64(i)+0.7*float64(k)+1.3*float64(round))
		s.Load.Latency = fixtureLatencies(time.Duration(conns/rate*float64(time.Second)), s.Load.Succeeded)
		cpu += min(time.Duration(rate*10)*m.cpuPerRequest, 15*time.Second) + time.Duration(extra*float64(time.Second))
		s.After = usage(i + 1)
		if s.After != nil {
			s.After.At = begun.Add(step.Duration)
			fixtureSamples(&s)
		}
		if k == 2 && round == 3 && i == 14 {
			s.Aborted, s.After = "the contender died", nil
			trial.Steps = append(trial.Steps, s)
			trial.Exit = &bench.Exit{At: start.Add(20 * time.Minute), Code: 137, Signal: "SIGKILL", OOMKilled: true}
			trial.State, trial.Failure = bench.TrialFailed, bench.AbortedDied+": "+trial.Exit.String()
			trial.LastLog = []bench.LogLine{
				{Stream: "stdout", Text: "GET /city/v1/get?id=101748113&language=cs 200 3ms"},
				{Stream: "stderr", Text: "java.lang.OutOfMemoryError: Java heap space"}}
			trial.Stop = &bench.StopResult{ExitedBeforeStop: true}
			break
		}
		trial.Steps = append(trial.Steps, s)
	}
	return trial
}

// fixtureSeconds adds the windows of a step.
func fixtureSeconds(s *bench.StepResult, begun time.Time, rate, conns, seed float64) {
	s.Load.Started = begun
	if s.Before != nil {
		s.Before.At = begun
	}
	for w := range 10 {
		v := 1 + 0.08*math.Sin(seed*9+float64(w)*2.1)
		p50 := time.Duration(conns / rate / v * float64(time.Second))
		window := bench.Window{Start: time.Duration(w) * time.Second, Length: time.Second, Succeeded: int64(rate * v), P50: p50, P90: p50 * 2, P99: p50 * time.Duration(3+w%3), Max: p50 * 9}
		if s.Step.Connections >= 1024 && w > 6 {
			window.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: int64(w * 3)}
		}
		s.Load.Windows = append(s.Load.Windows, window)
	}
}

// fixtureSamples adds readings between the start and end of a step.
func fixtureSamples(s *bench.StepResult) {
	if s.Before == nil || s.After == nil {
		return
	}
	for w := 1; w < 10; w++ {
		part := func(from, to int64) int64 { return from + (to-from)*int64(w)/10 }
		u, a, b := *s.Before, s.Before, s.After
		u.At = a.At.Add(time.Duration(w) * time.Second)
		u.CPU = time.Duration(part(int64(a.CPU), int64(b.CPU)))
		throttling, memory := *a.Throttling, *a.Memory
		throttling.Periods = part(a.Throttling.Periods, b.Throttling.Periods)
		throttling.Throttled = part(a.Throttling.Throttled, b.Throttling.Throttled)
		memory.Used = part(a.Memory.Used, b.Memory.Used)
		u.Throttling, u.Memory = &throttling, &memory
		s.Samples = append(s.Samples, u)
	}
}

// fixtureLatencies returns latencies with a tail, of at most 400 responses, which is enough for
// their shape. Encoding them takes most of the time of a fixture, so equal ones are made once.
func fixtureLatencies(mean time.Duration, n int64) bench.Latencies {
	n = min(n, 400)
	key := latencyKey{mean, n}
	if made, ok := madeLatencies.Load(key); ok {
		return made.(bench.Latencies)
	}
	h := hdr.New()
	for i := range n {
		x := (float64(i) + 0.5) / 400
		h.Record(time.Duration(float64(mean) * (0.6 + 0.4*x + 0.08/(1.02-x))))
	}
	l := h.Latencies()
	madeLatencies.Store(key, l)
	return l
}

type latencyKey struct {
	mean time.Duration
	n    int64
}

var madeLatencies sync.Map // bench.Latencies by latencyKey

func fixtureChecks(k, round int) []bench.CheckResult {
	checks := []bench.CheckResult{
		{Group: "lifecycle", Name: "does not start without its environment", Status: bench.CheckPassed, Value: "exit code 1"},
		{Group: "lifecycle", Name: "logs its port at start-up", Status: bench.CheckPassed},
		{Group: "lifecycle", Name: "image size", Status: bench.CheckInfo, Value: units.Bytes(int64(20+60*k) << 20)},
		{Group: "lifecycle", Name: "processes and threads (4 CPUs, limit 4.0)", Status: bench.CheckSkipped, Value: "2 CPUs", Detail: "this machine has 2 CPUs"},
	}
	if k == 1 {
		checks[1].Status, checks[1].Detail = bench.CheckFailed, "no line of the log has the port 8080"
	}
	for _, group := range []string{"get", "closest", "search"} {
		for i := range 12 {
			c := bench.CheckResult{Suite: "locations", Group: group, Name: fmt.Sprintf("rule %d", i+1), Status: bench.CheckPassed, Value: "200",
				Request: fmt.Sprintf("GET /city/v1/%s?case=%d", group, i)}
			if group == "search" && i == 3 && k == 2 && round == 2 {
				c.Status, c.Value, c.Detail = bench.CheckFailed, "500", "expected status 400, got 500: {\"message\":\"limit\"}"
			}
			checks = append(checks, c)
		}
	}
	return checks
}

func render(t testing.TB, run bench.Run, trials []bench.TrialResult) []byte {
	t.Helper()
	var out bytes.Buffer
	testenv.OK(t, HTML(&out, analysis.Of(run, trials), Options{Folder: "results/20260314-092653-locations"}))
	return out.Bytes()
}

func markdown(t testing.TB, run bench.Run, trials []bench.TrialResult) string {
	t.Helper()
	var out bytes.Buffer
	testenv.OK(t, Markdown(&out, analysis.Of(run, trials), Options{}))
	return out.String()
}
