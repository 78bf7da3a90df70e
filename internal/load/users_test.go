package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// orders is a service with a login; its journal says which requests it got.
type orders struct {
	*httptest.Server

	mu      sync.Mutex
	items   map[int]int // GET /items/N
	words   map[string]int
	logins  int
	orders  map[string]int // by token
	refused int            // orders without a token that was given out
	odd     []string       // unexpected requests
	bad     func(order int) string
}

func newOrders(t *testing.T) *orders {
	o := &orders{items: map[int]int{}, words: map[string]int{}, orders: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		o.journal(func() { o.items[n]++ })
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprintf(w, `{"id":%d}`, n)
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		o.journal(func() { o.words[r.FormValue("q")]++ })
		fmt.Fprint(w, `{"found":[]}`)
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ User, Password string }
		err := json.NewDecoder(r.Body).Decode(&in)
		o.journal(func() {
			o.logins++
			if err != nil || in.Password != "secret of "+in.User {
				o.odd = append(o.odd, fmt.Sprintf("login %+v %v", in, err))
			}
			fmt.Fprintf(w, `{"data":{"token":"token-%d"}}`, o.logins)
		})
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Item int
			Note string
		}
		err := json.NewDecoder(r.Body).Decode(&in)
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		o.journal(func() {
			number, _ := strconv.Atoi(strings.TrimPrefix(token, "token-"))
			switch {
			case number < 1 || number > o.logins:
				o.refused++
				w.WriteHeader(http.StatusUnauthorized)
				return
			case err != nil || in.Item < 1 || len(in.Note) != 36 || r.Header.Get("Content-Type") != "application/json":
				o.odd = append(o.odd, fmt.Sprintf("order %+v %v", in, err))
			}
			o.orders[token]++
			body := `{"order":` + strconv.Itoa(in.Item) + `}`
			if o.bad != nil {
				body = o.bad(len(o.orders))
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, body)
		})
	})
	o.Server = httptest.NewServer(mux)
	t.Cleanup(o.Close)
	return o
}

func (o *orders) journal(note func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	note()
}

// ordersPlan returns 70% items, 20% searches and 10% orders with a login.
func ordersPlan(t *testing.T, url string, connections int, units int64) Plan {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users.csv")
	testenv.OK(t, os.WriteFile(users, []byte("name,password,unused\nada,secret of ada,1\n\"bob \"\"b\"\"\",\"secret of bob \"\"b\"\"\",2\n"), 0o600))
	p := counted(url, connections, units)
	p.IDs = nil
	p.Variables = []bench.Variable{
		{Name: "item", Range: &bench.Range{From: 1, To: 100}, Draw: bench.DrawRandom},
		{Name: "word", List: []string{"lamp", "bed & sofa", "žlutý"}, Draw: bench.DrawRandom},
		{Name: "user", File: users, Draw: bench.DrawInTurn}, {Name: "key", Make: bench.GenerateUUID},
	}
	p.Requests = []bench.Request{
		{Name: "item", Weight: 7, Path: "/items/{item}"},
		{Name: "search", Weight: 2, Path: "/search?q={word}"},
		{Name: "login", Session: "order", Method: "POST", Path: "/login", Encoding: bench.JSONBody, Body: `{"user":"{user.name}","password":"{user.password}"}`,
			Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "data.token"}}},
		{Name: "order", Session: "order", Method: "POST", Path: "/orders", ExpectStatus: 201, Encoding: bench.JSONBody, Body: `{"item":"{item:number}","note":"{key}"}`,
			Header: map[string]string{"Authorization": "Bearer {token}"}},
	}
	p.Sessions = []bench.Session{{Name: "order", Weight: 1}}
	data, err := values.OpenData(p.Variables, p.Requests)
	testenv.OK(t, err)
	p.Data = data
	return p
}

// By the server's journal, each unit of the mix was sent once, and each order has the token of its
// login.
func TestUsersOfAService(t *testing.T) {
	t.Parallel()
	eachLoop(t, func(t *testing.T, e Engine) {
		const units = 10_000
		o := newOrders(t)
		l := run(t, e, ordersPlan(t, o.URL, 4, units))
		o.mu.Lock()
		defer o.mu.Unlock()
		items, words := sum(o.items), sum(o.words)
		if len(l.Failed) > 0 || len(o.odd) > 0 || o.refused > 0 {
			t.Fatalf("failed %v, %v; the server found odd: %.3q, and refused %d", l.Failed, l.Examples, o.odd, o.refused)
		}
		if items+words+o.logins != units || l.Succeeded != int64(items+words+2*o.logins) {
			t.Errorf("%d items, %d searches, %d logins, and %d succeeded of %d units", items, words, o.logins, l.Succeeded, units)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(o.words)), []string{"bed & sofa", "lamp", "žlutý"}) || len(o.items) != 100 {
			t.Errorf("%d items, searched for %v", len(o.items), o.words)
		}
		s := l.Sessions
		if len(s) != 1 || s[0].Name != "order" || s[0].Begun != int64(o.logins) || s[0].Completed != s[0].Begun || len(s[0].Failed) > 0 || len(o.orders) != o.logins {
			t.Errorf("sessions %+v, the server saw %d logins and %d orders", s, o.logins, len(o.orders))
		}
	})
}

func sum[K comparable](counts map[K]int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}

// A failure in a session is a failure of the request in which it happened, and counted as often as
// the server saw it.
func TestSessionsThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(p *Plan, o *orders)
		kind    bench.ErrorKind
		step    string
		example string
	}{
		"wrong token": {func(p *Plan, _ *orders) { p.Requests[1].Header = map[string]string{"Authorization": "Bearer x{token}"} },
			"4xx", "order", "401 Unauthorized"},
		"value missing": {func(p *Plan, _ *orders) { p.Requests[0].Save[0].Of = "data.jeton" },
			bench.ErrSave, "login", `session "order", step "login": nothing to save as "token", since data.jeton is not in ` + "`" + `{"data":{"token":"token-`},
		"wrong body": {func(p *Plan, _ *orders) {
			p.CheckEvery = 1
			p.Check = func(a Response) error {
				if a.Request == "order" && !bytes.HasPrefix(a.Body, []byte(`{"number"`)) {
					return errors.New("`number` is missing")
				}
				return nil
			}
		}, bench.ErrWrong, "order", "`number` is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				o := newOrders(t)
				p := ordersPlan(t, o.URL, 3, 90)
				p.Requests = p.Requests[2:]
				test.change(&p, o)
				l := run(t, e, p)
				o.mu.Lock()
				defer o.mu.Unlock()
				s := l.Sessions[0]
				if l.Failed[test.kind] != 90 || s.Begun != 90 || s.Completed != 0 || s.Failed[test.step] != 90 || o.logins != 90 {
					t.Errorf("failed %v, session %+v, %d logins", l.Failed, s, o.logins)
				}
				if seen := len(o.orders) + o.refused; test.step == "login" && seen > 0 || test.step == "order" && seen != 90 {
					t.Errorf("%d orders", seen)
				}
				if got := l.Examples[test.kind]; !strings.Contains(got, test.example) {
					t.Errorf("example %q, want %q", got, test.example)
				}
			})
		})
	}
}

// A variable whose values may be taken once ends the load when they are used up: each was sent,
// none twice.
func TestVariableThatRunsOut(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		o := newOrders(t)
		p := ordersPlan(t, o.URL, 3, 1000)
		if open {
			p.Step = bench.Step{Name: "open", Rate: 5000, MaxConnections: 3, Duration: time.Minute}
		}
		p.Requests, p.Sessions = p.Requests[:1], nil
		p.Variables[0] = bench.Variable{Name: "item", Range: &bench.Range{From: 1, To: 50}, Draw: bench.DrawOnce}
		_, err := e.Run(t.Context(), p, nil)
		const want = `request "item": variable "item" has no value left: all 50 were taken; give it more values, or write ` + "`draw: in_turn`"
		testenv.Fails(t, err, want)
		testenv.Until(t, 30*time.Second, "the server has seen all", func() bool {
			o.mu.Lock()
			defer o.mu.Unlock()
			return sum(o.items) == 50
		})
		for n, times := range o.items {
			if times != 1 {
				t.Errorf("item %d was requested %d times", n, times)
			}
		}
	})
}

// The same seed sends the same requests, byte for byte, in every loop.
func TestLoopsSendTheSame(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked strings.Builder
	server := accepting(t, func(c net.Conn) {
		defer c.Close()
		var sent bytes.Buffer
		in := bufio.NewReader(io.TeeReader(c, &sent))
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			_, _ = sent.WriteTo(&asked)
			mu.Unlock()
			body := fmt.Sprintf(`{"data":{"token":"t %s\u00e9"}}`, r.URL.Path)
			status := "200 OK"
			if r.URL.Path == "/orders" {
				status = "201 Created"
			}
			fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
		}
	})
	p := ordersPlan(t, server.url, 1, 300)
	p.Variables = append(p.Variables, bench.Variable{Name: "code", Make: bench.GenerateString, Length: 8},
		bench.Variable{Name: "n", Make: bench.GenerateSequence}, bench.Variable{Name: "often", Range: &bench.Range{To: 9}, Draw: bench.DrawZipf, Exponent: 1.5})
	p.Requests[0].Header = map[string]string{"X-Code": "{code}", "X-Often": "{often}"}
	p.Requests[1].Method, p.Requests[1].Encoding, p.Requests[1].Body = "POST", bench.FormBody, "n={n}&word={word}"
	var first, name string
	eachLoop(t, func(t *testing.T, e Engine) {
		mu.Lock()
		asked.Reset()
		mu.Unlock()
		if got := run(t, e, p); len(got.Failed) > 0 {
			t.Fatal(got.Examples)
		}
		mu.Lock()
		defer mu.Unlock()
		if first == "" {
			first, name = asked.String(), t.Name()
			return
		}
		if asked.String() != first {
			t.Errorf("%s asked other things than %s: %s", t.Name(), name, difference(asked.String(), first))
		}
	})
	if strings.Count(first, "POST /orders") < 10 || strings.Contains(first, "{") && !strings.Contains(first, `{"`) {
		t.Errorf("%.3000q", first)
	}
}

func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(i-40, 0)
	return fmt.Sprintf("at byte %d: %q, %q", i, a[from:min(i+80, len(a))], b[from:min(i+80, len(b))])
}
