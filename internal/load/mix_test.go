package load

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRunSendsWhatTheMixSays(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		var mu sync.Mutex
		seen := map[string]int{}
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			body, _ := io.ReadAll(r.Body)
			headers := slices.Sorted(maps.Keys(r.Header))
			mu.Lock()
			seen[fmt.Sprintf("%s %s %s host=%s a=%s agent=%s %v", r.Method, r.URL, body, r.Host, r.Header.Get("A"), r.Header.Get("User-Agent"), headers)]++
			mu.Unlock()
			if r.Method == "DELETE" {
				w.WriteHeader(404)
				return 404
			}
			return hello(w, r)
		})
		p := counted(server.URL, 3, 300)
		p.Requests = []bench.Request{
			{Name: "post", Method: "POST", Path: "/p", Weight: 1, Body: `{"a":1}`, Header: map[string]string{"a": "b", "Host": "example.org"}},
			{Name: "head", Method: "HEAD", Path: "/h", Weight: 1, Header: map[string]string{"User-Agent": "me"}},
			{Name: "missing", Method: "DELETE", Path: "/d", Weight: 1, ExpectStatus: 404},
		}
		l := run(t, e, p)
		testenv.Until(t, 30*time.Second, "the server has counted its responses", func() bool { return server.count(200)+server.count(404) == 300 })
		if l.Succeeded != 300 {
			t.Errorf("%d succeeded, failed: %v", l.Succeeded, l.Examples)
		}
		host := strings.TrimPrefix(server.URL, "http://")
		for _, want := range []string{
			`POST /p {"a":1} host=example.org a=b agent=locbench [A Content-Length User-Agent]`,
			`HEAD /h  host=` + host + ` a= agent=me [User-Agent]`,
			`DELETE /d  host=` + host + ` a= agent=locbench [User-Agent]`,
		} {
			if seen[want] == 0 {
				t.Errorf("no request %s in %v", want, seen)
			}
		}
		if len(seen) != 3 {
			t.Errorf("seen: %v", seen)
		}
	})
}

// All mistakes of a plan at once; nothing is sent.
func TestPlanMistakes(t *testing.T) {
	p := plan("x", 0, 0)
	p.Requests = nil
	const want = "base URL: must be http://HOST:PORT or https://HOST:PORT\n0 connections: must be 1 to 65535\n" +
		"duration 0s: must be positive\nno requests"
	testenv.Fails(t, testenv.Err(Engine{}.Run(t.Context(), p, nil)), want)
}

func TestStepMistakes(t *testing.T) {
	wave := func(amplitude float64, period time.Duration) *bench.Wave {
		return &bench.Wave{Amplitude: amplitude, Period: period}
	}
	const whole = "cannot be interleaved"
	for _, test := range []struct {
		step bench.Step
		want string
	}{
		{bench.Step{Connections: 8, RampFrom: 2}, whole},
		{bench.Step{Rate: 10, RampTo: 20}, whole},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 1, Over: time.Second, Requests: 1}}, whole},
		{bench.Step{Connections: 1, MaxRequests: 5}, whole},
		{bench.Step{Rate: 5, Connections: 5}, "either connections, a rate or arrivals"},
		{bench.Step{Rate: -1}, "rate -1: must be above 0"},
		{bench.Step{Rate: 2e6}, "rate 2e+06: must be"},
		{bench.Step{Rate: 5, RampTo: -1}, "rate -1: must be above 0"},
		{bench.Step{Rate: 5, Wave: wave(5, time.Second)}, "rate 0: must be above 0"},
		{bench.Step{Rate: 5, Wave: wave(1, 0)}, "a wave with a period"},
		{bench.Step{Rate: 5, RampTo: 6, Wave: wave(1, time.Second)}, "constant, a ramp or a wave"},
		{bench.Step{Rate: 5, MaxConnections: -1}, "at most -1 connections"},
		{bench.Step{PeakShare: .5}, "50% of peak"},
		{bench.Step{Arrivals: &bench.Arrivals{}}, "arrivals of 0 users"},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 1, Over: 1, Requests: 1}, MaxRequests: 5}, "arrivals, which set the number of requests"},
	} {
		test.step.Duration = time.Second
		p := plan("http://127.0.0.1:1", 0, 0)
		if p.Step = test.step; test.want == whole {
			p.Interleave = &interleaving{length: time.Second}
		}
		testenv.Fails(t, testenv.Err(Engine{}.Run(t.Context(), p, nil)), test.want)
	}
}
