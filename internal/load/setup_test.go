package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// accounts is a server on which users log in. Its journal is what the results are compared with.
type accounts struct {
	*httptest.Server
	mu     sync.Mutex
	logins []string       // names, in order
	asked  map[string]int // requests with a token, by the name that it was given to and the name in the path
	status int            // of a login; 0: 200
	fails  int            // of the next logins, those that fail once
}

func newAccounts(t testing.TB) *accounts {
	a := &accounts{asked: map[string]int{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *accounts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if name, ok := strings.CutPrefix(r.URL.Path, "/login/"); ok {
		if a.fails--; a.status != 0 || a.fails >= 0 {
			w.WriteHeader(max(a.status, 503))
			return
		}
		a.logins = append(a.logins, name)
		fmt.Fprintf(w, `{"token":"%s-%d"}`, name, len(a.logins))
		return
	}
	name, _, ok := strings.Cut(r.Header.Get("Authorization"), "-")
	if !ok {
		w.WriteHeader(401)
	}
	a.asked[name+" as "+r.URL.Path[1:]]++
	io.WriteString(w, "{}")
}

// accountsPlan returns a plan whose users log in once, as one of 1000 names in a cycle.
func accountsPlan(url string, step bench.Step) Plan {
	p := plan(url, 1, time.Hour)
	p.Step = step
	p.Variables = []bench.Variable{{Name: "name", Range: &bench.Range{From: 1, To: 1000}, Draw: bench.DrawInTurn}}
	bearer := map[string]string{"Authorization": "{token}"}
	p.Requests = []bench.Request{
		{Name: "login", Session: "user", SetUp: true, Path: "/login/{name}", Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "token"}}},
		{Name: "me", Session: "user", Path: "/{name}", Header: bearer},
		{Name: "again", Session: "user", Path: "/{name}", Header: bearer},
	}
	p.Sessions = []bench.Session{{Name: "user", Weight: 1}}
	return p
}

// seen checks that a number of users logged in once, that each request was of the user who had
// logged in, and that the result has those requests alone.
func (a *accounts) seen(t *testing.T, l bench.Load, users int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.logins) != users || len(slices.Compact(slices.Sorted(slices.Values(a.logins)))) != users {
		t.Errorf("%d logins of %d users, want each of %d once", len(a.logins), len(slices.Compact(slices.Sorted(slices.Values(a.logins)))), users)
	}
	sum := 0
	for what, n := range a.asked {
		if by, as, _ := strings.Cut(what, " as "); by != as {
			t.Errorf("%d requests of %q as %q", n, by, as)
		}
		sum += n
	}
	if int64(sum) != l.Sent || l.FailedTotal() != 0 {
		t.Errorf("sent %d, failed %v; the server saw %d after the logins", l.Sent, l.Failed, sum)
	}
}

// Each user of a closed loop logs in once, whatever the number of its iterations, and stays the
// user as whom it has logged in, also over a connection that opens again. No login is in the result.
func TestSetupOnceForEachUser(t *testing.T) {
	t.Parallel()
	const again = "opened again for each request"
	for name, connections := range map[string]int{"1 user": 1, "8 users": 8, "64 users": 64, again: 3} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				a := newAccounts(t)
				a.Config.SetKeepAlivesEnabled(name != again)
				l := run(t, e, accountsPlan(a.URL, bench.Step{Name: "s", Connections: connections, Duration: time.Hour, MaxRequests: 600}))
				a.seen(t, l, connections)
				if l.Sessions[0].Begun != 600 || len(l.Requests) != 2 {
					t.Errorf("sessions %+v, requests %+v", l.Sessions, l.Requests)
				}
			})
		})
	}
}

// Each user of a step with arrivals logs in, before the first one arrives.
func TestSetupOfArrivals(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		a := newAccounts(t)
		l := run(t, e, accountsPlan(a.URL, bench.Step{
			Name: "s", Duration: time.Hour, Arrivals: &bench.Arrivals{Users: 50, Over: 100 * time.Millisecond, Requests: 3},
		}))
		a.seen(t, l, 50)
		for name, n := range a.asked {
			if n != 6 {
				t.Errorf("%d requests of user %s, want 6", n, name)
			}
		}
	})
}

// The users of a step with a rate are a pool, from which iterations are taken in a cycle.
func TestSetupOfPool(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		a := newAccounts(t)
		l := run(t, e, accountsPlan(a.URL, bench.Step{Name: "s", Rate: 5000, MaxConnections: 20, Duration: time.Hour, MaxRequests: 400}))
		a.seen(t, l, 20)
		counts := slices.Sorted(maps.Values(a.asked))
		users := min(20, int(l.Sessions[0].Begun))
		if least, most := counts[0], counts[len(counts)-1]; len(counts) != users || most-least > 2 {
			t.Errorf("%d to %d requests of %d users, want as many of each of %d", least, most, len(counts), users)
		}
	})
}

// The slices of an interleaved step are of the same users.
func TestSetupOfInterleavedStep(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		a := newAccounts(t)
		p := accountsPlan(a.URL, bench.Step{Name: "s", Connections: 4, Duration: time.Second})
		more := 0
		p.Interleave = &interleaving{length: 20 * time.Millisecond, next: func() { more++ }}
		l := run(t, e, p)
		if a.seen(t, l, 4); more == 0 {
			t.Error("one slice")
		}
	})
}

// Each step of a trial has its own logins, and the same seed the same ones.
func TestSetupOfEachStep(t *testing.T) {
	a := newAccounts(t)
	p := accountsPlan(a.URL, bench.Step{Name: "s", Connections: 2, Duration: time.Hour, MaxRequests: 10})
	p.Life = &TrialState{}
	run(t, Engine{}, p)
	run(t, Engine{}, p)
	slices.Sort(a.logins)
	if got := fmt.Sprint(a.logins); got != "[1 2 3 4]" {
		t.Errorf("logins of %s", got)
	}
	p.Variables[0].Draw = bench.DrawRandom
	var seen [2]string
	for i := range seen {
		a.logins = nil
		p.Life = &TrialState{}
		run(t, Engine{}, p)
		slices.Sort(a.logins)
		seen[i] = fmt.Sprint(a.logins)
	}
	a.logins = nil
	run(t, Engine{}, p) // the next step of the second trial
	slices.Sort(a.logins)
	if next := fmt.Sprint(a.logins); seen[0] != seen[1] || next == seen[1] {
		t.Errorf("logins of %s, then of %s, then of %s", seen[0], seen[1], next)
	}
}

// A setup that fails is sent again. If it keeps failing, the step fails before it sends anything.
func TestSetupFails(t *testing.T) {
	a := newAccounts(t)
	a.fails = 2
	p := accountsPlan(a.URL, bench.Step{Name: "s", Connections: 1, Duration: time.Hour, MaxRequests: 10})
	a.seen(t, run(t, Engine{}, p), 1)
	a.status = 503
	_, err := Engine{}.Run(t.Context(), p, nil)
	const want = `load step "s": setup of session "user": user 1 of 1: unexpected response to "login": expected status 200, got `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s…", err, want)
	}
	a.seen(t, bench.Load{Sent: int64(sum(maps.Collect(maps.All(a.asked))))}, 1)
}

// Over HTTP/2, with and without TLS, a setup is the same.
func TestSetupOverHTTP2(t *testing.T) {
	for _, secure := range []bool{false, true} {
		a := &accounts{asked: map[string]int{}}
		server, e := newHTTP2(t, secure, func(w http.ResponseWriter, r *http.Request) int {
			a.ServeHTTP(w, r)
			return 200
		})
		p := accountsPlan(server.URL, bench.Step{Name: "s", Connections: 5, Duration: time.Hour, MaxRequests: 50})
		p.HTTP2 = true
		a.seen(t, run(t, e, p), 5)
	}
}

// A run that is interrupted in a setup ends at once, and sends nothing more.
func TestSetupInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var sent atomic.Int64
	server := newCounting(t, func(_ http.ResponseWriter, r *http.Request) int {
		if sent.Add(1) == 3 {
			cancel(errors.New("interrupted"))
		}
		<-r.Context().Done()
		return 0
	})
	p := accountsPlan(server.URL, bench.Step{Name: "s", Connections: 3, Duration: time.Hour})
	if _, err := (Engine{}).Run(ctx, p, nil); err == nil || !strings.HasSuffix(err.Error(), "interrupted") || sent.Load() != 3 {
		t.Errorf("error %v after %d requests", err, sent.Load())
	}
}

// Once sends the setup before the session, and shows it.
func TestOnceSendsTheSetup(t *testing.T) {
	a := newAccounts(t)
	p := accountsPlan(a.URL, bench.Step{Request: "user"})
	var sent []string
	testenv.OK(t, (Engine{}).Once(t.Context(), p, func(a Asked) { sent = append(sent, a.Request) }))
	if got := fmt.Sprint(sent); got != "[login me again]" || a.asked["1 as 1"] != 2 {
		t.Errorf("sent %s; the server saw %v", got, a.asked)
	}
	a.status = 401
	if err := (Engine{}).Once(t.Context(), p, func(a Asked) { sent = append(sent, a.Request) }); err == nil || len(sent) != 4 {
		t.Errorf("sent %v, error %v", sent, err)
	}
}
