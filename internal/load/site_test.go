package load

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// site is a service that responds with texts, such as "302\nLocation: /a\n\nbody", one request after the
// other. Its journal has a line for each request: method, URL, cookies, body with its type, and status.
type site struct {
	*httptest.Server
	respond func(r *visit) string // nil: hello
	noted   []string              // headers that are in the journal, too

	mu       sync.Mutex
	lines    []string
	statuses map[int]int64
	state    map[string]int // of respond
	odd      []string       // what respond found wrong
	conns    map[net.Conn]http.ConnState
}

type visit struct {
	*http.Request
	*site
	body string
	n    int // from 1
}

const hello = "200\n\nhello"

func newSite(t testing.TB, respond func(r *visit) string) *site {
	t.Helper()
	s := &site{respond: respond}
	s.start(t, false, false)
	return s
}

// start opens a port, and returns an engine that trusts its certificate.
func (s *site) start(t testing.TB, secure, http2 bool) (e Engine) {
	s.Server = httptest.NewUnstartedServer(s)
	s.statuses, s.state, s.conns = map[int]int64{}, map[string]int{}, map[net.Conn]http.ConnState{}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // some handshakes fail on purpose
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns[c] = state
	}
	if s.EnableHTTP2 = http2; secure {
		s.StartTLS()
		e.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
	} else {
		if s.Config.Protocols = new(http.Protocols); http2 {
			s.Config.Protocols.SetUnencryptedHTTP2(true)
		} else {
			s.Config.Protocols.SetHTTP1(true)
		}
		s.Start()
	}
	t.Cleanup(s.Close)
	return e
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Header.Set("Host", r.Host)
	s.mu.Lock()
	defer s.mu.Unlock()
	text := hello
	if s.respond != nil {
		text = s.respond(&visit{r, s, string(body), len(s.lines) + 1})
	}
	head, out, _ := strings.Cut(text, "\n\n")
	status, head, _ := strings.Cut(head, "\n")
	line := r.Method + " " + r.URL.String()
	parts := []string{r.Header.Get("Cookie"), string(body) + r.Header.Get("Content-Type")}
	for _, name := range s.noted {
		parts = append(parts, r.Header.Get(name))
	}
	for _, part := range append(parts, status) {
		line = strings.TrimSpace(line + " " + part)
	}
	code, _ := strconv.Atoi(status)
	s.lines = append(s.lines, line)
	s.statuses[code]++
	for header := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(header), ": ")
		if value != "" {
			w.Header().Add(name, value)
		}
	}
	w.WriteHeader(code)
	_, _ = io.WriteString(w, out)
}

// check notes what is not as it should be.
func (r *visit) check(ok bool, format string, args ...any) {
	if !ok {
		r.odd = append(r.odd, fmt.Sprintf(format, args...))
	}
}

// saw returns how often the journal has each line.
func (s *site) saw() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for _, line := range s.lines {
		counts[line]++
	}
	return counts
}

// see adds what the site knows to the facts.
func (s *site) see(f facts, _ bench.Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f["asked"], f["connections"] = float64(len(s.lines)), float64(len(s.conns))
	for status, n := range s.statuses {
		f["got."+strconv.Itoa(status)] = float64(n)
	}
	for name, n := range s.state {
		f["site."+strings.ReplaceAll(name, " ", "_")] = float64(n)
	}
	f["odd"] = float64(len(s.odd))
}

// packed returns body in a coding.
func packed(coding string, body []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	switch coding {
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	}
	w.Write(body)
	w.Close()
	return b.Bytes()
}
