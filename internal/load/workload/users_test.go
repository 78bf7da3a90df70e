package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// write begins and writes one request of a spec.
func write(t testing.TB, p Plan) []byte {
	t.Helper()
	m := testenv.Must(NewMix(p))(t)
	var u User
	testenv.OK(t, m.Begin(&u))
	_, raw := m.Write(&u, nil)
	return raw
}

// Any value reaches the server unchanged: it is escaped for path, query, form, JSON or header.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"", "a", "a b&c=d?e/f#g%41+", `"\` + "\u2028<>", "žluť", "{item}", "\x00\xff", "xLocbenchPlace0x", "..", "%2F"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if (values.Use{Header: true}).Fits([]byte(value)) != nil || strings.TrimSpace(value) != value || strings.ToValidUTF8(value, "") != value {
			return
		}
		p := spec("http://h")
		p.Variables = []bench.Variable{{Name: "v", List: []string{value}, Draw: bench.DrawRandom}}
		p.Requests = []bench.Request{{Name: "r", Method: "POST", Path: "/p-{v}-/x?q={v}&w=1", Header: map[string]string{"X-V": "-{v}-"}, Encoding: bench.JSONBody, Body: `{"a":"-{v}-","n":["{v}"]}`}}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(write(t, p))))
		testenv.Need(t, err == nil, "%q: %v", value, err)
		body := testenv.Must(io.ReadAll(r.Body))(t)
		var doc struct {
			A string
			N []string
		}
		if err := json.Unmarshal(body, &doc); err != nil || doc.A != "-"+value+"-" || len(doc.N) != 1 || doc.N[0] != value {
			t.Errorf("%q: body %q, %v", value, body, err)
		}
		testenv.Check(t, r.URL.Path == "/p-"+value+"-/x" && r.URL.Query().Get("q") == value && r.URL.Query().Get("w") == "1" && r.Header.Get("X-V") == "-"+value+"-",
			"%q: %s, header %q", value, r.RequestURI, r.Header.Get("X-V"))
		p.Requests[0].Encoding, p.Requests[0].Body = bench.FormBody, "a={v}&b=-{v}-"
		if r, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(write(t, p)))); err != nil {
			t.Fatal(err)
		}
		body, _ = io.ReadAll(r.Body)
		form, err := url.ParseQuery(string(body))
		testenv.Check(t, err == nil && form.Get("a") == value && form.Get("b") == "-"+value+"-",
			"%q: form %q, %v", value, body, err)
	})
}

// Generated values differ in each step and trial, and repeat with the seed.
func TestGenerators(t *testing.T) {
	p := spec("http://h")
	p.Variables = []bench.Variable{{Name: "u", Make: bench.GenerateUUID}, {Name: "s", Make: bench.GenerateString, Length: 12}, {Name: "q", Make: bench.GenerateSequence},
		{Name: "now", Make: bench.GenerateNow}, {Name: "unix", Make: bench.GenerateUnix}}
	p.Requests = []bench.Request{{Name: "r", Path: "/{u}/{s}/{q}/{now}/{unix}"}}
	form := regexp.MustCompile(`^GET /([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})/([A-Za-z0-9]{12})/(\d+)/(\S+)/(\d{13})$`)
	seen := map[string]bool{}
	p.Life = &TrialState{}
	for step := range 2 {
		for i, line := range asked(t, p, 1000) {
			m := form.FindStringSubmatch(line)
			testenv.Need(t, m != nil && !seen[m[1]] && !seen[m[2]] && m[3] == fmt.Sprint(1000*step+i+1),
				"step %d, request %d: %q", step, i, line)
			if at, err := url.PathUnescape(m[4]); err != nil || at == "" {
				t.Fatal(err)
			} else if when, err := time.Parse(time.RFC3339, at); err != nil || when.IsZero() {
				t.Fatalf("%q: %v", at, err)
			}
			seen[m[1]], seen[m[2]] = true, true
		}
	}
	first := func(l *TrialState) string {
		p.Life = l
		return form.FindStringSubmatch(asked(t, p, 1)[0])[1]
	}
	if a, b := first(&TrialState{}), first(&TrialState{}); a != b || first(&TrialState{Salt: 1 << 32}) == a {
		t.Error("the same seed and trial make other values, or another trial the same")
	}
}

// In turn and once continue from step to step.
func TestDrawsOfATrial(t *testing.T) {
	p := spec("http://h")
	p.Life = &TrialState{}
	p.Variables = []bench.Variable{{Name: "t", List: []string{"a", "b", "c"}, Draw: bench.DrawInTurn}, {Name: "o", Range: &bench.Range{From: 5, To: 9}, Draw: bench.DrawOnce}}
	p.Requests = []bench.Request{{Name: "r", Path: "/{t}{o}"}}
	got := append(asked(t, p, 2), asked(t, p, 3)...)
	testenv.Equal(t, strings.Join(got, " "), "GET /a5 GET /b6 GET /c7 GET /a8 GET /b9")
	m := testenv.Must(NewMix(p))(t)
	var u User
	if err := m.Begin(&u); err == nil || err.Error() != "request \"r\": variable \"o\" has no value left: all 5 were taken; give it more values, or write `draw: in_turn`" {
		t.Error(err)
	}
}
