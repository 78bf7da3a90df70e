package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// echo is a need of a trivial kind: an HTTP server that responds with its seed.
type echo struct {
	name     string
	log      *[]string // of all needs
	measured bool
	restarts bool
	broken   error // of Restore
	password string
	server   *httptest.Server
	seed     string
}

// kind is the kind of which it is the only need, opened after others.
func (e *echo) kind(after ...string) needs.Kind {
	return needs.Kind{
		Name: e.name, Read: func(strictyaml.Value) bench.NeedSpec { return bench.NeedSpec{} },
		Find: func(n bench.NeedSpec, _ bench.Profile, _ string) (needs.Found, error) {
			return needs.Found{Needs: []needs.Named{{Name: n.Name, Need: e}}}, nil
		},
		After:    func(bench.NeedSpec) []string { return after },
		Restarts: func(bench.NeedSpec) bool { return e.restarts },
	}
}

func (e *echo) note(what string) { *e.log = append(*e.log, what+" "+e.name) }

func (e *echo) Open(_ context.Context, at needs.Place) error {
	e.note("open")
	e.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, e.seed) }))
	at.Progress(bench.Progress{Text: "listening"})
	return nil
}

func (e *echo) Seed(context.Context, func(bench.Progress)) (string, error) {
	e.note("seed")
	e.seed = "hello"
	return "one word", nil
}

func (e *echo) Restore(context.Context, bench.Selection) (changed string, err error) {
	if e.broken != nil {
		return "", e.broken
	}
	if e.seed != "hello" {
		changed, e.seed = "it said "+e.seed, "hello"
	}
	return changed, nil
}

func (e *echo) Rest(context.Context) error {
	e.note("rest")
	return nil
}

func (e *echo) Address() bench.NeedAddress {
	return bench.NeedAddress{URL: e.server.URL, Password: e.password}
}

func (e *echo) Info() bench.NeedInfo { return bench.NeedInfo{From: bench.NeedExternal, Version: "1"} }

func (e *echo) Alive(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.server.URL, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (e *echo) Read() *bench.NeedUsage {
	if !e.measured {
		return nil
	}
	return &bench.NeedUsage{Source: "/proc", CPU: time.Second}
}

func (e *echo) Close(context.Context) error {
	e.note("close")
	if e.server != nil {
		e.server.Close()
	}
	return errors.New("closed " + e.name)
}

// TestSecondNeed: the packages of kinds are all that knows them. A run opens, seeds, restores,
// reads and closes any needs, in their order, and speaks of them by their names.
func TestSecondNeed(t *testing.T) {
	var log, told, stages []string
	front, back := &echo{name: "front", log: &log}, &echo{name: "back", log: &log, measured: true}
	all := kinds.All
	t.Cleanup(func() { kinds.All = all })
	kinds.All = append(slices.Clone(all), front.kind("back"), back.kind())
	p, err := profile.Parse("p.yaml", []byte("contenders: [c]\nneeds: {front: {}, back: {}}\nrequests: [{get: /}]\nsteps: [1]\n"))
	testenv.OK(t, err)
	s := &site{env: noEnv, stream: event.New(time.Now), platform: fakePlatform{}}
	s.plan.Run.Profile = p
	testenv.OK(t, s.findNeeds())
	s.stream.Subscribe(func(r bench.Record) {
		switch e := r.Event.(type) {
		case bench.Notice:
			told = append(told, e.Text)
		case bench.Prepared:
			told = append(told, e.Needs[len(e.Needs)-1].String())
		}
	})
	for _, stage := range s.Stages() {
		note, err := stage.Do(t.Context(), func(p bench.Progress) { stages = append(stages, p.Text) })
		testenv.OK(t, err)
		stages = append(stages, string(stage.Phase)+" "+note)
	}
	s.stream.Close()
	testenv.Equal(t, strings.Join(stages, "; "), "listening; needs back: external, 1; seed one word; listening; needs front: external, 1; "+
		"seed one word")
	testenv.Equal(t, strings.Join(told, "; "), "back: external, 1; front (external) is not measured: it may limit steps without being "+
		"named as their bottleneck; front: external, 1")

	env := map[string]string{"A": "{{.Needs.front.URL}}/{{.Needs.none.URL}}"}
	_, filled, err := s.environment(bench.Service{Name: "c", Env: env}, bench.LaunchSpec{}, s.addresses(bench.Trial{Contender: "c"}))
	testenv.OK(t, err)
	testenv.Equal(t, filled["A"], front.server.URL+"/")

	front.seed = "bye"
	changed, err := s.RestoreNeeds(t.Context(), runner.Restore{Next: bench.Trial{Contender: "c"}})
	testenv.OK(t, err)
	testenv.Equal(t, changed, "front: it said bye")
	testenv.Equal(t, len(s.ReadHost(t.Context(), bench.Trial{Contender: "c"}).Needs), 1, "only back has counters")

	front.server.Close()
	name, err := s.NeedsAlive(t.Context(), bench.Trial{})
	testenv.Check(t, name == "front" && err != nil, "%s: %v", name, err)
	testenv.Fails(t, s.closeNeeds(t.Context()), "closed front\nclosed back")
	want := []string{"open back", "seed back", "open front", "seed front", "close front", "close back"}
	testenv.Check(t, slices.Equal(log, want), "%q", log)
}

// siteWith returns a site of a profile with needs, each of another kind, which are open.
func siteWith(t *testing.T, all ...*echo) *site {
	t.Helper()
	text, before := "", kinds.All
	t.Cleanup(func() { kinds.All = before })
	for _, e := range all {
		e.log = new([]string)
		text += "  " + e.name + ": {}\n"
		kinds.All = append(slices.Clone(kinds.All), e.kind())
	}
	p, err := profile.Parse("p.yaml", []byte("contenders: [c]\nrequests: [{get: /}]\nsteps: [1]\nneeds:\n"+text))
	testenv.OK(t, err)
	s := &site{env: noEnv, stream: event.New(time.Now), platform: fakePlatform{}}
	t.Cleanup(s.stream.Close)
	s.plan.Run.Profile = p
	testenv.OK(t, s.findNeeds())
	for _, stage := range s.Stages() {
		testenv.OK(t, testenv.Err(stage.Do(t.Context(), func(bench.Progress) {})))
	}
	t.Cleanup(func() { _ = s.closeNeeds(t.Context()) })
	return s
}

// TestNeeds_Restart: a need that starts again for each trial is reported, unless no contender has
// got its address since. If that failed it need not respond before the next trial, which starts it
// again; in a trial it has to.
func TestNeeds_Restart(t *testing.T) {
	db, cache := &echo{name: "db", restarts: true}, &echo{name: "cache"}
	s := siteWith(t, db, cache)
	restore := func() (started []string, err error) {
		_, err = s.RestoreNeeds(t.Context(), runner.Restore{
			Next: bench.Trial{Contender: "c"}, Starts: func(need string) { started = append(started, need) },
		})
		return started, err
	}
	started, err := restore()
	testenv.OK(t, err)
	testenv.Equal(t, started, []string{"db"}, "before the first trial")
	started, _ = restore()
	testenv.Equal(t, len(started), 0, "unused")
	s.addresses(bench.Trial{Contender: "c"})
	started, _ = restore()
	testenv.Equal(t, started, []string{"db"}, "used")

	db.server.Close()
	name, err := s.NeedsAlive(t.Context(), bench.Trial{})
	testenv.Check(t, name == "db" && err != nil, "%s: %v", name, err)
	db.broken = errors.New("its volume is full")
	testenv.Fails(t, testenv.Err(restore()), "db: its volume is full")
	testenv.OK(t, testenv.Err(s.NeedsAlive(t.Context(), bench.Trial{})))
	started, _ = restore()
	testenv.Equal(t, started, []string{"db"}, "after a failure")
	db.broken = nil
	testenv.OK(t, testenv.Err(restore()))
	testenv.Check(t, testenv.Err(s.NeedsAlive(t.Context(), bench.Trial{})) != nil, "restored, but not alive")
}

// TestNeeds_Passwords: the password of a need is masked in all output from its start on, unless it
// is a word of its description.
func TestNeeds_Passwords(t *testing.T) {
	s := siteWith(t, &echo{name: "db", password: "from-a-file"}, &echo{name: "cache", password: "external"})
	e := s.mask().Event(bench.LogLines{Lines: []bench.LogLine{{Text: "connecting as app:from-a-file to external"}}})
	testenv.Equal(t, e.(bench.LogLines).Lines[0].Text, "connecting as app:*** to external")
	uses := Plan{Run: bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{
		{Name: "db", Of: []byte(`{"environment": {"POSTGRES_PASSWORD": "${PGPASSWORD}"}}`), URL: "postgres://app:${OTHER}@h"},
	}}}}
	testenv.Equal(t, uses.secrets(func(name string) string { return "of " + name }), []string{"of PGPASSWORD", "of OTHER"})
	testenv.Fails(t, missingEnv(uses.Run, nil, func(string) string { return "" }),
		"environment variable unset or empty: PGPASSWORD (need db), OTHER (need db)")
}

// TestNeeds_Unknown: a contender with the address of a need that the run does not have is refused.
// {{.Elastic.URL}} is empty in a run without needs.
func TestNeeds_Unknown(t *testing.T) {
	c := bench.Selection{Contender: "c"}
	s := &site{}
	s.plan.Services = map[bench.Selection]bench.Service{c: {Name: "c", Env: map[string]string{"URL": "x{{.Needs.cahce.URL}}"}}}
	s.plan.Run.Profile = bench.Profile{Contenders: []bench.Selection{c}}
	testenv.Fails(t, unknownNeeds(s.plan.Run.Profile, s.plan.Services), "contender c uses {{.Needs.cahce.URL}}, but the profile has no need \"cahce\"; write it in the profile, or in its manifest")
	s.plan.Run.Profile.Needs = []bench.NeedSpec{{Name: "db"}}
	testenv.Fails(t, unknownNeeds(s.plan.Run.Profile, s.plan.Services), "contender c uses {{.Needs.cahce.URL}}, but the profile has no need \"cahce\"; its needs: db")
	s.plan.Run.Profile.Needs = append(s.plan.Run.Profile.Needs, bench.NeedSpec{Name: "cache"})
	testenv.Fails(t, unknownNeeds(s.plan.Run.Profile, s.plan.Services), "contender c uses {{.Needs.cahce.URL}}, but the profile has no need \"cahce\"; did you mean `cache`?")
	s.plan.Services[c] = bench.Service{Name: "c", Env: map[string]string{"URL": "{{.Needs.cache.URL}}"}}
	testenv.OK(t, unknownNeeds(s.plan.Run.Profile, s.plan.Services))
	for _, field := range append(bench.Connections(), "URL") {
		s.plan.Services[c] = bench.Service{Name: "c", Env: map[string]string{"A": "{{.Needs.db.Host}}", "URL": "x{{ .Needs.db." + field + " }}"}}
		for external, want := range map[string]string{"127.0.0.1:1": "`external` of need \"db\" has no more than an address", "postgres://h:1/d": ""} {
			s.plan.Run.Profile.Needs = []bench.NeedSpec{{Name: "db", From: bench.NeedExternal, URL: external}}
			err := unknownNeeds(s.plan.Run.Profile, s.plan.Services)
			if testenv.Check(t, (err == nil) == (want == ""), "%s, %s: %v", field, external, err); want != "" {
				testenv.Fails(t, err, want)
			}
		}
	}
	s.plan.Services[c] = bench.Service{Name: "c", Env: map[string]string{"URL": "{{.Elastic.URL}}"}}
	testenv.Fails(t, unknownNeeds(s.plan.Run.Profile, s.plan.Services), "uses {{.Elastic.URL}}")
	s.plan.Run.Profile.Needs = nil
	testenv.OK(t, unknownNeeds(s.plan.Run.Profile, s.plan.Services))
}

// TestNeeds_Recorded: a run that is resumed has the address of an external need, and its password
// if that was only named.
func TestNeeds_Recorded(t *testing.T) {
	for given, want := range map[string]string{
		"10.0.0.5:5432": "10.0.0.5:5432", "postgres://app:${PGPASSWORD}@h/shop": "postgres://app:${PGPASSWORD}@h/shop",
		"postgres://app:pw@h/shop": "postgres://h/shop", "http://${U}:x${P}@h": secret.Unreadable, "": "",
	} {
		run := public(bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{{Name: "db", URL: given}}}})
		testenv.Equal(t, run.Profile.Needs[0].URL, want, given)
	}
}
