package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// journal is a service that keeps things: POST makes one, DELETE removes one. It records the
// requests that change something, in order.
type journal struct {
	*httptest.Server
	respond func(w http.ResponseWriter, r *http.Request) bool // before the service; true: it did

	mu    sync.Mutex
	all   []string // "POST /seed"
	there map[string]bool
	loads int // requests of the load: GET /load
}

func newJournal(t *testing.T) *journal {
	j := &journal{there: map[string]bool{}}
	j.Server = httptest.NewServer(j)
	t.Cleanup(j.Close)
	return j
}

func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	j.mu.Lock()
	if r.URL.Path == "/load" {
		j.loads++
	} else if r.Method != http.MethodGet {
		j.all = append(j.all, r.Method+" "+r.URL.Path)
	}
	j.mu.Unlock()
	if j.respond != nil && j.respond(w, r) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch key := strings.Split(r.URL.Path, "/")[1]; {
	case r.Method == http.MethodPost && j.there[key]:
		w.WriteHeader(http.StatusConflict)
	case r.Method == http.MethodPost:
		j.there[key] = true
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id": "%s-7"}`, key)
	case r.Method == http.MethodDelete && !j.there[key]:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(j.there, key)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (j *journal) lines() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.all, ", ")
}

// left returns what is still there.
func (j *journal) left() (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for key := range j.there {
		all = append(all, key)
	}
	return all
}

func (j *journal) loaded(n int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.loads >= n
}

// teapotFrom responds unexpectedly from the n-th request of the load on.
func (j *journal) teapotFrom(n int) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/load" || !j.loaded(n) {
			return false
		}
		w.WriteHeader(http.StatusTeapot)
		return true
	}
}

// interruptible is a run that a test interrupts as the user does.
type interruptible struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	force  chan struct{}
	once   sync.Once
}

func newInterruptible(t *testing.T) *interruptible {
	i := &interruptible{force: make(chan struct{})}
	i.ctx, i.cancel = context.WithCancelCause(bench.WithForce(t.Context(), i.force))
	return i
}

func (i *interruptible) signal(s os.Signal) { i.cancel(console.Signal{Signal: s}) }
func (i *interruptible) again()             { i.once.Do(func() { close(i.force) }) }

// run runs the profile against the service and returns what it printed.
func (i *interruptible) run(t *testing.T, j *journal, text string, change func(*RunOptions)) (string, error) {
	t.Helper()
	o := RunOptions{Profile: testenv.Write(t, "rounds: 1\n"+text, t.TempDir(), "mine.yaml"), ProfileNamed: true,
		Changes: profile.Changes{"target": {j.URL}}, Out: filepath.Join(t.TempDir(), "out")}
	if change != nil {
		change(&o)
	}
	var out bytes.Buffer
	err := Run(i.ctx, console.Env{Stdout: io.Discard, Stderr: &out, Getenv: noEnv.Getenv}, o)
	return out.String(), err
}

const (
	seeded = `setup: [{name: seed, post: /seed, expect: {status: 201}, save: {id: id}}]
teardown: [{name: clean, delete: "/seed/{id}", expect: {status: 204}}]
`
	seededLoad = seeded + "requests: [{get: /load}]\n"
	forever    = "steps: [{connections: 2, duration: 10m}]\n"
)

// TestTeardownOfEveryEnd: what the setup made is removed, however and in whichever phase a run
// ends.
func TestTeardownOfEveryEnd(t *testing.T) {
	// at interrupts the run at the n-th request of the load, or at the first POST /seed.
	at := func(path string, n int, sig os.Signal) func(*interruptible, *journal) {
		return func(i *interruptible, j *journal) {
			j.respond = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method+" "+r.URL.Path == path && j.loaded(n) {
					i.signal(sig)
				}
				return false
			}
		}
	}
	teapot := func(n int) func(*interruptible, *journal) {
		return func(_ *interruptible, j *journal) { j.respond = j.teapotFrom(n) }
	}
	loaded, seeding := at("GET /load", 50, syscall.SIGTERM), at("POST /seed", 0, os.Interrupt)
	for name, c := range map[string]struct {
		profile string
		prepare func(*interruptible, *journal)
		// what the user does on the dashboard, whose worker the run is, once the load runs
		controls []bench.ControlKind
		want     string // what changed, in order; "": POST /seed, DELETE /seed/seed-7
		says     string // of the teardown
	}{
		"to its end":      {profile: seededLoad + "steps: [{connections: 1, max_requests: 9, duration: 1m}]\n"},
		"closed loop":     {profile: seededLoad + forever, prepare: loaded},
		"open loop":       {profile: seededLoad + "steps: [{rate: 200, duration: 10m}]\n", prepare: loaded},
		"warm-up":         {profile: seededLoad + "steps: [{connections: 2, duration: 10m, warm_up: true}, 3]\n", prepare: loaded},
		"before the load": {profile: seededLoad + forever, prepare: at("GET /load", 1, syscall.SIGTERM)},
		"sessions":        {profile: seeded + "sessions: [{name: user, requests: [{get: /load}, {get: /other}]}]\n" + forever, prepare: loaded},
		"setup in flight": {profile: seededLoad + forever, prepare: seeding},
		"half of the setup": {
			profile: `setup: [{name: one, post: /seed, expect: {status: 201}, save: {id: id}}, {name: two, post: /two, expect: {status: 201}, save: {more: id}}]
requests: [{get: "/load?q={more}"}]
teardown: [{name: second, delete: "/two/{more}", expect: {status: 204}}, {name: first, delete: "/seed/{id}", expect: {status: 204}}]
` + forever,
			prepare: seeding, // two is neither sent nor removed
			says:    `teardown request "second" was not sent: `,
		},
		"failed setup": {
			profile: `setup: [{name: one, post: /seed, expect: {status: 201}, save: {id: id}}, {name: two, post: /two, expect: {status: 200}}]
requests: [{get: /load}]
teardown: [{name: first, delete: "/seed/{id}", expect: {status: 204}}, {name: second, delete: /two, expect: {status: 204}}]
` + forever,
			want: "POST /seed, POST /two, DELETE /seed/seed-7, DELETE /two",
		},
		"unexpected before the load": {profile: seededLoad + forever, prepare: teapot(0)},
		"errors in the load": {profile: seededLoad + "steps: [{connections: 2, max_requests: 60, duration: 1m}, {connections: 1, max_requests: 60, duration: 1m}]\n",
			prepare: teapot(2)},
		"aborted on the dashboard": {profile: seededLoad + forever, controls: []bench.ControlKind{bench.ControlAbort}},
		"skipped contender":        {profile: seededLoad + forever, controls: []bench.ControlKind{bench.ControlSkipContender}},
		"each request of the teardown": {
			profile: `setup: [{name: seed, post: /seed, expect: {status: 201}}]
requests: [{get: /load}]
teardown: [{name: a, delete: /nothing, expect: {status: 204}}, {name: b, delete: /none, expect: {status: 204}}, {name: c, delete: /seed, expect: {status: 204}}]
steps: [{connections: 1, max_requests: 9, duration: 1m}]
`,
			want: "POST /seed, DELETE /nothing, DELETE /none, DELETE /seed",
			says: `teardown: unexpected response to "b": sent DELETE /none; expected status 204, got 404`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, i := newJournal(t), newInterruptible(t)
			if c.prepare != nil {
				c.prepare(i, j)
			}
			text, err := i.run(t, j, c.profile, func(o *RunOptions) {
				if c.controls == nil {
					return
				}
				controls := make(chan bench.Control)
				o.Worker, o.Controls = true, controls
				j.respond = func(http.ResponseWriter, *http.Request) bool {
					if j.loaded(50) {
						for _, kind := range c.controls {
							select {
							case controls <- bench.Control{Kind: kind}:
							default: // it has taken one
							}
						}
					}
					return false
				}
			})
			want := c.want
			if want == "" {
				want = "POST /seed, DELETE /seed/seed-7"
			}
			testenv.Equal(t, j.lines(), want, "the service got", err, text)
			testenv.Equal(t, len(j.left()), 0, "left")
			if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, "may be left") {
				t.Errorf("want %q, it said:\n%s", c.says, text)
			}
		})
	}
}

// TestTargetsOfOneAddress: two interleaved targets of one address have each their setup, values and
// teardown, also when the run is interrupted.
func TestTargetsOfOneAddress(t *testing.T) {
	for name, steps := range map[string]string{
		"to its end":  "steps: [{connections: 1, duration: 200ms}]\n",
		"interrupted": forever,
	} {
		t.Run(name, func(t *testing.T) {
			j, i := newJournal(t), newInterruptible(t)
			n := 0
			var wrong []string
			j.respond = func(w http.ResponseWriter, r *http.Request) bool {
				j.mu.Lock()
				defer j.mu.Unlock()
				switch {
				case r.Method == http.MethodPost:
					n++
					w.WriteHeader(http.StatusCreated)
					fmt.Fprintf(w, `{"id": "u%d"}`, n)
				case r.URL.Path == "/load" && r.Header.Get("X-Id") == "":
					wrong = append(wrong, "a load without its value")
				case j.loads > 20 && steps == forever:
					i.signal(os.Interrupt)
				}
				return r.Method != http.MethodGet
			}
			text, err := i.run(t, j, `interleave: 50ms
setup: [{name: seed, post: /seed, expect: {status: 201}, save: {who: id}}]
requests: [{get: /load, header: {X-Id: "{who}"}}]
teardown: [{name: clean, delete: "/seed/{who}"}]
`+steps, func(o *RunOptions) { o.Changes["target"] = []string{"a=" + j.URL, "b=" + j.URL} })
			lines := strings.Split(j.lines(), ", ")
			slices.Sort(lines)
			if got := strings.Join(lines, ", "); got != "DELETE /seed/u1, DELETE /seed/u2, POST /seed, POST /seed" || len(wrong) > 0 {
				t.Errorf("the service got %s; %v\n%v\n%s", got, wrong, err, text)
			}
		})
	}
}

// TestTeardownOfInterleavedContenders: each of two interleaved contenders has its teardown: one
// that fails, when it fails, and the other one at its end.
func TestTeardownOfInterleavedContenders(t *testing.T) {
	j, failing, i := newJournal(t), newJournal(t), newInterruptible(t)
	failing.respond = failing.teapotFrom(5)
	text, err := i.run(t, j, "interleave: 50ms\n"+seededLoad+"step_duration: 100ms\nsteps: [1, 2, 3]\n", func(o *RunOptions) { o.Changes["target"] = []string{"a=" + j.URL, "b=" + failing.URL} })
	for name, j := range map[string]*journal{"a": j, "b": failing} {
		got := j.lines()
		testenv.Check(t, got == "POST /seed, DELETE /seed/seed-7", "%s got %s\n%v\n%s", name, got, err, text)
	}
}

// TestForcedEndSkipsTheTeardown: a second Ctrl-C ends the teardown, and the run says what was not
// sent, and where something may be left.
func TestForcedEndSkipsTheTeardown(t *testing.T) {
	three := `setup: [{name: seed, post: /seed, expect: {status: 201}}]
requests: [{get: /load}]
teardown: [{name: a, delete: /a}, {name: b, delete: /b}, {name: c, delete: /c}]
` + forever
	for name, c := range map[string]struct {
		at   string // path at which the run is interrupted for the second time
		says string
		want string
	}{
		"in the setup": {"/seed", `teardown was not sent ("a", "b", "c"): the end was forced`, "POST /seed"},
		"before it":    {"/load", `teardown was not sent ("a", "b", "c"): the end was forced`, "POST /seed"},
		"within it": {"/b", `teardown was not finished, 2 of 3 requests without a response ("b", "c"): the end was forced`,
			"POST /seed, DELETE /a, DELETE /b"},
	} {
		t.Run(name, func(t *testing.T) {
			j, i := newJournal(t), newInterruptible(t)
			j.respond = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/load" || r.URL.Path == c.at {
					i.signal(os.Interrupt)
				}
				if r.URL.Path == c.at {
					i.again()
					<-r.Context().Done() // does not respond
				}
				return r.Method == http.MethodDelete
			}
			text, err := i.run(t, j, three, nil)
			testenv.Equal(t, j.lines(), c.want, "the service")
			text = strings.Join(strings.Fields(text), " ")
			where := "what the setup made may be left at " + strings.TrimPrefix(j.URL, "http://")
			if !strings.Contains(text, c.says) || !strings.Contains(text, where) || console.ExitCode(i.ctx, err) != console.ExitInterrupted {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// TestResumeStartsWithItsOwnSetup: a run that was interrupted is resumed, with another setup, whose
// values it uses, and another teardown.
func TestResumeStartsWithItsOwnSetup(t *testing.T) {
	j, i := newJournal(t), newInterruptible(t)
	out := filepath.Join(t.TempDir(), "out")
	j.respond = func(_ http.ResponseWriter, r *http.Request) bool {
		if j.loaded(20) {
			i.signal(os.Interrupt)
		}
		return false
	}
	text, err := i.run(t, j, seededLoad+"steps: [{connections: 1, max_requests: 400, duration: 10m}]\n",
		func(o *RunOptions) { o.Out = out })
	testenv.Need(t, console.ExitCode(i.ctx, err) == console.ExitInterrupted, "%v\n%s", err, text)
	testenv.OK(t, Run(t.Context(), noEnv, RunOptions{Resume: out}))
	one := "POST /seed, DELETE /seed/seed-7"
	testenv.Equal(t, j.lines(), one+", "+one, "the service got")
	testenv.Equal(t, len(j.left()), 0, "left")
}

// TestTryTearsDown: try, too, removes what its setup made.
func TestTryTearsDown(t *testing.T) {
	j, i := newJournal(t), newInterruptible(t)
	j.respond = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/load" {
			i.signal(os.Interrupt)
			<-r.Context().Done()
		}
		return false
	}
	o := RunOptions{Profile: testenv.Write(t, seededLoad+forever, t.TempDir(), "mine.yaml"), ProfileNamed: true, Changes: profile.Changes{"target": {j.URL}}}
	err := Try(i.ctx, noEnv, o)
	testenv.Equal(t, j.lines(), "POST /seed, DELETE /seed/seed-7", "the service got", err)
}
