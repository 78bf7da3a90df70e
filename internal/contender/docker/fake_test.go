package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// containerID is the ID of the only container of a fakeEngine.
const containerID = "5f3c8a1e9d7b4f60a2c1d3e4f5061728394a5b6c7d8e9f00112233445566aabb"

// fakeEngine is an engine in memory, so time can be virtual. A test makes its container exit,
// restart or disappear. It keeps events as an engine does.
type fakeEngine struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything below changes
	away    bool          // refuses connections
	silent  bool          // accepts requests and never responds
	gone    bool          // the container was removed
	running bool
	starts  int // of the main process
	code    int
	oom     bool // the flag of the state
	ended   time.Time
	past    []fakeEvent
	signals []string
	onKill  func(signal string) // called under the lock
	streams int                 // requests for events
}

type fakeEvent struct {
	Type   string
	Action string
	Actor  struct {
		ID         string
		Attributes map[string]string
	}
	TimeNano int64 `json:"timeNano"`
}

func newFakeEngine() *fakeEngine {
	return &fakeEngine{changed: make(chan struct{}), running: true, starts: 1}
}

// change calls do with the lock held.
func (f *fakeEngine) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// after calls do with the lock held once d has passed.
func (f *fakeEngine) after(d time.Duration, do func()) { time.AfterFunc(d, func() { f.change(do) }) }

// end makes the main process exit; the lock is held.
func (f *fakeEngine) end(code int) {
	f.running, f.code, f.ended = false, code, time.Now()
	f.event("container", "die", "exitCode", strconv.Itoa(code))
}

// event adds an event of the container; the lock is held.
func (f *fakeEngine) event(kind, action string, attributes ...string) {
	e := fakeEvent{Type: kind, Action: action, TimeNano: time.Now().UnixNano()}
	e.Actor.ID, e.Actor.Attributes = containerID, map[string]string{}
	for pair := range slices.Chunk(attributes, 2) {
		e.Actor.Attributes[pair[0]] = pair[1]
	}
	f.past = append(f.past, e)
}

func (f *fakeEngine) started() string {
	return time.Date(2026, 11, 22, 0, 0, f.starts, 0, time.UTC).Format(time.RFC3339Nano)
}

// container returns the fake's container, as Run returns it once it has started.
func (f *fakeEngine) container(t *testing.T) *Container {
	t.Helper()
	cli, err := endpoint{host: "tcp://engine:2375", version: "1.41", transport: f}.client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cli.Close() })
	c := &Container{engine: &Engine{cli: cli, patience: infoTimeout}, id: containerID, started: f.started(), startedAt: time.Now(),
		copied: make(chan struct{}), exited: make(chan struct{}), cancel: func() {}}
	close(c.copied)
	return c
}

// ends follows a container until it has exited.
func (f *fakeEngine) ends(t *testing.T, c *Container) bench.Exit {
	t.Helper()
	c.wait(t.Context())
	return *c.Exit()
}

// RoundTrip responds as an engine does.
func (f *fakeEngine) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent {
		f.mu.Unlock()
		<-r.Context().Done()
		f.mu.Lock()
		return nil, context.Cause(r.Context())
	}
	if f.away {
		return nil, syscall.ECONNREFUSED
	}
	path, _ := strings.CutPrefix(r.URL.Path, "/v1.41")
	about, of := strings.CutPrefix(path, "/containers/"+containerID)
	switch {
	case path == "/events":
		f.streams++
		return response(f.stream(r, f.eventsFor(r))), nil
	case path == "/info":
		return response(jsonBody(map[string]any{"SystemTime": time.Now().Format(time.RFC3339Nano)})), nil
	case of && f.gone:
		resp := response(jsonBody(map[string]any{"message": "No such container: " + containerID}))
		resp.StatusCode = http.StatusNotFound
		return resp, nil
	case of && about == "/json":
		return response(jsonBody(map[string]any{"Id": containerID, "State": map[string]any{
			"Status": map[bool]string{true: "running", false: "exited"}[f.running], "Running": f.running, "OOMKilled": f.oom, "ExitCode": f.code,
			"StartedAt": f.started(), "FinishedAt": f.ended.Format(time.RFC3339Nano),
		}})), nil
	case of && about == "/wait":
		return response(f.stream(r, func(w io.Writer) bool {
			if !f.running {
				fmt.Fprintf(w, `{"StatusCode":%d}`, f.code)
			}
			return f.running
		})), nil
	case of && about == "/kill":
		signal := r.URL.Query().Get("signal")
		f.signals = append(f.signals, signal)
		f.event("container", "kill", "signal", signal)
		if f.onKill != nil {
			f.onKill(signal)
		}
		close(f.changed)
		f.changed = make(chan struct{})
		return response(nil), nil
	case of && r.Method == http.MethodDelete:
		f.gone, f.running = true, false
		return response(nil), nil
	}
	return nil, fmt.Errorf("the fake does not know %s %s", r.Method, r.URL)
}

// eventsFor returns a function that writes the events of a request, each once, until the request's
// end.
func (f *fakeEngine) eventsFor(r *http.Request) func(io.Writer) bool {
	query := r.URL.Query()
	var filters map[string]map[string]bool
	_ = json.Unmarshal([]byte(query.Get("filters")), &filters)
	since, until := engineTime(query.Get("since")), engineTime(query.Get("until"))
	written := 0
	return func(w io.Writer) bool {
		for ; written < len(f.past); written++ {
			e := f.past[written]
			about := map[string]string{"type": e.Type, "event": e.Action}
			if e.Type == "container" {
				about["container"] = e.Actor.ID
			}
			selected := e.TimeNano >= since.UnixNano() && (until.IsZero() || e.TimeNano <= until.UnixNano())
			for key, value := range about {
				selected = selected && (len(filters[key]) == 0 || filters[key][value])
			}
			if selected {
				_ = json.NewEncoder(w).Encode(e)
			}
		}
		return until.IsZero() || time.Now().Before(until)
	}
}

// stream returns the body of a growing response: it calls write with the lock held, at once, at
// every change and at the request's end, until it returns false. The body breaks when the engine
// goes away.
func (f *fakeEngine) stream(r *http.Request, write func(io.Writer) bool) io.ReadCloser {
	body, out := io.Pipe()
	var until <-chan time.Time
	if end := engineTime(r.URL.Query().Get("until")); !end.IsZero() {
		until = time.After(time.Until(end))
	}
	go func() {
		for {
			var b bytes.Buffer
			f.mu.Lock()
			more, away, changed := write(&b), f.away, f.changed
			f.mu.Unlock()
			if away {
				out.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
			if _, err := out.Write(b.Bytes()); err != nil {
				return
			}
			if !more {
				out.Close()
				return
			}
			select {
			case <-changed:
			case <-until:
			case <-r.Context().Done():
				out.CloseWithError(r.Context().Err())
				return
			}
		}
	}()
	return body
}

func engineTime(text string) time.Time {
	seconds, nanos, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(seconds, 10, 64)
	n, _ := strconv.ParseInt(nanos, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(s, n)
}

func response(body io.ReadCloser) *http.Response {
	if body == nil {
		body = http.NoBody
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

func jsonBody(v any) io.ReadCloser {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return io.NopCloser(bytes.NewReader(data))
}

// sent returns the signals that were sent so far.
func (f *fakeEngine) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.signals)
}
