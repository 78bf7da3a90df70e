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
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// echo is a need of a trivial kind: an HTTP server that responds with its seed.
type echo struct {
	name     string
	log      *[]string // of all needs
	measured bool
	server   *httptest.Server
	seed     string
}

// kind is the kind of which it is the only need, opened after others.
func (e *echo) kind(after ...string) needs.Kind {
	return needs.Kind{
		Name: e.name, Read: func(strictyaml.Value) bench.NeedSpec { return bench.NeedSpec{} },
		Find: func(n bench.NeedSpec, _ bench.Profile, _ string) (needs.Found, error) {
			return needs.Found{Needs: []needs.Named{{Name: n.Name, After: after, Need: e}}}, nil
		},
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

func (e *echo) Restore(context.Context) (changed string, err error) {
	if e.seed != "hello" {
		changed, e.seed = "it said "+e.seed, "hello"
	}
	return changed, nil
}

func (e *echo) Address() bench.NeedAddress { return bench.NeedAddress{URL: e.server.URL} }
func (e *echo) Info() bench.NeedInfo       { return bench.NeedInfo{From: bench.NeedExternal, Version: "1"} }

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

// TestSecondNeed: the packages of kinds are all that knows them. A run opens, seeds, restores, reads and closes any needs, in their order, and
// speaks of them by their names.
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
	_, filled, err := s.environment(bench.Service{Name: "c", Env: env}, bench.LaunchSpec{}, s.addresses())
	testenv.OK(t, err)
	testenv.Equal(t, filled["A"], front.server.URL+"/")

	front.seed = "bye"
	changed, err := s.RestoreNeeds(t.Context(), nil)
	testenv.OK(t, err)
	testenv.Equal(t, changed, "front: it said bye")
	testenv.Equal(t, len(s.ReadHost(t.Context()).Needs), 1, "only back has counters")

	front.server.Close()
	name, err := s.NeedsAlive(t.Context())
	testenv.Check(t, name == "front" && err != nil, "%s: %v", name, err)
	testenv.Fails(t, s.closeNeeds(t.Context()), "closed front\nclosed back")
	want := []string{"open back", "seed back", "open front", "seed front", "close front", "close back"}
	testenv.Check(t, slices.Equal(log, want), "%q", log)
}
