package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
)

// street has the needs that run, by their names, of which there is one at a time.
type street struct {
	mu      sync.Mutex
	running map[string]*house
	log     []string
}

// house is a need that starts again for each trial.
type house struct {
	name string
	*street
	service string
	dead    bool // it ended in the trial
}

func (h *house) note(what string) { h.log = append(h.log, what+" "+h.name+"."+h.service) }

func (h *house) start(what string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[h.name] == h {
		return nil
	}
	if h.running[h.name] != nil {
		return errors.New("another one has the name " + h.name)
	}
	h.running[h.name] = h
	h.note(what)
	return nil
}

func (h *house) Open(context.Context, needs.Place) error { return h.start("open") }

func (h *house) Seed(context.Context, func(bench.Progress)) (string, error) {
	h.note("seed")
	return "", nil
}

func (h *house) Restore(_ context.Context, of bench.Selection) (string, error) {
	if h.dead {
		h.dead = false
		delete(h.running, h.name)
		return "", errors.New("it ended in the trial")
	}
	if of == (bench.Selection{}) {
		return "", nil
	}
	return "", h.start("start")
}

func (h *house) Rest(context.Context) error {
	if h.running[h.name] == h {
		delete(h.running, h.name)
		h.note("stop")
	}
	return nil
}

func (h *house) Address() bench.NeedAddress  { return bench.NeedAddress{Host: h.service} }
func (h *house) Alive(context.Context) error { return nil }
func (h *house) Close(context.Context) error { return nil }
func (h *house) Info() bench.NeedInfo        { return bench.NeedInfo{From: bench.NeedContainer} }
func (h *house) Read() (u *bench.NeedUsage) {
	if h.running[h.name] == h {
		u = &bench.NeedUsage{}
	}
	return u
}

// TestNeeds_PerService: of needs that each service has for itself, only those of the trial's
// contender run, and have their names; one that only some contenders get rests for the others. A
// need that ended fails its trial only.
func TestNeeds_PerService(t *testing.T) {
	at := &street{running: map[string]*house{}}
	s := &site{env: noEnv, stream: event.New(time.Now), platform: fakePlatform{}}
	t.Cleanup(s.stream.Close)
	goes, node := bench.Trial{Contender: "goes", Variant: "pooled"}, bench.Trial{Contender: "node"}
	each := func(of bench.Trial) []bench.Selection { return []bench.Selection{selection(of)} }
	add := func(name, service string, of []bench.Selection, after ...string) *house {
		h := &house{name: name, street: at, service: service}
		s.needs = append(s.needs, needs.Named{Name: name, Service: service, For: of, After: after, Restarts: true, Need: h})
		return h
	}
	add("topics", "goes", each(goes), "db")
	add("db", "node", each(node))
	add("queue", "", each(node))
	db := add("db", "goes", each(goes))
	add("cache", "", nil)
	testenv.OK(t, needs.Order(s.needs))
	since := func() string {
		defer func() { at.log = nil }()
		return strings.Join(at.log, ", ")
	}
	sorted := func() string { // needs start at the same time
		slices.Sort(at.log)
		return since()
	}
	for _, stage := range s.Stages() {
		testenv.OK(t, testenv.Err(stage.Do(t.Context(), func(bench.Progress) {})))
	}
	testenv.Equal(t, since(), "open queue., seed queue., open cache., seed cache., open db.goes, seed db.goes, open topics.goes, "+
		"seed topics.goes, stop topics.goes, stop db.goes, open db.node, seed db.node, stop db.node")
	var labels []string
	for _, n := range s.plan.Run.Needs {
		labels = append(labels, n.Label())
	}
	testenv.Equal(t, strings.Join(labels, ", "), "queue, cache, db of goes, topics of goes, db of node")

	restore := func(of bench.Trial) (starts string, err error) {
		_, err = s.RestoreNeeds(t.Context(), runner.Restore{Next: of, Starts: func(need string) { starts += need + " " }})
		return starts, err
	}
	starts, err := restore(goes)
	testenv.OK(t, err)
	testenv.Equal(t, starts, "cache db topics ")
	testenv.Equal(t, since(), "stop queue., start db.goes, start topics.goes")
	testenv.Equal(t, s.addresses(goes).Needs, map[string]bench.NeedAddress{"cache": {}, "db": {Host: "goes"}, "topics": {Host: "goes"}})
	testenv.Equal(t, len(s.ReadHost(t.Context(), goes).Needs), 3)

	db.dead = true
	testenv.Fails(t, testenv.Err(restore(node)), "db of goes: it ended in the trial")
	starts, err = restore(node)
	testenv.OK(t, err)
	testenv.Equal(t, starts, "queue cache db ")
	testenv.Equal(t, sorted(), "start db.node, start queue., stop topics.goes")
	testenv.Equal(t, s.addresses(node).Needs["db"].Host, "node")
	starts, err = restore(bench.Trial{})
	testenv.OK(t, err)
	testenv.Equal(t, starts+since(), "", "after the last trial")
}
