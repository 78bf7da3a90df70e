package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// accounts is a site on which users log in, of which some logins fail.
func accounts(fails int) *site {
	return &site{respond: func(r *visit) string {
		if name, ok := strings.CutPrefix(r.URL.Path, "/login/"); ok {
			if fails--; fails >= 0 {
				return "503"
			}
			r.state["logins"]++
			r.state["login "+name]++
			return "200\n\n" + fmt.Sprintf(`{"token":"%s-%d"}`, name, r.state["logins"])
		}
		name, _, _ := strings.Cut(r.Header.Get("Authorization"), "-")
		r.check(name == r.URL.Path[1:] && name != "", "%s as %q", r.URL.Path, name)
		r.state["requests"]++
		r.state["by "+name]++
		return "200\n\n{}"
	}}
}

func newAccounts(t testing.TB, fails int) *site {
	s := accounts(fails)
	s.start(t, false, false)
	return s
}

// accountsPlan returns a plan whose users log in once, as one of 1000 names in a cycle.
func accountsPlan(url string, step bench.Step) Plan {
	p := plan(url, 1, time.Hour)
	p.Step, p.Step.Name = step, "s"
	p.Variables = []bench.Variable{{Name: "name", Range: &bench.Range{From: 1, To: 1000}, Draw: bench.DrawInTurn}}
	bearer := map[string]string{"Authorization": "{token}"}
	p.Requests = in(bench.Request{Name: "login", SetUp: true, Path: "/login/{name}", Save: save("token", bench.FromJSON, "token")},
		bench.Request{Name: "me", Path: "/{name}", Header: bearer}, bench.Request{Name: "again", Path: "/{name}", Header: bearer})
	p.Sessions = []bench.Session{{Name: "s", Weight: 1}}
	return p
}

// of returns the sorted counts of what the site has noted with a prefix.
func (s *site) of(prefix string) (counts []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range s.state {
		if strings.HasPrefix(name, prefix) {
			counts = append(counts, n)
		}
	}
	slices.Sort(counts)
	return counts
}

// loggedIn checks that each of a number of users has logged in once, that each request was of the user who
// had logged in, and that the result has those requests alone.
func (s *site) loggedIn(t *testing.T, l bench.Load, users int, terms string) {
	t.Helper()
	holds(t, l, s, fmt.Sprintf("odd=0 failed=0 sent=site.requests site.logins=%d %s", users, terms))
	testenv.Equal(t, s.of("login "), slices.Repeat([]int{1}, users), "logins of each user")
}

// Each user logs in once, before the load, whatever the number of iterations, and stays the user as whom it has
// logged in, also over a connection that opens again. No login is in the result.
func TestSetupOnceForEachUser(t *testing.T) {
	t.Parallel()
	const again = "opened again for each request"
	for name, connections := range map[string]int{"1 user": 1, "8 users": 8, "64 users": 64, again: 3} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				s := newAccounts(t, 0)
				s.Config.SetKeepAlivesEnabled(name != again)
				l := run(t, e, accountsPlan(s.URL, bench.Step{Connections: connections, Duration: time.Hour, MaxRequests: 100}))
				s.loggedIn(t, l, connections, "s0.begun=100")
				testenv.Equal(t, len(l.Requests), 2, "kinds of requests")
			})
		})
	}
	eachLoop(t, func(t *testing.T, e Engine) {
		s, p := newAccounts(t, 0), accountsPlan("", arrivals(50, 3))
		p.BaseURL = s.URL
		s.loggedIn(t, run(t, e, p), 50, "")
		testenv.Equal(t, s.of("by "), slices.Repeat([]int{6}, 50), "requests of each user")
		// The users of a step with a rate are a pool, from which iterations are taken in a cycle.
		s = newAccounts(t, 0)
		l := run(t, e, accountsPlan(s.URL, bench.Step{Rate: 5000, MaxConnections: 20, Duration: time.Hour, MaxRequests: 400}))
		s.loggedIn(t, l, 20, "")
		if counts := s.of("by "); len(counts) != min(20, int(l.Sessions[0].Begun)) || counts[len(counts)-1]-counts[0] > 2 {
			t.Errorf("requests of each user: %v", counts)
		}
	})
	// The slices of an interleaved step are of the same users.
	eachLoop(t, func(t *testing.T, e Engine) {
		s, more := newAccounts(t, 0), 0
		p := accountsPlan(s.URL, bench.Step{Rate: 200, MaxConnections: 4, Duration: 200 * ms})
		p.Interleave = &interleaving{length: 20 * ms, fitting: true, next: func() { more++ }}
		s.loggedIn(t, run(t, e, p), 4, "")
		testenv.Check(t, more > 0, "one slice")
	})
	for _, secure := range []bool{false, true} {
		s := accounts(0)
		e := s.start(t, secure, true)
		p := accountsPlan(s.URL, bench.Step{Connections: 5, Duration: time.Hour, MaxRequests: 50})
		p.HTTP2 = true
		s.loggedIn(t, run(t, e, p), 5, "")
	}
}

// Each step of a trial has its own logins, and the same seed the same ones.
func TestSetupOfEachStep(t *testing.T) {
	s := newAccounts(t, 0)
	p := accountsPlan(s.URL, bench.Step{Connections: 2, Duration: time.Hour, MaxRequests: 10})
	step := func(life *TrialState) string { // its logins
		p.Life, s.lines = life, nil
		run(t, Engine{}, p)
		slices.Sort(s.lines)
		return strings.Join(slices.DeleteFunc(s.lines, func(line string) bool { return !strings.Contains(line, "login") }), " ")
	}
	trial := &TrialState{}
	testenv.Equal(t, step(trial)+" "+step(trial), "GET /login/1 200 GET /login/2 200 GET /login/3 200 GET /login/4 200")
	p.Variables[0].Draw = bench.DrawRandom
	trial = &TrialState{}
	if a, b, next := step(&TrialState{}), step(trial), step(trial); a != b || next == b {
		t.Errorf("logins of %s, then of %s, then of %s", a, b, next)
	}
}

// A setup that fails is sent again. If it keeps failing, the step fails before it sends anything.
func TestSetupFails(t *testing.T) {
	for fails, want := range map[int]string{2: "", 3: `load step "s": setup of session "s": user 1 of 1: unexpected response to "login": expected status 200, got `} {
		s := newAccounts(t, fails)
		l, err := Engine{}.Run(t.Context(), accountsPlan(s.URL, bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 10}), nil)
		testenv.Fails(t, err, want)
		holds(t, l, s, map[string]string{"": "s0.begun=10 sent=site.requests"}[want]+" got.503="+fmt.Sprint(fails))
		testenv.Equal(t, len(s.of("by ")) == 0, want != "", "nothing is sent")
	}
}

// A run that is interrupted in a setup ends at once, and sends nothing more.
func TestSetupInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := newServer(t, func(_ *server, n, _ int64) act {
		if n == 3 {
			cancel(errEnough)
		}
		return act{wait: forever}
	}).listen(t)
	holds(t, runUntil(ctx, t, Engine{}, accountsPlan(s.url, bench.Step{Connections: 3, Duration: time.Hour})), s, "asked=3 sent=0")
}
