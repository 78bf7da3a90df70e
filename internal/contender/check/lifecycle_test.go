package check

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/contact"
)

// options returns the options of a contender whose store responds.
func options(t *testing.T) LifecycleOptions {
	t.Helper()
	elastic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) }))
	t.Cleanup(elastic.Close)
	port := freePort(t)
	env := func(store string) map[string]string {
		return map[string]string{"PORT": fmt.Sprint(port), "ELASTICSEARCH_URL": store}
	}
	return LifecycleOptions{
		Spec: bench.LaunchSpec{RunID: "r", Name: "c-1", Port: port, Env: env(elastic.URL),
			Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20}},
		Unreachable: env(UnreachableNeed), CPUs: 4, Names: bench.LifecycleChecks(), Ready: ready.Question{Timeout: 30 * time.Second},
	}
}

func TestLifecycle(t *testing.T) {
	for _, tt := range []struct {
		contender, check, want string // status, then parts of value and detail
	}{
		{"good", bench.CheckNoEnvironment, "passed|exit code 1 after|"},
		{"good", bench.CheckNoNeeds, "passed|exit code 1 after|"},
		{"starts without a store", bench.CheckNoEnvironment, "failed||still running after 15s, expected it to exit. Last log line: up"},
		{"starts without a store", bench.CheckNoNeeds, "failed||still running"},
		{"exits with 0", bench.CheckNoEnvironment, "failed|exit code 0|expected an exit code other than 0, got 0. Last log line: no store"},
		{"exits late", bench.CheckNoNeeds, "passed|exit code 1 after 1.23s|"},
		{"says nothing", bench.CheckNoNeeds, "failed|exit code 1|expected a log line with the reason"},
		{"is killed", bench.CheckNoEnvironment, "failed|killed by SIGKILL|expected an exit"},
		{"", bench.CheckNoEnvironment, "failed||launch failed: no such image"},
	} {
		t.Run(tt.contender+", "+tt.check, func(t *testing.T) {
			if tt.contender == "good" { // which listens
				mustExit(t, tt.contender, tt.check, tt.want)
				return
			}
			synctest.Test(t, func(t *testing.T) { mustExit(t, tt.contender, tt.check, tt.want) })
		})
	}
}

func mustExit(t *testing.T, contender, check, want string) {
	t.Helper()
	l := newLauncher(t, contender, false)
	results, err := Lifecycle(t.Context(), l, LifecycleOptions{
		Spec: bench.LaunchSpec{Name: "c-1"}, Names: []string{check},
		Unreachable: map[string]string{"PORT": "0", "ELASTICSEARCH_URL": UnreachableNeed},
	})
	testenv.Need(t, err == nil && len(results) == 1, "%v, %+v", err, results)
	like(t, results[0], want)
	r := results[0]
	testenv.Check(t, r.Group == GroupLifecycle && r.Name == check, "%+v", r)
}

// like compares a result with "status|part of value|part of detail"; no part: no detail.
func like(t *testing.T, r bench.CheckResult, want string) {
	t.Helper()
	p := strings.Split(want, "|")
	if string(r.Status) != p[0] || !strings.Contains(r.Value, p[1]) || !strings.Contains(r.Detail, p[2]) ||
		(r.Detail == "") != (p[2] == "") {
		t.Errorf("%s: %s|%s|%s, want %s", r.Name, r.Status, r.Value, r.Detail, want)
	}
}

// TestLifecycle_Specs: a check's launch differs from the trial's only in what the check is about,
// and the trial's spec is unchanged.
func TestLifecycle_Specs(t *testing.T) {
	l, opt := newLauncher(t, "good", true), options(t)
	opt.exitWithin = 10 * time.Second
	var reports []bench.CheckResult
	opt.OnResult = func(r bench.CheckResult) { reports = append(reports, r) }
	var starts []int
	opt.OnStart = func(n, of int) { starts = append(starts, n, of) }
	results, err := Lifecycle(t.Context(), l, opt)
	testenv.OK(t, err)
	if got, want := outcome(results), "no-environment passed, no-store passed, "+
		"threads (4 CPUs, limit 4.0) info, threads (4 CPUs, limit 1.5) info, threads (1 CPU, limit 1.0) info"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	testenv.Equal(t, starts, []int{1, 5, 2, 5, 3, 5, 4, 5, 5, 5})
	testenv.Equal(t, reports, results)
	like(t, results[2], "info|1 process, 7 threads|")
	type short struct {
		name  string
		set   int
		cpus  float64
		store string
	}
	real := opt.Spec.Env["ELASTICSEARCH_URL"]
	want := []short{
		{"c-1-no-environment", 0, 1.5, ""},
		{"c-1-no-store", 0, 1.5, UnreachableNeed},
		{"c-1-threads-4-4.0", 4, 4, real},
		{"c-1-threads-4-1.5", 4, 1.5, real},
		{"c-1-threads-1-1.0", 1, 1, real},
	}
	var got []short
	for _, s := range l.specs {
		got = append(got, short{s.Name, s.Limits.CPUSet, s.Limits.CPUs, s.Env["ELASTICSEARCH_URL"]})
		testenv.Check(t, s.Limits.Memory == 512<<20 && s.RunID == "r" && s.Port == opt.Spec.Port, "%+v", s)
	}
	testenv.Equal(t, got, want)
	testenv.Equal(t, len(l.specs[0].Env), 0, l.specs[0].Env)
	testenv.Check(t, opt.Spec.Name == "c-1" && opt.Spec.Limits.CPUSet == 0, "the trial's spec has become %+v", opt.Spec)
	opt.CPUs, opt.Names = 3, []string{bench.CheckThreads}
	results, err = Lifecycle(t.Context(), l, opt)
	testenv.Need(t, err == nil, "%v", err)
	like(t, results[0], "info|1 process, 7 threads|the machine has 3 of 4 CPUs")
}

func TestLifecycle_Skips(t *testing.T) {
	l, opt := newLauncher(t, "good", false), options(t)
	opt.CPUs, opt.Unreachable = 2, nil
	opt.Names = []string{bench.CheckNoNeeds, bench.CheckThreads, bench.CheckStops, "unknown check"}
	results, err := Lifecycle(t.Context(), l, opt)
	testenv.Need(t, err == nil && len(results) == 4, "%v, %+v", err, results)
	like(t, results[0], "skipped||contender does not use")
	for _, r := range results[1:] {
		like(t, r, "skipped||limits not enforced: a test")
	}
	testenv.Equal(t, len(l.specs), 3)
}

func TestLifecycle_NotStarted(t *testing.T) {
	l, opt := newLauncher(t, "says nothing", true), options(t)
	opt.CPUs, opt.Names = 1, []string{bench.CheckThreads}
	results := testenv.Must(Lifecycle(t.Context(), l, opt))(t)
	like(t, results[0], "failed||did not start: exited: exit code 1 after")
	l.contender, opt.Ready.Timeout, opt.exitWithin = "starts without a store", 60*time.Millisecond, time.Millisecond
	results = testenv.Must(Lifecycle(t.Context(), l, opt))(t)
	like(t, results[0], "failed||did not start: not ready after 60ms: GET /: connection refused")
}

// An interrupted check leaves no process and reports no result.
func TestLifecycle_ContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLauncher(t, "starts without a store", false)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		results, err := Lifecycle(ctx, l, LifecycleOptions{Spec: bench.LaunchSpec{Name: "c-1"}, Names: bench.LifecycleChecks()})
		testenv.Check(t, errors.Is(err, context.DeadlineExceeded) && len(results) == 0, "%v, %+v", err, results)
		if took := time.Since(began); took != 4*time.Second+ExitWithin { // until it is killed
			t.Errorf("it took %v", took)
		}
		testenv.Equal(t, len(l.specs), 1)
	})
}

func TestRunning(t *testing.T) {
	opt := options(t)
	inst := started(t, "good", opt.Spec)
	opt.Spec.Artifact = bench.Artifact{BinarySize: 12_345_678}
	results, err := Running(t.Context(), inst, RunningOptions{Spec: opt.Spec, Names: bench.LifecycleChecks()})
	testenv.Need(t, err == nil && len(results) == 3, "%v, %+v", err, results)
	for i, want := range []string{fmt.Sprintf("passed|%d|", opt.Spec.Port), "passed|logged|", "info|11.8 MiB (binary)|"} {
		like(t, results[i], want)
	}
	for _, path := range []string{"/v1/benchmark", "/city/v1/get?id=1&language=cs"} {
		like(t, StillResponds(t.Context(), inst, contact.Way{}, path), "passed|200|")
	}
	stop := testenv.Must(inst.Stop(t.Context(), 10*time.Second))(t)
	like(t, Stopped(stop), "passed|exit code 0 after|")
	like(t, StillResponds(t.Context(), inst, contact.Way{}, "/"), "failed||exited: exit code 0")
}

func TestRunning_Fails(t *testing.T) {
	opt := options(t)
	inst := started(t, "logs nothing", opt.Spec)
	info := &inst.(*fakeInstance).info
	running := RunningOptions{Spec: opt.Spec, Names: []string{bench.CheckLogsPort, bench.CheckLogsRequests}, patience: 50 * time.Millisecond}
	all := func(want ...string) {
		t.Helper()
		results, err := Running(t.Context(), inst, running)
		testenv.Need(t, err == nil && len(results) == len(want), "%v, %+v", err, results)
		for i := range want {
			like(t, results[i], want[i])
		}
	}
	const port = "failed||expected a log line that names port"
	all(port, "failed||expected a log line for each of 3 requests, got none with /canary-")
	running.Spec.Env = map[string]string{"ACCESS_LOG": "off"}
	all(port, "skipped||request log is off (ACCESS_LOG=off)")
	running.Names, info.Runtime = bench.LifecycleChecks(), bench.RuntimeURL
	all("skipped||no log access for a target", "skipped||no log access for a target", "skipped||runtime url has no image")
	running.Names, info.ImageSize = []string{bench.CheckImageSize}, 5_000_000
	all("info|4.77 MiB|")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, err := Running(ctx, inst, running)
	testenv.Check(t, errors.Is(err, context.Canceled) && len(results) == 0, "%v, %+v", err, results)
}

func TestStillResponds_Errors(t *testing.T) {
	var status atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	inst := &fakeInstance{info: bench.InstanceInfo{Address: strings.TrimPrefix(server.URL, "http://")}}
	for code, want := range map[int64]string{499: "passed|499|", 500: "failed|500|expected a response below 500, got 500"} {
		status.Store(code)
		like(t, StillResponds(t.Context(), inst, contact.Way{}, "/x"), want)
		testenv.OK(t, Responds(t.Context(), inst, contact.Way{}, "/x"))
	}
	server.Close()
	like(t, StillResponds(t.Context(), inst, contact.Way{}, "/x"), "failed||no response: dial tcp")
	err := Responds(t.Context(), inst, contact.Way{}, "/x")
	testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), "GET /x: dial tcp"), "%v", err)
}

func TestStopped(t *testing.T) {
	for want, stop := range map[string]bench.StopResult{
		"passed|exit code 0 after 1.5s|":            {Took: 1500 * time.Millisecond, Graceful: true},
		"passed|exit code 0 after 15s|":             {Took: ExitWithin, Graceful: true},
		"failed|exit code 143|expected exit code 0": {Took: time.Second, Exit: bench.Exit{Code: 143}},
		"failed|killed by SIGKILL|did not exit within 15s of SIGTERM; killed. Handle SIGTERM: a program that runs as PID 1 of a container " +
			"ignores it without a handler; or start it with tini, and from a shell with exec": {Took: 15 * time.Second, Killed: true, Exit: bench.Exit{Code: 137, Signal: "SIGKILL"}},
		"failed|killed by SIGKILL|did not exit within 15s of SIGTERM, which it handles; killed": {
			Took: 15 * time.Second, Killed: true, Handled: true, Exit: bench.Exit{Code: 137, Signal: "SIGKILL"}},
		"failed|out of memory|exited before stop":         {ExitedBeforeStop: true, Exit: bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}},
		"failed|exit code 0 after 16s|an exit within 15s": {Took: 16 * time.Second, Graceful: true},
	} {
		t.Run(want, func(t *testing.T) {
			r := Stopped(stop)
			like(t, r, want)
			testenv.Check(t, r.Name == bench.CheckStops && r.Group == GroupLifecycle, "%+v", r)
		})
	}
}

func started(t *testing.T, contender string, spec bench.LaunchSpec) bench.Instance {
	t.Helper()
	l := newLauncher(t, contender, false)
	inst, err := l.Launch(t.Context(), spec)
	testenv.OK(t, err)
	t.Cleanup(func() { inst.Stop(context.Background(), time.Second) })
	_, err = ready.Wait(t.Context(), inst, ready.Question{Lenient: true, Timeout: 30 * time.Second}, nil)
	testenv.Need(t, err == nil, "%v", err)
	return inst
}

// A smaller machine uses its CPUs, and the names of the checks say so.
func TestThreadCases(t *testing.T) {
	names := func(cpus int) (all []string) {
		for _, c := range threadCasesOn(cpus) {
			all = append(all, c.name())
		}
		return all
	}
	for cpus, want := range map[int][]string{
		8: {"threads (4 CPUs, limit 4.0)", "threads (4 CPUs, limit 1.5)", "threads (1 CPU, limit 1.0)"},
		3: {"threads (3 CPUs, limit 3.0)", "threads (3 CPUs, limit 1.5)", "threads (1 CPU, limit 1.0)"},
		2: {"threads (2 CPUs, limit 2.0)", "threads (2 CPUs, limit 1.5)", "threads (1 CPU, limit 1.0)"},
		1: {"threads (1 CPU, limit 1.0)"},
		0: {"threads (4 CPUs, limit 4.0)", "threads (4 CPUs, limit 1.5)", "threads (1 CPU, limit 1.0)"}, // unknown
	} {
		testenv.Equal(t, names(cpus), want, cpus)
	}
}

// TestLifecycle_IgnoredSIGTERM: a contender that ignored SIGTERM once is killed at once in the
// later starts, of this call and of those for later rounds.
func TestLifecycle_IgnoredSIGTERM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := newLauncher(t, "starts without a store", false), time.Now()
		opt := LifecycleOptions{
			Spec: bench.LaunchSpec{Name: "c-1"}, Names: []string{bench.CheckNoEnvironment, bench.CheckNoNeeds},
			Unreachable: map[string]string{"PORT": "0"}, Deaf: new(atomic.Bool),
		}
		for round, want := range []time.Duration{3 * ExitWithin, 2 * ExitWithin} { // each start may exit by itself
			if _, err := Lifecycle(t.Context(), l, opt); err != nil || time.Since(began) != want {
				t.Errorf("round %d took %v, want %v: %v", round+1, time.Since(began), want, err)
			}
			began = time.Now()
		}
	})
}
