package load

import (
	"errors"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/workload"
)

func TestCheckLimits(t *testing.T) {
	if err := CheckLimits(1); err != nil {
		t.Error(err)
	}
	err := &LimitError{Connections: 2048, What: "open files", Need: 2120, Have: 1024, Remedy: "ulimit -n 2120"}
	if got, want := err.Error(), "2048 connections need 2120 open files, but only 1024 are allowed: ulimit -n 2120"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]int64{"32768\t60999\n": 28232, "1 1": 1, "": 0, "9 8": 0, "a b": 0, "1 2 3": 0} {
		if got, ok := parsePorts(text); got != want || ok != (want > 0) {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
}

func TestRunRefusesWhatTheMachineCannotOpen(t *testing.T) {
	ports, ok := localPorts()
	if !ok || ports >= workload.MaxConnections {
		t.Skip("this system does not limit local ports, or does not tell")
	}
	_, err := Engine{}.Run(t.Context(), plan("http://127.0.0.1:1", workload.MaxConnections, time.Second), nil)
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Connections != workload.MaxConnections {
		t.Errorf("error %v", err)
	}
}

func TestLittlesLaw(t *testing.T) {
	// A contender that takes 20 ms leaves the client's own time far below 5 %.
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(20 * time.Millisecond)
		return hello(w, r)
	})
	p := plan(server.URL, 16, 500*time.Millisecond)
	l := run(t, Engine{}, p)
	inFlight := l.Throughput() * l.Latency.Mean.Seconds()
	if inFlight < 12.8 || inFlight > 16.2 {
		t.Errorf("throughput × mean latency = %.2f with 16 connections: %s, %d, %s", inFlight, l.Elapsed, l.Succeeded, l.Latency.Mean)
	}
}

// One second of a step with 10 connections whose records agree; an error planted in any of them is
// found.
func TestLittlesLawIsFlagged(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(*record.Result)
		want  string
	}{
		"none":                        {func(*record.Result) {}, ""},
		"time of the exchanges, more": {func(r *record.Result) { r.Busy = r.Busy * 112 / 100 }, "not in a steady state: throughput × mean latency is 11.20, but 10.00"},
		"time of the exchanges, less": {func(r *record.Result) { r.Busy = r.Busy * 88 / 100 }, "not in a steady state: throughput × mean latency is 8.80, but 10.00"},
		"count of those in flight":    {func(r *record.Result) { r.Counted = r.Counted * 92 / 100 }, "10.00 requests were in flight by their times, but only 9.20"},
		"too many counted":            {func(r *record.Result) { r.Counted = r.Counted * 108 / 100 }, "client-bound: 10.0 of 10.8 requests in flight"},
		"the client was slow":         {func(r *record.Result) { r.Busy, r.Shared = r.Busy*8/10, r.Shared*8/10 }, "client-bound: 8.0 of 10.0 requests in flight, 10ms of the client between"},
		"connections were opened again": {func(r *record.Result) {
			r.Busy, r.Shared, r.Counted, r.Rested = r.Busy/2, r.Shared/2, r.Counted/2, 5*time.Second
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &record.New(bench.Step{Connections: 10}, nil).Result
			rec.Busy, rec.Shared, rec.Counted = 10*time.Second, 10*time.Second, 10*time.Second
			test.plant(rec)
			got := little(bench.Load{Elapsed: time.Second, Succeeded: 200}, rec)
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestOneIsNoPlural(t *testing.T) {
	for n, want := range map[int64]string{
		1: "interrupted: 1 request in flight was cut off and is neither success nor error|a connection was opened again; the time for it is part of the latency|1 request failed for want of ports, files or memory of the client: x",
		2: "interrupted: 2 requests in flight were cut off and are neither successes nor errors|connections were opened again 2 times; the time for it is part of the latency|2 requests failed for want of ports, files or memory of the client: x",
	} {
		rec := &record.New(bench.Step{Connections: 1}, nil).Result
		rec.Cut, rec.Opened = n, n+1
		l := bench.Load{Elapsed: time.Second, Succeeded: 1, Failed: map[bench.ErrorKind]int64{bench.ErrClient: n}, Examples: map[bench.ErrorKind]string{bench.ErrClient: "x"}}
		if got := strings.Join(judge(l, rec, 1), "|"); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestJudgeSuspectsTheClient(t *testing.T) {
	rec := &record.New(bench.Step{Connections: 1}, nil).Result
	l := bench.Load{Elapsed: time.Second, ClientCPU: time.Duration(0.9 * ownCPUs() * float64(time.Second)), ClientCPUs: ownCPUs()}
	if got := judge(l, rec, 1); len(got) != 1 || !strings.Contains(got[0], "the client may be the bottleneck") {
		t.Errorf("%q", got)
	}
	l.Wall = 2 * time.Second // the share is of the time in which it was measured
	if got := judge(l, rec, 1); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestBottleneck(t *testing.T) {
	for _, test := range []struct {
		name              string
		client, contender time.Duration
		limit             float64
		want              bool
	}{
		{"contender at its limit", 1400 * time.Millisecond, 500 * time.Millisecond, .5, false},
		{"client took the machine", 1300 * time.Millisecond, 600 * time.Millisecond, 1.5, true},
		{"both together had the machine", 900 * time.Millisecond, 1000 * time.Millisecond, 1.5, true},
		{"nobody was busy", 200 * time.Millisecond, 200 * time.Millisecond, 1.5, false},
		{"no limit, contender took it all", 100 * time.Millisecond, 1850 * time.Millisecond, 0, false},
		{"limit beyond the machine", 100 * time.Millisecond, 1850 * time.Millisecond, 8, false},
	} {
		for _, l := range []bench.Load{
			{Elapsed: time.Second, ClientCPU: test.client},
			{Elapsed: time.Minute, Wall: time.Second, ClientCPU: test.client},
			{Elapsed: time.Millisecond, Wall: time.Second, ClientCPU: test.client},
		} {
			if got := Bottleneck(l, test.contender.Seconds(), test.limit, 2); (got != "") != test.want {
				t.Errorf("%s: %q", test.name, got)
			}
		}
	}
	if got := Bottleneck(bench.Load{}, 0, 1, 2); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestPunctuality(t *testing.T) {
	for _, test := range []struct {
		name string
		load bench.Load
		want []string
	}{
		{"on time", bench.Load{Scheduled: 1000, Sent: 1000, Late: 9}, nil},
		{"late by itself", bench.Load{Scheduled: 1000, Sent: 1000, Late: 30, Held: 10, MostOpen: 4}, []string{"10 requests were sent late", "client-bound: 20 of 1000"}},
		{"dropped", bench.Load{Scheduled: 1000, Sent: 900, Dropped: 100, Late: 300, Held: 400, MostOpen: 4}, []string{"100 of 1000 requests", "300 requests were sent late"}},
	} {
		got := punctuality(test.load)
		if len(got) != len(test.want) {
			t.Errorf("%s: %q", test.name, got)
			continue
		}
		for i, w := range test.want {
			if !strings.HasPrefix(got[i], w) {
				t.Errorf("%s: %q, want %q", test.name, got[i], w)
			}
		}
	}
}

func TestSaturation(t *testing.T) {
	rec := record.New(bench.Step{Arrivals: &bench.Arrivals{Users: 1}, Duration: 10 * time.Second}, nil)
	rec.Begin(0)
	rec.Idled(9 * time.Second)
	rec.Idled(100 * time.Millisecond) // the busiest one counts
	rec.Idled(11 * time.Second)
	l := rec.Load()
	if l.Saturation != .99 {
		t.Errorf("saturation %g", l.Saturation)
	}
	if got := judge(l, &rec.Result, 0); len(got) != 1 || !strings.Contains(got[0], "had something to do in 99 % of the step") {
		t.Errorf("%q", got)
	}
}

// A contender that takes 20 ms leaves the client idle, and as many in flight as there are
// connections.
func TestInFlightAndSaturationOfAStep(t *testing.T) {
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(20 * time.Millisecond)
		return hello(w, r)
	})
	l := run(t, Engine{}, plan(server.URL, 8, 400*time.Millisecond))
	if l.InFlight < 6 || l.InFlight > 8.1 {
		t.Errorf("%g in flight of 8", l.InFlight)
	}
	if l.Saturation > .8 || runtime.GOOS == "linux" && os.Getenv(portableEnv) == "" && l.Saturation <= 0 {
		t.Errorf("saturation %g", l.Saturation)
	}
}
