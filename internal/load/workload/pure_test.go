package workload

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// All mistakes of a spec.
func TestNewMix_Mistakes(t *testing.T) {
	one := func(r bench.Request, variables ...bench.Variable) Plan {
		s := spec("http://user:secret@h")
		s.Requests, s.Variables = []bench.Request{r}, variables
		return s
	}
	other := func(change func(s *Plan)) Plan {
		s := spec("http://user:secret@h")
		change(&s)
		return s
	}
	post := func(body string) bench.Request {
		return bench.Request{Name: "r", Method: "POST", Path: "/", Body: body}
	}
	file := filepath.Join(t.TempDir(), "f.csv")
	testenv.OK(t, os.WriteFile(file, []byte("a,b\n1,2\n"), 0o600))
	column := bench.Variable{Name: "v", File: file}
	data := testenv.Must(values.OpenData([]bench.Variable{column}, []bench.Request{post("{v.a}")}))(t)
	all := map[string]Plan{
		"all at once": {}, "scheme": spec("ftp://user:secret@h"), "no scheme": spec("user:secret@h:80"),
		"escape": spec("http://user:sec%zzret@h"), "port": spec("http://user:secret@h:port"),
		"no host":     spec("http://:8080"),
		"connections": other(func(s *Plan) { s.Step.Connections = 1 << 20 }),
		"no ids":      other(func(s *Plan) { s.IDs = nil }),
		"no request":  other(func(s *Plan) { s.Step.Request = "c" }), "slash": one(bench.Request{Path: "x"}),
		"weight": other(func(s *Plan) {
			s.Requests = append(s.Requests, bench.Request{Name: "0", Path: "/"},
				bench.Request{Name: "1", Path: "/", Weight: 1})
		}),
		"negative weight": one(bench.Request{Path: "/", Weight: -1}), "path": one(bench.Request{Path: "/%zz"}),
		"no weight of a session": other(func(s *Plan) { s.Sessions = []bench.Session{{Name: "s"}} }),
		"method":                 one(bench.Request{Path: "/", Method: "G T"}),
		"languages":              one(bench.Request{Path: "/{language}"}),
		"distribution":           one(bench.Request{Path: "/{id}", IDs: bench.IDSpec{Distribution: "normal"}}),
		"exponent":               one(bench.Request{Path: "/{id}", IDs: bench.IDSpec{Distribution: "zipf", Exponent: 1}}),
		"query":                  one(bench.Request{Path: "/?{x}"}), "body": one(post("{x}")),
		"header":    one(bench.Request{Path: "/", Header: map[string]string{"A": "{x}"}}),
		"file name": one(bench.Request{Method: "POST", Path: "/", Multipart: []bench.Field{{FileName: "{x}"}}}),
		"field":     one(bench.Request{Method: "POST", Path: "/", Multipart: []bench.Field{{Value: "{x}"}}}),
		"file":      one(post("{v.a}"), bench.Variable{Name: "v", File: "f"}),
		"column":    one(post("{v.c}"), column),
		"row":       one(post("{v.a}"), bench.Variable{Name: "v", List: []string{"1"}}),
		"save":      one(bench.Request{Path: "/", Save: []bench.Save{{Name: "v", From: bench.FromRegex, Of: "("}}}),
		"expect": one(bench.Request{Path: "/", Repeat: &bench.Repeat{
			Until: bench.Expectation{"contains": "{x}"},
		}}),
		"link": other(func(s *Plan) {
			s.Requests[0].Path, s.Life = "{v}", &TrialState{Saved: Saved{Values: map[string]string{"v": "1"}}}
		}),
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		s.Data = data
		_, err := NewMix(s)
		fmt.Fprintf(&b, "%s: %v\n", name, err)
	}
	testenv.Golden(t, "testdata/mistakes.txt", b.String())
}

// What a Set-Cookie header says.
func TestSetCookie(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{
		"a=1", " a = b c ; x", "a", "=1", "", "a=", `a="1=2"`, "a=1; Path=/x", "a=1; path = /x ; PATH=y", "a=1;path",
		"a=1; Domain=.x.Y", "a=1;domain",
		"a=1; Secure; HttpOnly", "a=1; secured", "a=1; Max-Age=0", "a=1; max-age=1", "a=1; Max-Age=-1",
		"a=1; Max-Age=", "a=1; Max-Age=-",
		"a=1; Max-Age=34559999", "a=1; Max-Age=34560001", "a=1; Max-Age=99999999999999999999", "a=1; Max-Age=1x",
		"a=1; Max-Age=9", "a=1; Max-Age=/",
		"a=1; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:09 GMT",
		"a=1; Expires=Thu, 01 Jan 1970 00:00:09 GMT; Max-Age=5",
		"a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=1; Expires=Thu, 01 Jan 1800 00:00:00 GMT",
		"a=1; Expires=x; Max-Age=x",
		"a=1; Expires=Thu, 01-Jan-1970 00:16:41 GMT", "a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT", "a=1; Expires=Thursday, 01-Jan-70 00:16:41 GMT",
		"a=1; Expires=Thu, 01 Jan 1970 00:16:40 GMT", "a=1; Expires=Thu, 01 Jan 1970 00:16:41 GMT",
	} {
		now := time.Unix(1000, 0)
		c, ok := parseSetCookie([]byte(text), now)
		fmt.Fprintf(&b, "%s\n\t%q %q, path %q, domain %q, secure %t, ends %d, over %t, %t\n",
			text, c.name, c.value, c.path, c.domain, c.secure, c.expires, c.over(now), ok)
	}
	b.WriteString("\n")
	for _, text := range []string{
		"Wed, 09 Jun 2060 10:18:14 GMT", "Wed, 09-Jun-2060 10:18:14 GMT", "Wed, 09 Jun 2060 10:18:14", "10:18:14 2060 09 JUNE", "Wed, 31 Jun 2060 10:18:14 GMT", "",
	} {
		at, ok := cookieDate([]byte(text))
		fmt.Fprintf(&b, "%q: %s, %t\n", text, at.Format(time.RFC3339), ok)
	}
	testenv.Golden(t, "testdata/set-cookie.txt", b.String())
}

// How values are written at their places, and which parts of a URL cookies are for.
func TestEncoding(t *testing.T) {
	var b strings.Builder
	ascii := make([]byte, 0x80)
	for i := range ascii {
		ascii[i] = byte(i)
	}
	for name, e := range []encoding{plain, inPath, inQuery, inHeader, inJSON, inQuotes, asLink} {
		for _, text := range []string{string(ascii), "azAZ09-_.~", "a b", "é\xff\x80", ""} {
			fmt.Fprintf(&b, "%d: %q\n", name, e.append([]byte(">"), []byte(text)))
		}
	}
	fmt.Fprintf(&b, "in a link: %q\n", appendTarget(nil, append(ascii, 0x80, 0xff)))
	for _, target := range []string{"", "/", "/a", "/a/", "/a/b?c/d", "?/x", "x/y"} {
		fmt.Fprintf(&b, "path of a cookie from %q: %q\n", target, defaultPath([]byte(target)))
	}
	for _, path := range []string{"/", "/a", "/a/", "/a/b", "/ab", ""} {
		for _, of := range []string{"/", "/a", "/a/", ""} {
			fmt.Fprintf(&b, "%q on %q: %t\n", path, of, onPath([]byte(path), []byte(of)))
		}
	}
	for _, host := range []string{"a.test", "b.A.test", "ba.test", "test", "1.2.3.4", "4.a.test", "[::1]", "::a.test"} {
		for _, domain := range []string{"A.test", "3.4", "1.2.3.4", ".test"} {
			fmt.Fprintf(&b, "%q within %q: %t\n", host, domain, within(host, []byte(domain)))
		}
	}
	for _, header := range []string{"", "a", "a=1", "b=1; a=2", "b=1;a", "ab=1; c", " a =1"} {
		fmt.Fprintf(&b, "a in %q: %t\n", header, names([]byte(header), []byte("a")))
	}
	for _, status := range []int{200, 300, 301, 302, 303, 304, 307, 308} {
		fmt.Fprintf(&b, "%d: %q\n", status, RedirectHint(status, []byte("/x")))
	}
	fmt.Fprintf(&b, "%q %q\n", RedirectHint(301, nil), RedirectHint(301, []byte(strings.Repeat("x", 201))))
	testenv.Golden(t, "testdata/encoding.txt", b.String())
}

// A jar has limits, and an order.
func TestJar(t *testing.T) {
	var b strings.Builder
	var many []string
	for i := range maxCookies + 1 {
		many = append(many, fmt.Sprintf("%d=1; Path=/%s", i, strings.Repeat("x/", i%3)))
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range [][]string{
		many, many[:maxCookies], {"a=" + long(maxCookie-1)}, {"a=" + long(maxCookie)},
		{"a=1; Path=/" + long(maxCookie-1)}, {"a=1; Path=/" + long(maxCookie)},
		{"a=" + long(4000), "b=" + long(4000), "c=" + long(4000), "d=" + long(4000), "e=" + long(339)},
		{"a=" + long(4000), "b=" + long(4000), "c=" + long(4000), "d=" + long(4000), "e=" + long(340)},
		{"a=1", "b=2; Path=/x", "c=3", "a=22", "d=4; Path=/x/y", "b=; Path=/x; Max-Age=0", "e=5; Path=/x/z",
			"a=6; Domain=H.test", "a=7; Domain=h.Test"},
		{"a=1; Domain=h.test", "a=2; Domain=h.test; Max-Age=0", "b=3; Max-Age=0"},
	} {
		var j, again Jar
		keepCookies(&j, "http://h.test/", c...)
		keepCookies(&again, "http://h.test/", "y=1", "z=2")
		again.copy(&j)
		for _, j := range []*Jar{&j, &again} {
			fmt.Fprintf(&b, "%d made, %d bytes:", j.made, j.size)
			for _, c := range j.cookies {
				fmt.Fprintf(&b, " %.9q", c.text)
			}
			fmt.Fprintf(&b, "; to /x/y: %.30q\n", sentCookies(j, "http://h.test/x/y", ""))
		}
		value, ok := again.value("a")
		fmt.Fprintf(&b, "a=%.5s %t\n", value, ok)
		again.copy(nil)
		testenv.Check(t, again.size == 0 && len(again.cookies) == 0, "a copy of no jar is not empty")
	}
	testenv.Golden(t, "testdata/jar.txt", b.String())
}

// The jobs of open loops, and how they are counted. Moments are in ms.
func TestFeed(t *testing.T) {
	for name, f := range map[string]struct {
		step bench.Step
		at   []int
	}{
		"a rate": {bench.Step{Rate: 10, Duration: time.Second}, []int{0, 99, 100, 550, 1049, 1050, 1051}},
		"a ramp": {bench.Step{Rate: 10, RampTo: 30, Duration: 500 * time.Millisecond},
			[]int{0, 300, 550, 600}},
		"max_requests": {bench.Step{Rate: 10, Duration: time.Second, MaxRequests: 4},
			[]int{0, 200, 290, 300, 300, 400}},
		"a short step": {bench.Step{Rate: 10, Duration: 200 * time.Millisecond, MaxRequests: 4},
			[]int{0, 150, 199, 200, 200}},
		"users": {bench.Step{Arrivals: &bench.Arrivals{Users: 4, Over: time.Second, Requests: 3},
			Duration: time.Second},
			[]int{0, 249, 250, 740, 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b strings.Builder
				rec := record.New(f.step, nil)
				c := rec.NewCounters()
				feed := NewFeed(rec, f.step)
				rec.Begin(1)
				started := time.Now()
				for _, ms := range f.at {
					time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(started))
					for {
						j, wake, ok := feed.Next(rec.Now(), c)
						if !ok {
							fmt.Fprintf(&b, "at %d ms: none before %d ns, over %t; scheduled %d, rate %g\n",
								ms, wake, feed.Over(), c.Scheduled, c.Rate)
							break
						}
						fmt.Fprintf(&b, "at %d ms: %+v\n", ms, j)
					}
					if ms == 0 && !rec.Bounded() && f.step.Arrivals == nil {
						time.Sleep(48 * time.Millisecond)
						rec.Answered(rec.Now(), 0, time.Second)
						rec.AwaitSteady(time.Second, nil)
					}
				}
				testenv.Golden(t, "testdata/feed-"+strings.ReplaceAll(name, " ", "-")+".txt", b.String())
			})
		})
	}
}

// A schedule follows its pacer from its origin on, and its connections follow from its rate.
func TestSchedule(t *testing.T) {
	s := NewSchedule(bench.Step{Rate: 10, RampTo: 20, Duration: 2 * time.Second})
	s.Begins(int64(time.Second))
	for at, want := range map[float64]float64{0: 10, 1e9: 10, 2e9: 15, 3e9: 20, 4e9: 20} {
		testenv.Equal(t, s.rate(at), want, at)
	}
	for _, c := range []struct {
		step        bench.Step
		limit, want int
	}{
		{bench.Step{Rate: 99}, 9, 1}, {bench.Step{Rate: 199}, 9, 1}, {bench.Step{Rate: 200}, 9, 2},
		{bench.Step{Rate: 1e6}, 9, 9},
		{bench.Step{Rate: 100, Arrivals: &bench.Arrivals{}}, 9, 0},
	} {
		testenv.Equal(t, InitialConnections(c.step, c.limit), c.want, c.step)
	}
	trial := TrialState{}
	if a, b, c := trial.Step(7), trial.Step(7), trial.Step(7); a != 7 || b != 0xd1342543de82ef95+7 || c-b != b-a {
		t.Errorf("seeds of steps: %x, %x, %x", a, b, c)
	}
	h := (Response{Head: []byte("A: 1\r\nb:2\r\n")}).Header()
	testenv.Check(t, h.Get("a") == "1" && h.Get("B") == "2", "header %v", h)
}

// Which responses are drawn.
func TestSampling(t *testing.T) {
	var b strings.Builder
	two := []bench.Request{{Name: "get", Path: "/", Weight: 2}, {Name: "b", Path: "/", Weight: 1}}
	for _, l := range []sampledLoad{
		{spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Second}, CheckEvery: 10}, requests: 100},
		{spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Second}, CheckQuota: 12, Requests: two},
			requests: 400},
		{spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Second}, CheckQuota: 12, CheckEvery: -1},
			requests: 600, slices: 3},
		{spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 300}, CheckQuota: 12},
			requests: 300, length: time.Second},
		{spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Second}, CheckQuota: -1, CheckBudget: .01,
			CheckEvery: 2}, requests: 500, cost: time.Millisecond},
		{
			spec:     Plan{Step: bench.Step{Connections: 1, Duration: time.Second}, CheckQuota: 3, CheckEvery: 1 << 30},
			requests: 4000,
			response: func(i int, _ *Request) (int, Response) { return 200 + i%3, Response{Cut: i%6 == 0} },
		},
	} {
		l.drawn = &b
		s := l.spec.Step
		fmt.Fprintf(&b, "%s, %d requests, quota %d, every %d, budget %g:", s.Duration, s.MaxRequests,
			l.spec.CheckQuota, l.spec.CheckEvery, l.spec.CheckBudget)
		l.run(t)
		b.WriteString("\n")
	}
	testenv.Golden(t, "testdata/sampling.txt", b.String())
}

// What links lead to.
func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"http://H:1": "http://H:1 h [h:1 x.y:80] false", "https://H": "https://H h [h:443 x.y:443] true",
		"http://[::1]": "http://[::1] ::1 [[::1]:80 x.y:80] false",
	} {
		u, _ := url.Parse(address)
		o, as := newOrigin(u, ""), newOrigin(u, "X.y")
		if got := fmt.Sprint(o.base, " ", o.host, " ", as.hosts, " ",
			o.secure); got != want || as.host != "x.y" || len(o.hosts) != 1 {
			t.Errorf("%s: %s, want %s; %+v", address, got, want, as)
		}
	}
}
