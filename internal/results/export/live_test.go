package export

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// underway returns the events of a run until the middle of a step.
func underway() (records []bench.Record) {
	trial := bench.Trial{Contender: `a"b\c` + "\nx", Variant: "v", Round: 2}
	step := bench.Step{Name: "64 connections\x1b[31m\xff", Connections: 64}
	for _, e := range []bench.Event{
		bench.RunStarted{Run: bench.Run{ID: "id", Started: time.Unix(1_700_000_000, 0), Profile: bench.Profile{Name: "quick"}}},
		bench.TrialStarted{Number: 3, Of: 4},
		bench.InstanceStarted{Info: bench.InstanceInfo{Limits: bench.Limits{CPUs: 1.5, Memory: 512 << 20}}},
		bench.InstanceReady{StartUp: 45 * time.Millisecond},
		bench.CheckDone{Check: bench.CheckResult{Status: bench.CheckPassed}},
		bench.StepStarted{Index: 1, Of: 5, Step: step},
		bench.WindowClosed{Index: 1, Window: bench.Window{Length: time.Second, Succeeded: 1000, Failed: map[bench.ErrorKind]int64{"5xx": 3}, P50: time.Millisecond, P90: 2 * time.Millisecond, P99: 5 * time.Millisecond, Max: 9 * time.Millisecond}},
		bench.UsageRead{Usage: bench.Usage{CPU: 2 * time.Second, Throttling: &bench.Throttling{Time: time.Second}, Memory: &bench.Memory{Used: 1 << 20}}},
		bench.WindowClosed{Index: 1, Window: bench.Window{Length: time.Second, Succeeded: 500, Dropped: 2, P50: time.Millisecond, P90: time.Millisecond, P99: time.Millisecond, Max: time.Millisecond}},
	} {
		rec := bench.Record{Event: e, Trial: &trial}
		if _, ok := e.(bench.RunStarted); ok {
			rec.Trial = nil
		}
		records = append(records, rec)
	}
	return records
}

// parsed returns the values that Prometheus' parser reads, by name and sorted labels.
func parsed(t *testing.T, s *state) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	testenv.OK(t, registry.Register(s))
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	testenv.Need(t, err == nil, "Prometheus cannot read it: %v", err)
	all := map[string]float64{}
	for name, f := range families {
		testenv.Check(t, f.GetHelp() != "" && strings.HasPrefix(name, "locbench_"), "%s: help %q", name, f.GetHelp())
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

// find returns the value of the only sample whose key holds all the texts.
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
	var s state
	testenv.Check(t, len(parsed(t, &s)) == 0, "something is reported before the run")
	for _, rec := range underway() {
		s.handle(rec)
	}
	all := parsed(t, &s)
	v, n := find(all, `contender=a"b\c x:v|outcome=5xx`)
	testenv.Check(t, n == 1 && v == 3, "%v (%d of them), want 3 of a contender by its whole name", v, n)

	// Between steps there is no throughput, after a trial no contender; counters stay.
	trial := underway()[1].Trial
	s.handle(bench.Record{Trial: trial, Event: bench.StepEnded{Result: bench.StepResult{Thresholds: []bench.ThresholdResult{{}, {Passed: true}}}}})
	all = parsed(t, &s)
	_, n = find(all, "locbench_throughput")
	testenv.Check(t, n == 0, "a throughput between two steps")
	v, _ = find(all, "locbench_thresholds_missed_total")
	testenv.Check(t, v == 1, "%v thresholds missed", v)
	s.handle(bench.Record{Trial: trial, Event: bench.TrialEnded{}})
	s.handle(bench.Record{Event: bench.RunEnded{}})
	all = parsed(t, &s)
	_, n = find(all, "round=")
	testenv.Check(t, n == 0, "a trial that has ended is reported")
	v, n = find(all, "locbench_run_running")
	testenv.Check(t, v == 0 && n == 1, "the run has ended and is reported as running")
	v, _ = find(all, "outcome=succeeded")
	testenv.Check(t, v == 1500, "%v successes", v)
}

func TestServe(t *testing.T) {
	stream := event.New(time.Now)
	s := testenv.Must(ListenMetrics(t.Context(), ":0"))(t)
	defer s.Close()
	said := make(chan string, 1)
	stream.Subscribe(func(rec bench.Record) {
		if e, ok := rec.Event.(bench.Notice); ok {
			said <- e.Text
		}
	})
	s.Follow(stream)
	for _, rec := range underway() {
		stream.Publish(rec.Trial, rec.Event)
	}
	url, ok := strings.CutPrefix(<-said, "metrics  ")
	stream.Close() // all has been handled
	testenv.Need(t, ok && strings.HasPrefix(url, "http://127.0.0.1:"), "without a host it listens on %q", url)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(method, path, host string) (int, http.Header, string) {
		req := testenv.Must(http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(url, "/metrics")+path, nil))(t)
		req.Host = host
		resp := testenv.Must(client.Do(req))(t)
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header, string(body)
	}
	code, header, body := ask(http.MethodGet, "/metrics", "")
	if kind := header.Get("Content-Type"); code != http.StatusOK || !strings.HasPrefix(kind, "text/plain; version=0.0.4; charset=utf-8") {
		t.Errorf("%d, content type %q", code, kind)
	}
	testenv.Golden(t, "testdata/scrape.txt", body)
	for _, c := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "/", "", 404}, {"GET", "/metrics/", "", 404}, {"POST", "/metrics", "", 405}, {"PUT", "/metrics", "", 405}, {"HEAD", "/metrics", "", 200},
		{"GET", "/metrics", "evil.example", 421}, {"GET", "/metrics", "localhost:1", 200}, {"GET", "/metrics", "[::1]:9464", 200},
	} {
		t.Run(c.method+" "+c.path+" "+c.host, func(t *testing.T) {
			got, _, _ := ask(c.method, c.path, c.host)
			testenv.Check(t, got == c.want, "%s %s at %q: %d, want %d", c.method, c.path, c.host, got, c.want)
		})
	}
	s.Close()
	testenv.Check(t, testenv.Err(net.Dial("tcp", s.listener.Addr().String())) != nil, "it listens after its end")
}

func TestListen_BadAddress(t *testing.T) {
	testenv.Fails(t, testenv.Err(ListenMetrics(t.Context(), "1:2:3")), "use HOST:PORT")
}

// A server whose run never began releases its address.
func TestClose_WithoutARun(t *testing.T) {
	s := testenv.Must(ListenMetrics(t.Context(), "0"))(t)
	s.Close()
	testenv.Check(t, testenv.Err(net.Dial("tcp", s.listener.Addr().String())) != nil, "it listens after its end")
}

// The dashboard in docs uses only metrics that are reported.
func TestDashboardAsksForWhatThereIs(t *testing.T) {
	data, err := os.ReadFile("../../../docs/grafana-dashboard.json")
	testenv.Need(t, err == nil && json.Valid(data), "no dashboard: %v", err)
	var s state
	for _, rec := range underway() {
		s.handle(rec)
	}
	trial := bench.Trial{Contender: "a", Round: 1}
	s.handle(bench.Record{Trial: &trial, Event: bench.StepEnded{Result: bench.StepResult{Thresholds: []bench.ThresholdResult{{}}}}})
	s.handle(bench.Record{Trial: &trial, Event: bench.StepStarted{}})
	s.handle(bench.Record{Trial: &trial, Event: bench.WindowClosed{Window: bench.Window{Length: time.Second, Succeeded: 1, Rate: 5}}})
	reports := parsed(t, &s)
	names := regexp.MustCompile(`locbench_[a-z_]+`).FindAllString(string(data), -1)
	testenv.Check(t, len(names) >= 8, "only %q", names)
	for _, name := range names {
		_, n := find(reports, name)
		testenv.Check(t, n != 0, "%s is not reported", name)
	}
}

// With interleaving each running contender is reported, with its own values.
func TestInterleaving(t *testing.T) {
	var s state
	a, b := bench.Trial{Contender: "a", Round: 1}, bench.Trial{Contender: "b", Round: 1}
	tell := func(trial *bench.Trial, e bench.Event) { s.handle(bench.Record{Trial: trial, Event: e}) }
	window := func(n int64) bench.WindowClosed {
		return bench.WindowClosed{Window: bench.Window{Length: time.Second, Succeeded: n}}
	}
	tell(nil, bench.RunStarted{Run: bench.Run{ID: "id"}})
	for i, trial := range []*bench.Trial{&a, &b} {
		tell(trial, bench.TrialStarted{Number: i + 1, Of: 2})
		tell(trial, bench.InstanceReady{StartUp: time.Duration(i+1) * time.Second})
	}
	for _, trial := range []*bench.Trial{&b, &a} {
		tell(trial, bench.StepStarted{Of: 1, Step: bench.Step{Connections: 2}})
	}
	check := func(contender string, throughput, startUp float64) {
		t.Helper()
		all := parsed(t, &s)
		v, n := find(all, "locbench_throughput", "contender="+contender)
		testenv.Check(t, n == 1 && v == throughput, "throughput of %s: %v (%d of them)", contender, v, n)
		v, n = find(all, "start_up_seconds", "contender="+contender)
		testenv.Check(t, n == 1 && v == startUp, "start-up of %s: %v (%d of them)", contender, v, n)
	}
	tell(&a, window(10))
	tell(&b, window(20))
	check("a", 10, 1)
	check("b", 20, 2)
	tell(&a, window(30))
	check("a", 30, 1)
	tell(&a, bench.TrialEnded{})
	check("b", 20, 2)
	if all := parsed(t, &s); len(all) == 0 {
		t.Error("nothing is reported")
	} else if v, _ := find(all, "locbench_requests_total", "contender=a", "outcome=succeeded"); v != 40 {
		t.Errorf("%v successes of a", v)
	}
	tell(&b, bench.TrialEnded{})
	_, n := find(parsed(t, &s), "round=")
	testenv.Check(t, n == 0, "a trial that has ended is reported")
}
