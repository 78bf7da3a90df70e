package app

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
)

// TestTrySaysWhatWasNotLookedAt: neither as expected nor failed, and no binary is shown.
func TestTrySaysWhatWasNotLookedAt(t *testing.T) {
	var out strings.Builder
	a := &attempt{out: &out, trial: "a", traffic: &traffic{record: &record{stream: event.New(time.Now)}}}
	sent := []byte("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x00")
	response := load.Response{Status: 200, Head: []byte("Content-Encoding: br\r\n"), Body: []byte("\x01\x02")}
	a.exchange("one", load.Asked{Sent: sent, Response: response, Unread: "br body could not be unpacked: it is broken"})
	a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1}, Event: bench.TrialEnded{State: bench.TrialComplete}})
	for _, want := range []string{
		"(3 bytes)\n", "(2 bytes, br)\n", "\n  not looked at: br body could not be unpacked: it is broken\n",
		"a: 1 response not looked at; the others as expected\n",
	} {
		testenv.Check(t, strings.Contains(out.String(), want), "%q is not in %q", want, out.String())
	}
	if strings.Contains(out.String(), "\n  as expected") {
		t.Errorf("%q", out.String())
	}
}

// TestTryShowsTheLogOfAFailure: the lines that are kept, once, and none of a success.
func TestTryShowsTheLogOfAFailure(t *testing.T) {
	log := []bench.LogLine{{Text: "Error: cannot read config.json\x1b[31m"}, {Text: "… 3 lines …", LeftOut: 3}, {Text: "Node.js v18"}}
	for state, want := range map[bench.TrialState]string{
		bench.TrialFailed:   "failed: exited\n  its log:\n    | Error: cannot read config.json␛[31m\n    | … 3 lines …\n    | Node.js v18\n",
		bench.TrialAborted:  "aborted: exited\n",
		bench.TrialComplete: "all as expected\n",
	} {
		var out strings.Builder
		a := &attempt{out: &out}
		a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1},
			Event: bench.TrialEnded{State: state, Failure: "exited", LastLog: log}})
		testenv.Check(t, strings.HasSuffix(out.String(), ": "+want), "%s: %q, want %q", state, out.String(), want)
	}
}

// TestTrySaysWhyABuildFailed: with the last lines of its output.
func TestTrySaysWhyABuildFailed(t *testing.T) {
	var out strings.Builder
	a := &attempt{out: &out}
	a.event(bench.Record{Event: bench.PhaseEnded{Phase: bench.PhaseBuild, Err: "build contender a: exit code 7; last lines:\n  RUN x\n  left-pad\x1b[2J not found"}})
	testenv.Equal(t, out.String(), "build failed: build contender a: exit code 7; last lines:\n    | RUN x\n    | left-pad␛[2J not found\n")
}

// try shows a packed body unpacked, and of what is not text its size, type and encoding.
func TestShownBody(t *testing.T) {
	gz := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.Bytes()
	}
	const kind, packed = "Content-Type: application/json\r\n", "Content-Encoding: gzip\r\n"
	whole := gz(`{"id":7}`)
	for name, tt := range map[string]struct {
		head string
		body []byte
		want string
	}{
		"a text":      {kind, []byte(`{"id":7}`), `{"id":7}`},
		"nothing":     {packed, nil, ""},
		"packed":      {kind + packed, whole, `{"id":7}`},
		"broken":      {kind + packed, whole[:20], "(20 bytes of application/json, gzip)"},
		"unknown":     {kind + "Content-Encoding: x\r\n", whole[:20], "(20 bytes of application/json, x)"},
		"an image":    {"Content-Type: image/png\r\n", []byte("\x89PNG\x00"), "(5 bytes of image/png)"},
		"packed, too": {"Content-Type: image/png\r\n" + packed, gz("\x89PNG\x00"), "(5 bytes of image/png)"},
		"too long":    {packed, gz(strings.Repeat("a", load.MaxChecked+1)), strings.Repeat("a", load.MaxChecked)},
		"no text":     {packed, gz(""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, shownBody(load.Response{Head: []byte(tt.head), Body: tt.body}), tt.want)
		})
	}
}

// A response of the setup that cannot be looked at is neither right nor wrong, and a warning.
func TestSetupThatIsNotLookedAt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "zip")
		w.Write([]byte("text"))
	}))
	defer server.Close()
	for expect, want := range map[string]string{
		"contains": `setup: the body of the response to "login" was not looked at, and is neither right nor wrong: ` +
			`encoding "zip" is not gzip, deflate, br or zstd`,
		"": "",
	} {
		login := bench.Request{Name: "login", Path: "/"}
		if expect != "" {
			login.Expect = map[string]any{expect: "x"}
		}
		var got bench.Warnings
		p := bench.Profile{Setup: []bench.Request{login}, Requests: []bench.Request{{Name: "get", Path: "/"}}}
		l, err := newTraffic(&record{plan: Plan{Run: bench.Run{Profile: p}}, env: noEnv, stream: event.New(time.Now)}, nil)
		testenv.OK(t, err)
		l.stream.Subscribe(func(r bench.Record) {
			n, _ := r.Event.(bench.Notice)
			got.Add(bench.Warning{Text: n.Text})
		})
		err = l.SetUp(t.Context(), runner.Place{BaseURL: server.URL})
		l.stream.Close()
		testenv.Check(t, err == nil && got.Join("|") == want, "%v, %q, want %q", err, got, want)
	}
}
