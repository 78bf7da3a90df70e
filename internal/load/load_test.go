package load

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// The selected loop is the one that runs.
func TestRunNamesItsLoop(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		l := run(t, e, counted(newCounting(t, hello).URL, 2, 10))
		if !strings.HasSuffix(t.Name(), "/"+l.Loop) {
			t.Errorf("the loop is %q", l.Loop)
		}
	})
	want := bench.EngineFast
	if FastApplies(false, false) != nil {
		want = bench.EngineVegeta
	}
	for _, name := range []bench.Engine{"", bench.EngineAuto} {
		if l := run(t, Engine{Name: name}, counted(newCounting(t, hello).URL, 2, 10)); l.Engine() != want {
			t.Errorf("engine %q: the loop is %q", name, l.Loop)
		}
	}
}

// Engine fast sends nothing where it does not apply, and says why; auto has vegeta for that.
func TestFastDoesNotApply(t *testing.T) {
	plain := newCounting(t, hello)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }))
	defer secure.Close()
	http2 := counted(plain.URL, 1, 1)
	http2.HTTP2 = true
	for want, p := range map[string]Plan{"it has no TLS": counted(secure.URL, 1, 1), "it has no HTTP/2": http2} {
		for _, name := range []bench.Engine{bench.EngineFast, bench.EngineEpoll} {
			l, err := Engine{Name: name}.Run(t.Context(), p, nil)
			if err == nil || !strings.Contains(err.Error(), "engine "+string(name)+": "+want) || l.Sent != 0 {
				t.Errorf("%s: %d sent, %v; want %q", name, l.Sent, err, want)
			}
		}
	}
	plain.answered(t, 200, 0)
}

func TestRunSpeaksTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes fail on purpose
	server.StartTLS()
	defer server.Close()
	p := counted(server.URL, 2, 40)
	trusted := Engine{TLS: server.Client().Transport.(*http.Transport).TLSClientConfig}
	if l := run(t, trusted, p); l.Succeeded != 40 || l.Loop != bench.LoopVegeta {
		t.Errorf("%d succeeded with the loop %s, failed: %v %v", l.Succeeded, l.Loop, l.Failed, l.Examples)
	}
	p.Step.MaxRequests = 4
	if l := run(t, Engine{}, p); l.Succeeded != 0 || l.FailedTotal() != 4 || !strings.Contains(l.Examples[bench.ErrOther], "certificate") {
		t.Errorf("%d succeeded with an unknown certificate, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
	}
}

// An address with a zone is loaded like any other by engine vegeta, whose requests have it in a
// URL.
func TestRunOfAnAddressWithAZone(t *testing.T) {
	l, err := net.Listen("tcp", "[::1%lo]:0")
	if err != nil {
		t.Skip("SKIP: no IPv6 with zones: ", err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	server.Listener = l
	server.Start()
	defer server.Close()
	url := fmt.Sprintf("http://[::1%%25lo]:%d", l.Addr().(*net.TCPAddr).Port)
	if got := run(t, Engine{Name: bench.EngineVegeta}, counted(url, 2, 40)); got.Succeeded != 40 {
		t.Errorf("%d succeeded, failed: %v %v", got.Succeeded, got.Failed, got.Examples)
	}
}
