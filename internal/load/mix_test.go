package load

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
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
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			seen[fmt.Sprintf("%s %s %s host=%s a=%s agent=%s %v", r.Method, r.URL, body, r.Host, r.Header.Get("A"), r.Header.Get("User-Agent"), slices.Sorted(maps.Keys(r.Header)))]++
			mu.Unlock()
			if r.Method == "DELETE" {
				w.WriteHeader(404)
			}
		}))
		defer server.Close()
		p := counted(server.URL, 3, 300)
		p.Requests = []bench.Request{
			{Name: "post", Method: "POST", Path: "/p", Weight: 1, Body: `{"a":1}`, Header: map[string]string{"a": "b", "Host": "example.org"}},
			{Name: "head", Method: "HEAD", Path: "/h", Weight: 1, Header: map[string]string{"User-Agent": "me"}},
			{Name: "missing", Method: "DELETE", Path: "/d", Weight: 1, ExpectStatus: 404},
		}
		holds(t, run(t, e, p), nil, "ok=300")
		host := strings.TrimPrefix(server.URL, "http://")
		testenv.Equal(t, slices.Sorted(maps.Keys(seen)), []string{
			`DELETE /d  host=` + host + ` a= agent=locbench [User-Agent]`,
			`HEAD /h  host=` + host + ` a= agent=me [User-Agent]`,
			`POST /p {"a":1} host=example.org a=b agent=locbench [A Content-Length User-Agent]`,
		})
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
