package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"locbench/internal/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// underway is a run in the middle of a step.
func underway(r *Run) {
	leg := bench.Leg{Contender: `a"b\c` + "\nx", Variant: "v", Round: 2}
	step := bench.Step{Name: "64 connections\x1b[31m", Connections: 64}
	for _, e := range []bench.Event{
		bench.RunStarted{Run: bench.Run{ID: "id", Started: time.Unix(1_700_000_000, 0), Profile: bench.Profile{Name: "quick"}}},
		bench.LegStarted{Number: 3, Of: 4},
		bench.InstanceStarted{Info: bench.InstanceInfo{Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20}}},
		bench.InstanceReady{StartUp: 45 * time.Millisecond},
		bench.CheckDone{Check: bench.CheckResult{Status: bench.CheckPassed}},
		bench.StepStarted{Index: 1, Of: 5, Step: step},
		bench.WindowClosed{Index: 1, Window: bench.Window{Length: time.Second, Succeeded: 1000, Failed: map[bench.ErrorKind]int64{"5xx": 3}, P50: time.Millisecond, P90: 2 * time.Millisecond, P99: 5 * time.Millisecond, Max: 9 * time.Millisecond}},
		bench.UsageRead{Usage: bench.Usage{CPU: 2 * time.Second, Throttling: &bench.Throttling{Time: time.Second}, Memory: &bench.Memory{Used: 1 << 20}}},
		bench.WindowClosed{Index: 1, Window: bench.Window{Length: time.Second, Succeeded: 500, Dropped: 2, P50: time.Millisecond, P90: time.Millisecond, P99: time.Millisecond, Max: time.Millisecond}},
	} {
		rec := bench.Record{Event: e, Leg: &leg}
		if _, ok := e.(bench.RunStarted); ok {
			rec.Leg = nil
		}
		r.Handle(rec)
	}
}

// parsed reads the text by Prometheus' own parser: name, then labels as it sorts them, to value.
func parsed(t *testing.T, r *Run) map[string]float64 {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return parse(t, &b)
}

func parse(t *testing.T, in io.Reader) map[string]float64 {
	t.Helper()
	var p expfmt.TextParser
	families, err := p.TextToMetricFamilies(in)
	if err != nil {
		t.Fatalf("Prometheus cannot read it: %v", err)
	}
	all := map[string]float64{}
	for name, f := range families {
		if f.GetHelp() == "" || !strings.HasPrefix(name, "locbench_") {
			t.Errorf("%s: help %q", name, f.GetHelp())
		}
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += "|" + l.GetName() + "=" + l.GetValue()
			}
			all[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}

// find is the value of the only sample whose key holds all the texts.
func find(all map[string]float64, texts ...string) (v float64, n int) {
	for key, value := range all {
		ok := true
		for _, text := range texts {
			ok = ok && strings.Contains(key, text)
		}
		if ok {
			v, n = value, n+1
		}
	}
	return v, n
}

func TestPrometheusReadsIt(t *testing.T) {
	var r Run
	if len(parsed(t, &r)) != 0 {
		t.Error("something is reported before the run")
	}
	underway(&r)
	all := parsed(t, &r)
	for text, want := range map[string]float64{
		"locbench_run_info|run=id|profile=quick": 1, "locbench_run_running": 1, "locbench_legs": 4, "locbench_leg_number": 3, "locbench_leg_start_up": .045,
		"locbench_cpu_limit": 1.5, "locbench_memory_limit": 512 << 20, "locbench_cpu_seconds_total": 2, "locbench_throttled_seconds_total": 1, "locbench_memory_bytes": 1 << 20,
		"locbench_throughput": 500, "locbench_connections": 64, "quantile=0.99": .001, "outcome=succeeded": 1500, "outcome=5xx": 3, "outcome=dropped": 2, "status=passed": 1,
		`contender=a"b\c x:v|outcome=5xx`: 3,
	} {
		t.Run(text, func(t *testing.T) {
			if v, n := find(all, text); n != 1 || v != want {
				t.Errorf("%s: %v (%d of them), want %v", text, v, n, want)
			}
		})
	}

	// Between two steps there is no throughput, after a leg no contender; what is counted stays.
	leg := bench.Leg{Contender: "a", Round: 1}
	r.Handle(bench.Record{Leg: &leg, Event: bench.StepEnded{Result: bench.StepResult{Thresholds: []bench.Judgement{{}, {Passed: true}}}}})
	all = parsed(t, &r)
	if _, n := find(all, "locbench_throughput"); n != 0 {
		t.Error("a throughput between two steps")
	}
	if v, _ := find(all, "locbench_thresholds_missed_total"); v != 1 {
		t.Errorf("%v thresholds missed", v)
	}
	r.Handle(bench.Record{Leg: &leg, Event: bench.LegEnded{}})
	r.Handle(bench.Record{Event: bench.RunEnded{}})
	all = parsed(t, &r)
	if _, n := find(all, "round="); n != 0 {
		t.Error("a leg that has ended is reported")
	}
	if v, n := find(all, "locbench_run_running"); v != 0 || n != 1 {
		t.Error("the run has ended and runs")
	}
	if v, _ := find(all, "outcome=succeeded"); v != 1500 {
		t.Errorf("%v successes", v)
	}
}

func TestServe(t *testing.T) {
	var r Run
	underway(&r)
	l, err := Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("without a host it listens on %s", l.Addr())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, &r) }()
	url := "http://" + l.Addr().String()
	ask := func(method, path, host string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") != ContentType {
			t.Errorf("content type %q", resp.Header.Get("Content-Type"))
		}
		return resp.StatusCode, string(body)
	}
	code, body := ask(http.MethodGet, "/metrics", "")
	if v, n := find(parse(t, strings.NewReader(body)), "locbench_throughput"); code != http.StatusOK || v != 500 || n != 1 {
		t.Errorf("%d: %s", code, body)
	}
	for _, c := range []struct {
		method, path, host string
		want               int
	}{{"GET", "/", "", 404}, {"GET", "/metrics/", "", 404}, {"POST", "/metrics", "", 405}, {"PUT", "/metrics", "", 405}, {"HEAD", "/metrics", "", 200},
		{"GET", "/metrics", "evil.example", 421}, {"GET", "/metrics", "localhost:1", 200}, {"GET", "/metrics", "[::1]:9464", 200}} {
		t.Run(c.method, func(t *testing.T) {
			if got, _ := ask(c.method, c.path, c.host); got != c.want {
				t.Errorf("%s %s at %q: %d, want %d", c.method, c.path, c.host, got, c.want)
			}
		})
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// gateway answers pushes by a script, and after it with 200.
type gateway struct {
	mu     sync.Mutex
	script []int
	got    []string // bodies
	asked  int
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	if r.Method != http.MethodPut || r.URL.Path != "/metrics/job/locbench" || r.Header.Get("Content-Type") != ContentType {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if len(g.script) > 0 {
		code := g.script[0]
		g.script = g.script[1:]
		if code != http.StatusOK {
			http.Error(w, "no", code)
			return
		}
	}
	g.got = append(g.got, string(body))
}

// pushed pushes once, at the end, which is at once.
func pushed(t *testing.T, url string) (reports []string) {
	t.Helper()
	var r Run
	underway(&r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Push{URL: url, Every: time.Hour, Pause: time.Millisecond, Failed: func(err error) { reports = append(reports, err.Error()) }, Again: func() { reports = append(reports, "again") }}.Run(ctx, &r)
	return reports
}

func TestPush(t *testing.T) {
	for name, c := range map[string]struct {
		script  []int
		reports string
		asked   int
		got     int
	}{
		"at once":             {nil, "", 1, 1},
		"at the third time":   {[]int{500, 429, 200}, "", 3, 1},
		"never":               {[]int{503, 503, 503, 503}, "answer 503: no (3 attempts)", 3, 0},
		"refused for good":    {[]int{401, 401}, "answer 401: no", 1, 0},
		"sent somewhere else": {[]int{302}, "answer 302: no", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := &gateway{script: c.script}
			srv := httptest.NewServer(g)
			endpoint, err := Endpoint(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			reports := pushed(t, endpoint)
			srv.Close()
			if strings.Join(reports, "|") != c.reports || g.asked != c.asked || len(g.got) != c.got {
				t.Errorf("%s: reported %q, asked %d times, got %d", name, reports, g.asked, len(g.got))
			}
			for _, body := range g.got {
				parse(t, strings.NewReader(body))
			}
		})
	}
}

// inMemory answers requests by a handler, without a network.
type inMemory struct{ http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w.Result(), nil
}

// A gateway that has come back is reported once, and so is one that goes away.
func TestPushTellsOfChangesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{script: []int{400, 400, 400}}
		var r Run
		underway(&r)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var reports []string
		report := func(what string) { reports = append(reports, fmt.Sprint(time.Since(began), " ", what)) }
		Push{
			URL: "http://gateway" + defaultPath, Every: 5 * time.Second, transport: inMemory{g},
			Failed: func(err error) { report(err.Error()) },
			Again:  func() { report("again"); cancel() },
		}.Run(ctx, &r)
		if strings.Join(reports, "|") != "5s answer 400: no|20s again" || g.asked != 5 {
			t.Errorf("%q, asked %d times; want four times, and once more at the end", reports, g.asked)
		}
	})
}

// What fails for a while is tried again, after half a second and after another second.
func TestPush_Pauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []time.Duration
		refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked = append(asked, time.Since(began))
			http.Error(w, "no", http.StatusServiceUnavailable)
		})
		var r Run
		underway(&r)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		Push{URL: "http://gateway" + defaultPath, Every: time.Hour, transport: inMemory{refuse}, Failed: func(error) {}}.Run(ctx, &r)
		if !slices.Equal(asked, []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}) {
			t.Errorf("asked at %v", asked)
		}
	})
}

// Nothing of what is reported holds what is secret.
func TestPushKeepsSecrets(t *testing.T) {
	reports := pushed(t, "http://user:secret@127.0.0.1:1/metrics/job/x?token=secret")
	for _, text := range reports {
		if strings.Contains(text, "user:") || strings.Contains(text, "token") {
			t.Errorf("%q", text)
		}
	}
	if len(reports) != 1 {
		t.Errorf("reported %q", reports)
	}
	for _, text := range []string{"ftp://user:secret@host/", "127.0.0.1:9091", "http://", "http://user:secret@host/#x", ":", "http://user:secret@host:port/"} {
		if _, err := Endpoint(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got, err := Endpoint("https://host:1/a/b?c=d"); err != nil || got != "https://host:1/a/b?c=d" {
		t.Errorf("%q, %v", got, err)
	}
}

// The dashboard in docs asks for nothing that is not reported.
func TestDashboardAsksForWhatThereIs(t *testing.T) {
	data, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil || !json.Valid(data) {
		t.Fatalf("no dashboard: %v", err)
	}
	var r Run
	underway(&r)
	leg := bench.Leg{Contender: "a", Round: 1}
	r.Handle(bench.Record{Leg: &leg, Event: bench.StepEnded{Result: bench.StepResult{Thresholds: []bench.Judgement{{}}}}})
	r.Handle(bench.Record{Leg: &leg, Event: bench.StepStarted{}})
	r.Handle(bench.Record{Leg: &leg, Event: bench.WindowClosed{Window: bench.Window{Length: time.Second, Succeeded: 1, Rate: 5}}})
	reports := parsed(t, &r)
	names := regexp.MustCompile(`locbench_[a-z_]+`).FindAllString(string(data), -1)
	if len(names) < 8 {
		t.Errorf("only %q", names)
	}
	for _, name := range names {
		if _, n := find(reports, name); n == 0 {
			t.Errorf("%s is not reported", name)
		}
	}
}

// Of contenders that take turns the one whose turn it is is reported, with what is its own.
func TestTurns(t *testing.T) {
	var r Run
	a, b := bench.Leg{Contender: "a", Round: 1}, bench.Leg{Contender: "b", Round: 1}
	tell := func(leg *bench.Leg, e bench.Event) { r.Handle(bench.Record{Leg: leg, Event: e}) }
	window := func(n int64) bench.WindowClosed {
		return bench.WindowClosed{Window: bench.Window{Length: time.Second, Succeeded: n}}
	}
	tell(nil, bench.RunStarted{Run: bench.Run{ID: "id"}})
	for i, leg := range []*bench.Leg{&a, &b} {
		tell(leg, bench.LegStarted{Number: i + 1, Of: 2})
		tell(leg, bench.InstanceReady{StartUp: time.Duration(i+1) * time.Second})
	}
	for _, leg := range []*bench.Leg{&b, &a} {
		tell(leg, bench.StepStarted{Of: 1, Step: bench.Step{Connections: 2}})
	}
	check := func(contender string, throughput, startUp float64) {
		t.Helper()
		all := parsed(t, &r)
		if v, n := find(all, "locbench_throughput", "contender="+contender); n != 1 || v != throughput {
			t.Errorf("throughput of %s: %v (%d of them)", contender, v, n)
		}
		if v, n := find(all, "start_up_seconds"); n != 1 || v != startUp {
			t.Errorf("start-up of %s: %v (%d of them)", contender, v, n)
		}
	}
	tell(&a, window(10))
	check("a", 10, 1)
	tell(&b, window(20))
	check("b", 20, 2)
	tell(&a, window(30))
	check("a", 30, 1)
	tell(&a, bench.LegEnded{})
	check("b", 20, 2)
	if all := parsed(t, &r); len(all) == 0 {
		t.Error("nothing is reported")
	} else if v, _ := find(all, "locbench_requests_total", "contender=a"); v != 40 {
		t.Errorf("%v successes of a", v)
	}
	tell(&b, bench.LegEnded{})
	if _, n := find(parsed(t, &r), "round="); n != 0 {
		t.Error("a leg that has ended is reported")
	}
}
