package app

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// Copy returns a house for each place, in the street of its network.
func (h *house) Copy(_ context.Context, at []needs.Place) (all []needs.Need, err error) {
	h.note("copy")
	delete(h.running, h.name)
	for _, place := range at {
		all = append(all, &house{name: h.name, street: alleys[place.Containers.(needs.Of).Group], service: place.Of})
	}
	return all, nil
}

// alleys are the streets in the networks of contenders.
var alleys = map[*docker.Group]*street{}

// interleavedSite returns a site of an interleaved run whose needs are open and seeded: db and
// topics, of which each contender has its own, a shared one, and one that only the first gets.
func interleavedSite(t *testing.T, contenders ...bench.Selection) (s *site, at *street, f *fakedocker.Engine) {
	t.Helper()
	s, f = &site{env: noEnv, stream: event.New(time.Now), platform: fakePlatform{}}, fakedocker.New()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_HOST", "tcp://"+server.Listener.Addr().String())
	engine := testenv.Must(docker.Connect(t.Context()))(t)
	t.Cleanup(func() { testenv.OK(t, engine.Close()) })
	t.Cleanup(s.stream.Close)
	at = &street{running: map[string]*house{}}
	s.plan.Run.Profile.Contenders, s.plan.Run.Profile.Interleave = contenders, 100*time.Millisecond
	add := func(name, kind string, of []bench.Selection, after ...string) {
		s.plan.Run.Profile.Needs = append(s.plan.Run.Profile.Needs, bench.NeedSpec{Name: name, Kind: kind, From: bench.NeedContainer, For: of})
		h := &house{name: name, street: at}
		s.needs = append(s.needs, needs.Named{Name: name, For: of, After: after, Restarts: kind == "container", Own: kind == "container", Need: h})
	}
	add("read", "elasticsearch", nil)
	add("db", "container", nil)
	add("topics", "container", nil, "db")
	add("mail", "container", contenders[:1])
	s.apart = func(ctx context.Context, of string) (*docker.Group, error) {
		group, err := engine.NewGroup(ctx, "net-"+of, "", false)
		alleys[group] = &street{running: map[string]*house{}}
		return group, err
	}
	for _, stage := range s.Stages() {
		testenv.OK(t, testenv.Err(stage.Do(t.Context(), func(bench.Progress) {})))
	}
	return s, at, f
}

// since returns what the needs of a trial have done since the last time, sorted: some start at the
// same time.
func (s *site) since(of bench.Trial) string {
	at := alleys[s.own[s.seatOf(of)].group]
	defer func() { at.log = nil }()
	slices.Sort(at.log)
	return strings.Join(at.log, ", ")
}

// TestOwnNeeds: in an interleaved run each contender has its own needs, in its own network, at its
// addresses and with its readings. They start before the first trial of a round, and nothing
// that happens to one of them changes those of another contender.
func TestOwnNeeds(t *testing.T) {
	s, at, f := interleavedSite(t, bench.Selection{Contender: "old"}, bench.Selection{Contender: "new"})
	old, other := bench.Trial{Contender: "old", Round: 1}, bench.Trial{Contender: "new", Round: 1}
	testenv.Equal(t, strings.Join(at.log[8:], ", "), "copy mail., copy topics., copy db.")
	testenv.Equal(t, len(at.running), 1, "only the shared one runs")

	var starts []string
	restore := func(r runner.Restore) error {
		r.Starts = func(need string) { starts = append(starts, need) }
		return testenv.Err(s.RestoreNeeds(t.Context(), r))
	}
	testenv.OK(t, restore(runner.Restore{Next: old, Soon: []bench.Trial{other}}))
	testenv.Equal(t, strings.Join(starts, " "), "db topics mail")
	testenv.Equal(t, s.since(old), "start db.old, start mail.old, start topics.old")
	testenv.Equal(t, s.since(other), "start db.new, start topics.new", "at the same time")
	starts = nil
	testenv.OK(t, restore(runner.Restore{Next: other}))
	testenv.Equal(t, strings.Join(starts, " ")+s.since(other), "", "they have started")

	testenv.Equal(t, s.addresses(old).Needs, map[string]bench.NeedAddress{"read": {}, "db": {Host: "old"}, "topics": {Host: "old"}, "mail": {Host: "old"}})
	testenv.Equal(t, s.addresses(other).Needs, map[string]bench.NeedAddress{"read": {}, "db": {Host: "new"}, "topics": {Host: "new"}})
	for trial, want := range map[bench.Trial]string{old: "net-old", other: "net-new"} {
		spec, err := s.Spec(trial, bench.Service{}, bench.Artifact{})
		testenv.OK(t, err)
		testenv.Contains(t, spec.Joins, want)
	}
	testenv.Equal(t, len(s.ReadHost(t.Context(), old).Needs), 4, "with the shared one")
	testenv.Equal(t, len(s.ReadHost(t.Context(), other).Needs), 3)
	testenv.Equal(t, len(s.ReadOwn(other)), 2)

	s.needsOf(old)[1].Need.(*house).dead = true
	testenv.OK(t, restore(runner.Restore{Ended: other}))
	testenv.Fails(t, restore(runner.Restore{Ended: old}), "db: it ended in the trial")
	testenv.OK(t, restore(runner.Restore{Next: other}))
	testenv.OK(t, restore(runner.Restore{Next: old}))
	testenv.Equal(t, s.since(old)+s.since(other), "start db.old")

	var happened []string
	for _, trial := range []bench.Trial{old, other} {
		defer s.WatchNeeds(trial, func(in bench.Incident) { happened = append(happened, trial.Contender+" "+in.Text) })()
	}
	s.placeOf("old", nil).Happened(bench.Incident{Text: "own"})
	testenv.Equal(t, strings.Join(happened, ", "), "old own")
	s.placeOf("", nil).Happened(bench.Incident{Text: "shared"})
	testenv.Equal(t, len(happened), 3)
	s.WatchNeeds(old, nil)()
	s.placeOf("old", nil).Happened(bench.Incident{Text: "over"})
	testenv.Equal(t, len(happened), 3)

	testenv.OK(t, s.closeNeeds(t.Context()))
	testenv.Equal(t, len(f.Removed()), 2, "networks")
}

// TestOwnNeeds_Itself: the two trials of a contender that is interleaved with itself have their own
// needs, too.
func TestOwnNeeds_Itself(t *testing.T) {
	s, _, _ := interleavedSite(t, bench.Selection{Contender: "a"})
	first, second := bench.Trial{Contender: "a", Round: 3}, bench.Trial{Contender: "a", Round: 4}
	testenv.OK(t, testenv.Err(s.RestoreNeeds(t.Context(), runner.Restore{Next: first, Starts: func(string) {}})))
	testenv.Equal(t, s.since(first), "start db.a, start mail.a, start topics.a")
	testenv.Equal(t, s.since(second), "")
	testenv.Equal(t, s.addresses(second).Needs["db"].Host, "a-2")
}

// TestOwnNeeds_Plain: contenders that are not interleaved share their needs.
func TestOwnNeeds_Plain(t *testing.T) {
	s := &site{}
	s.plan.Run.Profile.Needs = []bench.NeedSpec{{Name: "db", Kind: "container", From: bench.NeedContainer}}
	s.needs = []needs.Named{{Name: "db", Need: &house{}}}
	testenv.OK(t, s.copyNeeds(t.Context(), nil))
	testenv.Check(t, s.own == nil && s.ReadOwn(bench.Trial{}) == nil, "%v", s.own)
}
