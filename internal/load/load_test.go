package load

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The selected loop is the one that runs.
func TestRunNamesItsLoop(t *testing.T) {
	url := newSite(t, nil).URL
	eachLoop(t, func(t *testing.T, e Engine) {
		l := run(t, e, counted(url, 2, 10))
		testenv.Check(t, strings.HasSuffix(t.Name(), "/"+l.Loop), "the loop is %q", l.Loop)
	})
	want := bench.EngineFast
	if FastApplies(false, false) != nil {
		want = bench.EngineVegeta
	}
	for _, name := range []bench.Engine{"", bench.EngineAuto} {
		testenv.Equal(t, run(t, Engine{Name: name}, counted(url, 2, 10)).Engine(), want, name)
	}
}

// Engine fast sends nothing where it does not apply, and says why; auto has vegeta for that.
func TestFastDoesNotApply(t *testing.T) {
	plain, secure := newSite(t, nil), &site{}
	secure.start(t, true, false)
	for want, p := range map[string]Plan{"it has no TLS": counted(secure.URL, 1, 1), "it has no HTTP/2": plan2(plain.URL, 1, 1)} {
		for _, name := range []bench.Engine{bench.EngineFast, bench.EngineEpoll} {
			l, err := Engine{Name: name}.Run(t.Context(), p, nil)
			testenv.Fails(t, err, "engine "+string(name)+": "+want)
			holds(t, l, plain, "sent=0 asked=0")
			holds(t, l, secure, "asked=0")
		}
	}
}

func TestRunSpeaksTLS(t *testing.T) {
	s := &site{}
	e := s.start(t, true, false)
	holds(t, run(t, e, counted(s.URL, 2, 40)), s, "ok=40 asked=40")
	l := run(t, Engine{}, counted(s.URL, 2, 4)) // the certificate is not known
	holds(t, l, nil, "ok=0 failed=4")
	testenv.Contains(t, l.Examples[bench.ErrOther], "certificate")
	// An open loop has pauses of 33 ms, in which idle connections are checked.
	e.Keep = &Kept{}
	defer e.Keep.Close()
	for range 2 {
		holds(t, run(t, e, openCounted(s.URL, 30, 2, 8)), s, "ok=sent ok>0")
	}
}

// What a socket does not take at once is sent later, even after an early response.
func TestRunSendsLongRequests(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 8<<20)
	send := func(t *testing.T, e Engine, url string) bench.Load {
		p := counted(url, 2, 2)
		p.Requests[0].Method, p.Requests[0].Body = "POST", body
		return run(t, e, p)
	}
	eachLoop(t, func(t *testing.T, e Engine) {
		s := newSite(t, func(r *visit) string {
			r.check(len(r.body) == len(body), "%d bytes came", len(r.body))
			return hello
		})
		holds(t, send(t, e, s.URL), s, "ok=2 asked=2 odd=0")
		early := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		defer early.Close()
		holds(t, send(t, e, early.URL), nil, "ok=2")
	})
}
