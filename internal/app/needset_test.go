package app

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// street has the needs that run, by their names, of which there is one at a time.
type street struct {
	mu      sync.Mutex
	running map[string]*house
	log     []string
}

func newStreet() *street { return &street{running: map[string]*house{}} }

// since returns what its needs have done since the last time, sorted: some start at the same time.
func (at *street) since() string {
	at.mu.Lock()
	defer at.mu.Unlock()
	all := at.log
	at.log = nil
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// house is a need of a trivial kind.
type house struct {
	name, service string
	*street
	restarts, unmeasured bool
	password             string
	said                 string // what Restore finds and mends
	down                 error  // it does not respond
	broken               error  // of each Restore
	dead                 bool   // it ended in the trial: the next Restore fails
}

// kind is the kind of which it is the only need, opened after others.
func (h *house) kind(after ...string) needs.Kind {
	return needs.Kind{
		Name: h.name, Read: func(strictyaml.Value) bench.NeedSpec { return bench.NeedSpec{} },
		Find: func(n bench.NeedSpec, _ bench.Profile, _ string) (needs.Found, error) {
			return needs.Found{Need: h}, nil
		},
		Traits: func(bench.NeedSpec) needs.Traits { return needs.Traits{After: after, Restarts: h.restarts} },
	}
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

func (h *house) Open(_ context.Context, at needs.Place) error {
	if at.Progress != nil {
		at.Progress(bench.Progress{Text: "listening"})
	}
	at.Hide(h.password)
	return h.start("open")
}

func (h *house) Seed(context.Context, func(bench.Progress)) (string, error) {
	h.note("seed")
	return "one word", nil
}

func (h *house) Restore(_ context.Context, of bench.Selection) (changed string, err error) {
	switch {
	case h.broken != nil:
		return "", h.broken
	case h.dead:
		h.dead = false
		delete(h.running, h.name)
		return "", errors.New("it ended in the trial")
	case h.said != "":
		changed, h.said = "it said "+h.said, ""
	case of != (bench.Selection{}):
		err = h.start("start")
	}
	return changed, err
}

func (h *house) Rest(context.Context) error {
	if h.running[h.name] == h {
		delete(h.running, h.name)
		h.note("stop")
	}
	return nil
}

func (h *house) Address() bench.NeedAddress {
	return bench.NeedAddress{Host: h.service, Password: h.password}
}
func (h *house) Alive(context.Context) error { return h.down }
func (h *house) Info() bench.NeedInfo        { return bench.NeedInfo{From: bench.NeedContainer, Version: "1"} }
func (h *house) Read() (u *bench.NeedUsage) {
	if h.running[h.name] == h && !h.unmeasured {
		u = &bench.NeedUsage{Source: "/proc", CPU: time.Second}
	}
	return u
}

func (h *house) Close(context.Context) error {
	h.note("close")
	return errors.New("closed " + h.name)
}

// needsSite returns a site without needs.
func needsSite(t *testing.T) *site {
	r := &record{env: noEnv, stream: event.New(time.Now)}
	n := &needset{record: r, begin: func(context.Context) error { return nil }}
	s := &site{record: r, needs: n, launcher: &launcher{record: r, needs: n, platform: fakePlatform{}}}
	t.Cleanup(s.stream.Close)
	return s
}

// openAll opens and seeds the needs of s.
func (s *site) openAll(t *testing.T) {
	for _, stage := range s.needs.Stages() {
		testenv.OK(t, testenv.Err(stage.Do(t.Context(), func(bench.Progress) {})))
	}
}

// siteOf returns a site of a profile with needs, each of another kind.
func siteOf(t *testing.T, all []*house, after map[string]string) *site {
	t.Helper()
	text, before := "", kinds.All
	t.Cleanup(func() { kinds.All = before })
	for _, h := range all {
		text += "  " + h.name + ": {}\n"
		kinds.All = append([]needs.Kind{h.kind(strings.Fields(after[h.name])...)}, kinds.All...)
	}
	p, err := profile.Parse("p.yaml", []byte("contenders: [c]\nrequests: [{get: /}]\nsteps: [1]\nneeds:\n"+text))
	testenv.OK(t, err)
	s := needsSite(t)
	s.plan.Run.Profile = p
	testenv.OK(t, testenv.Err(s.needs.find()))
	return s
}

// TestSecondNeed: the packages of kinds are all that knows them. A run opens, seeds, restores,
// reads and closes any needs, in their order, and speaks of them by their names.
func TestSecondNeed(t *testing.T) {
	var told, stages []string
	at := newStreet()
	front, back := &house{name: "front", service: "f", street: at, unmeasured: true}, &house{name: "back", street: at}
	s := siteOf(t, []*house{front, back}, map[string]string{"front": "back"})
	s.stream.Subscribe(func(r bench.Record) {
		switch e := r.Event.(type) {
		case bench.Notice:
			told = append(told, e.Text)
		case bench.Prepared:
			told = append(told, e.Needs[len(e.Needs)-1].String())
		}
	})
	for _, stage := range s.needs.Stages() {
		note, err := stage.Do(t.Context(), func(p bench.Progress) { stages = append(stages, p.Text) })
		testenv.OK(t, err)
		stages = append(stages, string(stage.Phase)+" "+note)
	}
	s.stream.Close()
	testenv.Equal(t, strings.Join(stages, "; "), "listening; needs back: container, 1; seed one word; listening; needs front: container, 1; "+
		"seed one word")
	testenv.Equal(t, strings.Join(told, "; "), "back: container, 1; front (container) is not measured: it may limit steps without being "+
		"named as their bottleneck; front: container, 1")

	c := bench.Trial{Contender: "c"}
	env := map[string]string{"A": "{{.Needs.front.Host}}/{{.Needs.none.URL}}"}
	_, filled, err := s.launcher.environment(bench.Service{Name: "c", Env: env}, bench.LaunchSpec{}, s.needs.addresses(c))
	testenv.OK(t, err)
	testenv.Equal(t, filled["A"], "f/")

	front.said = "bye"
	changed, err := s.needs.RestoreNeeds(t.Context(), runner.Restore{Next: c})
	testenv.OK(t, err)
	testenv.Equal(t, changed, "front: it said bye")
	testenv.Equal(t, len(s.needs.ReadHost(t.Context(), c).Needs), 1, "only back has counters")

	front.down = errors.New("refused")
	name, err := s.needs.NeedsAlive(t.Context(), bench.Trial{})
	testenv.Check(t, name == "front" && err != nil, "%s: %v", name, err)
	testenv.Fails(t, s.needs.close(t.Context()), "closed front\nclosed back")
	testenv.Equal(t, strings.Join(at.log, ", "), "open back., seed back., open front.f, seed front.f, close front.f, close back.")
}

// TestNeeds_Restart: a need that starts again for each trial is reported, unless no contender has
// got its address since. If that failed it need not respond before the next trial, which starts it
// again; in a trial it has to.
func TestNeeds_Restart(t *testing.T) {
	at := newStreet()
	db := &house{name: "db", street: at, restarts: true}
	s := siteOf(t, []*house{db, {name: "cache", street: at}}, nil)
	s.openAll(t)
	restore := func() (started []string, err error) {
		_, err = s.needs.RestoreNeeds(t.Context(), runner.Restore{
			Next: bench.Trial{Contender: "c"}, Starts: func(need string) { started = append(started, need) },
		})
		return started, err
	}
	started, err := restore()
	testenv.OK(t, err)
	testenv.Equal(t, started, []string{"db"}, "before the first trial")
	started, _ = restore()
	testenv.Equal(t, len(started), 0, "unused")
	s.needs.addresses(bench.Trial{Contender: "c"})
	started, _ = restore()
	testenv.Equal(t, started, []string{"db"}, "used")

	db.down = errors.New("refused")
	name, err := s.needs.NeedsAlive(t.Context(), bench.Trial{})
	testenv.Check(t, name == "db" && err != nil, "%s: %v", name, err)
	db.broken = errors.New("its volume is full")
	testenv.Fails(t, testenv.Err(restore()), "db: its volume is full")
	testenv.OK(t, testenv.Err(s.needs.NeedsAlive(t.Context(), bench.Trial{})))
	started, _ = restore()
	testenv.Equal(t, started, []string{"db"}, "after a failure")
	db.broken = nil
	testenv.OK(t, testenv.Err(restore()))
	testenv.Check(t, testenv.Err(s.needs.NeedsAlive(t.Context(), bench.Trial{})) != nil, "restored, but not alive")
}

// TestNeeds_Passwords: the password of a need is masked in all output from its start on, unless it
// is a word of its description.
func TestNeeds_Passwords(t *testing.T) {
	at := newStreet()
	s := siteOf(t, []*house{{name: "db", street: at, password: "from-a-file"}, {name: "cache", street: at, password: "container"}}, nil)
	s.openAll(t)
	e := s.masks.mask().Event(bench.LogLines{Lines: []bench.LogLine{{Text: "connecting as app:from-a-file to container"}}})
	testenv.Equal(t, e.(bench.LogLines).Lines[0].Text, "connecting as app:*** to container")
	uses := Plan{Run: bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{
		{Name: "db", Of: bench.FormFrom([]byte(`{"environment": {"POSTGRES_PASSWORD": "${PGPASSWORD}"}}`)), URL: "postgres://app:${OTHER}@h"},
	}}}}
	testenv.Equal(t, uses.secrets(func(name string) string { return "of " + name }), []string{"of PGPASSWORD", "of OTHER"})
	testenv.Fails(t, missingEnv(uses.Run, nil, func(string) string { return "" }),
		"environment variable unset or empty: PGPASSWORD (need db), OTHER (need db)")
}

// TestNeeds_Unknown: a contender with the address of a need that the run does not have is refused.
// {{.Elastic.URL}} is empty in a run without needs.
func TestNeeds_Unknown(t *testing.T) {
	c := bench.Selection{Contender: "c"}
	refused := func(value string, all ...bench.NeedSpec) error {
		env := map[string]string{"A": "{{.Needs.db.Host}}", "URL": value}
		if len(all) == 0 || all[0].Name != "db" {
			delete(env, "A")
		}
		return unknownNeeds(bench.Profile{Contenders: []bench.Selection{c}, Needs: all}, map[bench.Selection]bench.Service{c: {Name: "c", Env: env}})
	}
	const typo, no = "x{{.Needs.cahce.URL}}", "contender c uses {{.Needs.cahce.URL}}, but the profile has no need \"cahce\"; "
	db, cache := bench.NeedSpec{Name: "db"}, bench.NeedSpec{Name: "cache"}
	testenv.Fails(t, refused(typo), no+"write it in the profile, or in its manifest")
	testenv.Fails(t, refused(typo, db), no+"its needs: db")
	testenv.Fails(t, refused(typo, db, cache), no+"did you mean `cache`?")
	testenv.OK(t, refused("{{.Needs.cache.URL}}", db, cache))
	for _, field := range append(bench.Connections(), "URL") {
		external := bench.NeedSpec{Name: "db", From: bench.NeedExternal, URL: "127.0.0.1:1"}
		testenv.Fails(t, refused("x{{ .Needs.db."+field+" }}", external), "`external` of need \"db\" has no more than an address")
		external.URL = "postgres://h:1/d"
		testenv.OK(t, refused("x{{ .Needs.db."+field+" }}", external))
	}
	testenv.Fails(t, refused("{{.Elastic.URL}}", db), "uses {{.Elastic.URL}}")
	testenv.OK(t, refused("{{.Elastic.URL}}"))
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

// TestNeeds_OfServices: of needs that each service has for itself, only those of the trial's
// contender run, and have their names; one that only some contenders get rests for the others. A
// need that ended fails its trial only.
func TestNeeds_OfServices(t *testing.T) {
	at, s := newStreet(), needsSite(t)
	goes, node := bench.Trial{Contender: "goes", Variant: "pooled"}, bench.Trial{Contender: "node"}
	each := func(of bench.Trial) []bench.Selection { return []bench.Selection{selection(of)} }
	add := func(name, service string, of []bench.Selection, after ...string) *house {
		h := &house{name: name, street: at, service: service}
		s.needs.all = append(s.needs.all, needs.Named{Name: name, Service: service, For: of, After: after, Restarts: true, Need: h})
		return h
	}
	add("topics", "goes", each(goes), "db")
	add("db", "node", each(node))
	add("queue", "", each(node))
	db := add("db", "goes", each(goes))
	add("cache", "", nil)
	testenv.OK(t, needs.Order(s.needs.all))
	s.openAll(t)
	testenv.Equal(t, strings.Join(at.log, ", "), "open queue., seed queue., open cache., seed cache., open db.goes, seed db.goes, "+
		"open topics.goes, seed topics.goes, stop topics.goes, stop db.goes, open db.node, seed db.node, stop db.node")
	at.log = nil
	var labels []string
	for _, n := range s.plan.Run.Needs {
		labels = append(labels, n.Label())
	}
	testenv.Equal(t, strings.Join(labels, ", "), "queue, cache, db of goes, topics of goes, db of node")

	restore := func(of bench.Trial) (starts string, err error) {
		_, err = s.needs.RestoreNeeds(t.Context(), runner.Restore{Next: of, Starts: func(need string) { starts += need + " " }})
		return starts, err
	}
	starts, err := restore(goes)
	testenv.OK(t, err)
	testenv.Equal(t, starts, "cache db topics ")
	testenv.Equal(t, strings.Join(at.log, ", "), "stop queue., start db.goes, start topics.goes")
	at.log = nil
	testenv.Equal(t, s.needs.addresses(goes).Needs, map[string]bench.NeedAddress{"cache": {}, "db": {Host: "goes"}, "topics": {Host: "goes"}})
	testenv.Equal(t, len(s.needs.ReadHost(t.Context(), goes).Needs), 3)

	db.dead = true
	testenv.Fails(t, testenv.Err(restore(node)), "db of goes: it ended in the trial")
	starts, err = restore(node)
	testenv.OK(t, err)
	testenv.Equal(t, starts, "queue cache db ")
	testenv.Equal(t, at.since(), "start db.node, start queue., stop topics.goes")
	testenv.Equal(t, s.needs.addresses(node).Needs["db"].Host, "node")
	starts, err = restore(bench.Trial{})
	testenv.OK(t, err)
	testenv.Equal(t, starts+at.since(), "", "after the last trial")
}

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
	s, at, f = needsSite(t), newStreet(), fakedocker.New()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_HOST", "tcp://"+server.Listener.Addr().String())
	engine := testenv.Must(docker.Connect(t.Context()))(t)
	t.Cleanup(func() { testenv.OK(t, engine.Close()) })
	s.plan.Run.Profile.Contenders, s.plan.Run.Profile.Interleave = contenders, 100*time.Millisecond
	add := func(name, kind string, of []bench.Selection, after ...string) {
		s.plan.Run.Profile.Needs = append(s.plan.Run.Profile.Needs, bench.NeedSpec{Name: name, Kind: kind, From: bench.NeedContainer, For: of})
		h := &house{name: name, street: at}
		s.needs.all = append(s.needs.all, needs.Named{Name: name, For: of, After: after, Restarts: kind == "container", Own: kind == "container", Need: h})
	}
	add("read", "elasticsearch", nil)
	add("db", "container", nil)
	add("topics", "container", nil, "db")
	add("mail", "container", contenders[:1])
	s.needs.another = func(ctx context.Context, of string) (*docker.Group, error) {
		group, err := engine.NewGroup(ctx, "net-"+strings.TrimPrefix(of, "needs-"), "", false)
		alleys[group] = newStreet()
		return group, err
	}
	s.openAll(t)
	return s, at, f
}

// since returns what the needs of a trial have done since the last time.
func (s *site) since(of bench.Trial) string {
	return alleys[s.needs.own[s.needs.seatOf(of)].group].since()
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
		return testenv.Err(s.needs.RestoreNeeds(t.Context(), r))
	}
	testenv.OK(t, restore(runner.Restore{Next: old, Soon: []bench.Trial{other}}))
	testenv.Equal(t, strings.Join(starts, " "), "db topics mail")
	testenv.Equal(t, s.since(old), "start db.old, start mail.old, start topics.old")
	testenv.Equal(t, s.since(other), "start db.new, start topics.new", "at the same time")
	starts = nil
	testenv.OK(t, restore(runner.Restore{Next: other}))
	testenv.Equal(t, strings.Join(starts, " ")+s.since(other), "", "they have started")

	testenv.Equal(t, s.needs.addresses(old).Needs, map[string]bench.NeedAddress{"read": {}, "db": {Host: "old"}, "topics": {Host: "old"}, "mail": {Host: "old"}})
	testenv.Equal(t, s.needs.addresses(other).Needs, map[string]bench.NeedAddress{"read": {}, "db": {Host: "new"}, "topics": {Host: "new"}})
	for trial, want := range map[bench.Trial]string{old: "net-old", other: "net-new"} {
		spec, err := s.launcher.Spec(trial, bench.Service{}, bench.Artifact{})
		testenv.OK(t, err)
		testenv.Contains(t, spec.Joins, want)
	}
	testenv.Equal(t, len(s.needs.ReadHost(t.Context(), old).Needs), 4, "with the shared one")
	testenv.Equal(t, len(s.needs.ReadHost(t.Context(), other).Needs), 3)
	testenv.Equal(t, len(s.needs.ReadOwn(other)), 2)

	s.needs.needsOf(old)[1].Need.(*house).dead = true
	testenv.OK(t, restore(runner.Restore{Ended: other}))
	testenv.Fails(t, restore(runner.Restore{Ended: old}), "db: it ended in the trial")
	testenv.OK(t, restore(runner.Restore{Next: other}))
	testenv.OK(t, restore(runner.Restore{Next: old}))
	testenv.Equal(t, s.since(old)+s.since(other), "start db.old")

	var happened []string
	for _, trial := range []bench.Trial{old, other} {
		defer s.needs.WatchNeeds(trial, func(in bench.Incident) { happened = append(happened, trial.Contender+" "+in.Text) })()
	}
	s.needs.placeOf("old", nil).Happened(bench.Incident{Text: "own"})
	testenv.Equal(t, strings.Join(happened, ", "), "old own")
	s.needs.placeOf("", nil).Happened(bench.Incident{Text: "shared"})
	testenv.Equal(t, len(happened), 3)
	s.needs.WatchNeeds(old, nil)()
	s.needs.placeOf("old", nil).Happened(bench.Incident{Text: "over"})
	testenv.Equal(t, len(happened), 3)

	testenv.Fails(t, s.needs.close(t.Context()), "closed db")
	testenv.Equal(t, len(f.Removed()), 2, "networks")
}

// TestOwnNeeds_Itself: the two trials of a contender that is interleaved with itself have their own
// needs, too.
func TestOwnNeeds_Itself(t *testing.T) {
	s, _, _ := interleavedSite(t, bench.Selection{Contender: "a"})
	first, second := bench.Trial{Contender: "a", Round: 3}, bench.Trial{Contender: "a", Round: 4}
	testenv.OK(t, testenv.Err(s.needs.RestoreNeeds(t.Context(), runner.Restore{Next: first, Starts: func(string) {}})))
	testenv.Equal(t, s.since(first), "start db.a, start mail.a, start topics.a")
	testenv.Equal(t, s.since(second), "")
	testenv.Equal(t, s.needs.addresses(second).Needs["db"].Host, "a-2")
}

// TestOwnNeeds_Plain: contenders that are not interleaved share their needs.
func TestOwnNeeds_Plain(t *testing.T) {
	s := needsSite(t)
	s.plan.Run.Profile.Needs = []bench.NeedSpec{{Name: "db", Kind: "container", From: bench.NeedContainer}}
	s.needs.all = []needs.Named{{Name: "db", Need: &house{}}}
	testenv.OK(t, s.needs.copyNeeds(t.Context(), nil))
	testenv.Check(t, s.needs.own == nil && s.needs.ReadOwn(bench.Trial{}) == nil, "%v", s.needs.own)
}
