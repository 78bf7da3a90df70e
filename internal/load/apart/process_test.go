//go:build linux

package apart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/testenv"
)

const (
	ms = time.Millisecond
	// badly makes the process of a test do something wrong.
	badly = "LOCBENCH_LOAD_PROCESS_TEST"
)

func TestMain(m *testing.M) {
	if !slices.Contains(os.Args, Command) {
		goleak.VerifyTestMain(m)
		return
	}
	switch os.Getenv(badly) {
	case "other version":
		p := newPeer(os.Stdout)
		p.handle = func(string, []byte) (any, error) { return hello{version + 1}, nil }
		_ = p.read(os.Stdin)
	case "garbage":
		fmt.Print("panic: this is not a frame")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "fails":
		fmt.Fprint(os.Stderr, "no memory\nat all\n")
		os.Exit(7)
	default:
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
	}
}

func process(t *testing.T) *Process {
	p := &Process{Path: testenv.Must(os.Executable())(t), Name: os.Args[0]}
	t.Cleanup(p.Close)
	return p
}

// service counts requests, by what do makes of them.
func service(t *testing.T, do http.HandlerFunc) (url string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		do(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func plan(url string, s bench.Step) load.Plan {
	s.Name = "step"
	return load.Plan{BaseURL: url, Step: s, Requests: []bench.Request{{Name: "get", Weight: 1, Path: "/get", ExpectStatus: 200}},
		Timeout: 30 * time.Second, Seed: 1, CheckEvery: 1}
}

// Everything that a step has crosses the pipes: sessions with values, cookies and a setup, values
// drawn once in all steps of a trial, saved bytes that no text has, kept requests, windows and their
// parts, and the two ends of the interval.
func TestStepsRunApart(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var numbers []string
	logins := 0
	url, asked := service(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch r.URL.Path {
		case "/login":
			logins++
			http.SetCookie(w, &http.Cookie{Name: "user", Value: "u", Path: "/"})
			_, _ = io.WriteString(w, `{"token":"t"}`)
		case "/order":
			cookie, err := r.Cookie("user")
			if err != nil || cookie.Value != "u" || r.Header.Get("Token") != "t" || r.Header.Get("Odd") != "\xff" {
				w.WriteHeader(http.StatusForbidden)
			}
			numbers = append(numbers, r.URL.Query().Get("n"))
		}
	})
	p := process(t)
	life := &load.TrialState{Salt: 5}
	life.Values = map[string]string{"odd": "\xff"}
	var starts, ends, windows, parts atomic.Int64
	total := int64(0)
	for n := range 2 {
		one := plan(url, bench.Step{Connections: 4, Duration: 1200 * ms, KeepRequests: 3})
		one.Requests = []bench.Request{
			{Name: "login", Session: "user", SetUp: true, Method: "POST", Path: "/login", ExpectStatus: 200,
				Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "token"}}},
			{Name: "order", Session: "user", Path: "/order?n={n}", Header: map[string]string{"Token": "{token}", "Odd": "{odd}"}, ExpectStatus: 200,
				Think: bench.Think{Min: 20 * ms, Max: 20 * ms}},
		}
		one.Sessions = []bench.Session{{Name: "user", Weight: 1}}
		one.Variables = []bench.Variable{{Name: "n", Make: bench.GenerateSequence}}
		one.Life = life
		one.OnStart, one.OnEnd = func() { starts.Add(1) }, func() { ends.Add(1) }
		one.OnPart = func(bench.Window) { parts.Add(1) }
		l, err := p.Run(t.Context(), "trial", bench.EngineFast, one, func(bench.Window) { windows.Add(1) })
		testenv.Need(t, err == nil, "step %d: %v", n, err)
		total += l.Ended()
		testenv.Check(t, l.Loop == bench.LoopRing || l.Loop == bench.LoopEpoll, "loop %q", l.Loop)
		testenv.Check(t, len(l.Kept) == 3 && l.ClientCPU > 0 && l.FailedTotal() == 0,
			"%d kept, CPU %s, failed %v: %v", len(l.Kept), l.ClientCPU, l.Failed, l.Examples)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(numbers)
	testenv.Check(t, len(slices.Compact(slices.Clone(numbers))) == len(numbers) && logins == 8, "%d logins; numbers %q", logins, numbers)
	testenv.Check(t, total == int64(len(numbers)) && asked.Load() == total+int64(logins), "%d of %d in the journal", total, len(numbers))
	testenv.Check(t, starts.Load() == 2 && ends.Load() == 2 && windows.Load() == 2 && parts.Load() > 4,
		"%d starts, %d ends, %d windows, %d parts", starts.Load(), ends.Load(), windows.Load(), parts.Load())
	p.Rest("trial")
}

// The end of the context stops a step, which is returned as far as it has come; a step that cannot
// begin says why.
func TestStepsEndEarly(t *testing.T) {
	t.Parallel()
	url, _ := service(t, func(http.ResponseWriter, *http.Request) {})
	p := process(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	one := plan(url, bench.Step{Connections: 2, Duration: time.Hour})
	why := errors.New("enough")
	one.OnStart = func() { time.AfterFunc(50*ms, func() { cancel(why) }) }
	l, err := p.Run(ctx, "trial", "", one, nil)
	testenv.Check(t, errors.Is(err, why) && l.Succeeded > 0, "%d succeeded, %v", l.Succeeded, err)
	one = plan(url, bench.Step{Connections: 1, Duration: time.Second})
	one.Requests[0].Path = "/{unknown}"
	_, err = p.Run(t.Context(), "trial", "", one, nil)
	testenv.Check(t, err != nil && strings.Contains(err.Error(), `load step "step"`) && strings.Contains(err.Error(), "unknown"), "%v", err)
}

// others is an interleaving with no others.
type others struct {
	slices, aligned atomic.Int64
	longest         atomic.Int64
}

func (*others) Length() time.Duration { return 50 * ms }
func (i *others) Align(at time.Time) (time.Time, time.Duration) {
	i.aligned.Add(1)
	return at, ms
}
func (i *others) Fit(iteration time.Duration) time.Duration {
	i.longest.Store(max(i.longest.Load(), int64(iteration)))
	return time.Duration(i.longest.Load())
}
func (*others) Alternate(string)  {}
func (*others) Alternating() bool { return false }
func (i *others) Next()           { i.slices.Add(1) }
func (*others) Agree() bool       { return false }
func (*others) Restart()          {}

func TestSlicesRunApart(t *testing.T) {
	t.Parallel()
	url, asked := service(t, func(http.ResponseWriter, *http.Request) {})
	for _, s := range []bench.Step{{Connections: 2, Duration: 300 * ms}, {Rate: 200, Duration: 300 * ms}} {
		asked.Store(0)
		var i others
		var starts, ends atomic.Int64
		one := plan(url, s)
		one.Interleave, one.OnStart, one.OnEnd = &i, func() { starts.Add(1) }, func() { ends.Add(1) }
		l, err := process(t).Run(t.Context(), "trial", "", one, nil)
		n := i.slices.Load() + 1
		testenv.Check(t, err == nil && n > 1 && starts.Load() == n && ends.Load() == n && i.aligned.Load() >= n && l.Ended() == asked.Load() && i.longest.Load() > 0,
			"%d slices, %d starts, %d ends, %d of %d requests, %v", n, starts.Load(), ends.Load(), l.Ended(), asked.Load(), err)
	}
}

// The end of the process is the end of the step, in words; the next step has another one.
func TestKilled(t *testing.T) {
	t.Parallel()
	url, _ := service(t, func(http.ResponseWriter, *http.Request) {})
	p := process(t)
	meter := p.WatchStalls()
	testenv.Check(t, meter.Take().CPUs > 0, "no CPU is watched")
	one := plan(url, bench.Step{Connections: 2, Duration: time.Hour})
	one.OnStart = func() { go func() { _ = p.started().process.Kill() }() }
	_, err := p.Run(t.Context(), "trial", "", one, nil)
	testenv.Check(t, err != nil && err.Error() == `load step "step": the load's process ended: signal: killed`, "%v", err)
	testenv.Equal(t, meter.Take(), bench.Hiccups{})
	meter.Stop()
	p.Rest("trial")
	l, err := p.Run(t.Context(), "trial", "", plan(url, bench.Step{Connections: 2, Duration: 100 * ms}), nil)
	testenv.Check(t, err == nil && l.Succeeded > 0, "the next step: %d succeeded, %v", l.Succeeded, err)
}

// One that is hung up on by its parent ends, also while it drives load.
func TestEndsWithItsParent(t *testing.T) {
	t.Parallel()
	url, _ := service(t, func(http.ResponseWriter, *http.Request) {})
	p := process(t)
	one := plan(url, bench.Step{Connections: 2, Duration: time.Hour})
	one.OnStart = func() { go p.Close() }
	_, err := p.Run(t.Context(), "trial", "", one, nil)
	testenv.Check(t, err != nil && strings.Contains(err.Error(), "the load's process ended") && !strings.Contains(err.Error(), "killed"),
		"%v", err)
}

// A process that is none, or another one, is not believed.
func TestStrangers(t *testing.T) {
	url, _ := service(t, func(http.ResponseWriter, *http.Request) {})
	for how, words := range map[string]string{
		"other version": "version 2, this locbench 1",
		"garbage":       "a frame of 1885433449 bytes",
		"fails":         "the load's process ended: exit status 7; last lines: no memory | at all",
	} {
		t.Run(how, func(t *testing.T) {
			t.Setenv(badly, how)
			_, err := process(t).Run(t.Context(), "trial", "", plan(url, bench.Step{Connections: 1, Duration: 100 * ms}), nil)
			testenv.Check(t, err != nil && strings.Contains(err.Error(), words), "%v", err)
		})
	}
	_, err := (&Process{Path: "/nowhere", Name: "x"}).Run(t.Context(), "trial", "", plan(url, bench.Step{Connections: 1}), nil)
	testenv.Check(t, errors.Is(err, syscall.ENOENT), "%v", err)
}

// FuzzFrames: whatever one end sends, the other one does not crash, and believes no length.
func FuzzFrames(f *testing.F) {
	for _, text := range []string{`{"n":1,"call":"hello","data":{"version":1}}`, `{"call":"stop","data":{"run":1}}`, `{"n":9}`, `{"n":2,"call":"rest","data":[]}`,
		`{"n":5,"call":"interleave","data":{"method":"next"}}`, `{`} {
		f.Add([]byte{0, 0, 0, byte(len(text))}, []byte(text))
	}
	f.Add([]byte{255, 255, 255, 255}, []byte("x"))
	f.Fuzz(func(t *testing.T, head, text []byte) {
		if strings.Contains(string(text), "run") && strings.Contains(string(text), "plan") || strings.Contains(string(text), "stalls") {
			t.Skip() // it would begin something
		}
		for _, handle := range []func(string, []byte) (any, error){(&Process{}).handle, (&server{peer: newPeer(io.Discard), runs: map[uint64]*running{}}).respond} {
			p := newPeer(io.Discard)
			p.handle = handle
			err := p.read(strings.NewReader(string(head) + string(text)))
			if len(head) == 4 && int(head[0])<<24|int(head[1])<<16|int(head[2])<<8|int(head[3]) > max(len(text), 0) && err == nil {
				t.Errorf("%x and %q: no error", head, text)
			}
		}
	})
}
