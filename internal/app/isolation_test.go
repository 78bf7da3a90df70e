package app

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/contender/platform"
	"locbench/internal/results/event"
	"locbench/internal/run/machine"
)

func TestNewIsolation(t *testing.T) {
	i := bench.Isolation{Separate: true, Contender: cpuset.Of(2, 3), Store: cpuset.Of(1), Client: cpuset.Of(0)}
	if a := newIsolation(i); !reflect.DeepEqual(a.sets, i) {
		t.Errorf("%+v", a)
	}
	a := newIsolation(bench.Isolation{Text: "shared"})
	if len(a.sets.Contender)+len(a.all) != 0 {
		t.Errorf("%+v", a)
	}
	if err := a.begin(); err != nil || a.end() != nil {
		t.Errorf("nothing is parted, but %v", err)
	}
}

func TestPartSaysWhatIsShared(t *testing.T) {
	for want, p := range map[string]bench.Profile{
		"somebody else":    {Runtime: bench.RuntimeURL, Store: bench.StoreSpec{Kind: bench.StoreNone}},
		"isolation is off": {Runtime: bench.RuntimeProcess, Isolation: bench.IsolationOff, Limits: bench.Limits{CPUs: 1}},
	} {
		t.Run(want, func(t *testing.T) {
			s := &site{plan: &bench.Run{Profile: p}}
			if err := s.choosePlatform(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i := isolationOf(p, s.noIsolation()); i.Separate || !strings.Contains(i.Text, want) || !strings.Contains(i.Text, "share") {
				t.Errorf("%+v, want %q", i, want)
			}
		})
	}
}

func TestPlanIsolation(t *testing.T) {
	const embedded, external, container, none = bench.StoreEmbedded, bench.StoreExternal, bench.StoreContainer, bench.StoreNone
	for _, tt := range []struct {
		cpus                     int
		quota                    float64
		set                      int
		store                    bench.StoreKind
		contender, stored, clent string // "" and text: shared
		text                     string
	}{
		{2, 1.5, 0, embedded, "", "", "", "contender and client (with the embedded store) share CPUs 0-1: the contender needs 2 CPUs, the rest 2"},
		{2, 1, 0, embedded, "1", "", "0", "contender on CPU 1, client (with the embedded store) on CPU 0"},
		{2, 0.5, 0, none, "1", "", "0", "contender on CPU 1, client on CPU 0"},
		{2, 0.5, 0, container, "", "", "", "contender, store and client share CPUs 0-1: the contender needs 1 CPUs, the rest 2"},
		{2, 0.5, 0, external, "", "", "", "contender, the store if it is on this machine, and client share CPUs 0-1: with fewer than 4 CPUs the store would disturb one side more"},
		{1, 0.5, 0, embedded, "", "", "", "contender and client (with the embedded store) share CPU 0: the contender needs 1 CPUs, the rest 1"},
		{3, 1, 0, none, "2", "", "0-1", "contender on CPU 2, client on CPUs 0-1"},
		{3, 1, 0, container, "2", "1", "0", ""},
		{3, 1.5, 0, embedded, "", "", "", "the contender needs 2 CPUs, the rest 2"},
		{4, 1.5, 0, embedded, "2-3", "", "0-1", "contender on CPUs 2-3, client (with the embedded store) on CPUs 0-1"},
		{4, 1.5, 0, container, "2-3", "1", "0", "contender on CPUs 2-3, store on CPU 1, client on CPU 0"},
		{4, 1.5, 0, external, "2-3", "", "0-1", "; the external store, if it is on this machine, is kept to none"},
		{4, 0.2, 0, container, "3", "2", "0-1", "contender on CPU 3, store on CPU 2, client on CPUs 0-1"},
		{4, 2.5, 0, embedded, "", "", "", "share CPUs 0-3: the contender needs 3 CPUs, the rest 2"},
		{4, 1.5, 4, external, "", "", "", "the contender needs 4 CPUs, the rest 2"}, // profile locations
		{4, 0, 0, embedded, "", "", "", "share CPUs 0-3: the contender has no limit of CPUs"},
		{4, 0, 2, none, "2-3", "", "0-1", "contender on CPUs 2-3"},
		{8, 1.5, 4, container, "4-7", "3", "0-2", ""},
		{8, 1.5, 0, container, "6-7", "4-5", "0-3", ""},
		{8, 3.7, 0, embedded, "4-7", "", "0-3", ""},
		{8, 5, 0, none, "3-7", "", "0-2", ""},
		{8, 6, 0, none, "", "", "", "the contender needs 6 CPUs, the rest 3"},
		{16, 1.5, 0, container, "14-15", "10-13", "0-9", ""},
		{16, 7.25, 0, container, "8-15", "6-7", "0-5", ""},
		{16, 10.5, 0, container, "", "", "", "the contender needs 11 CPUs, the rest 7"},
		{64, 1.5, 4, container, "60-63", "40-59", "0-39", ""},
		{64, 32, 0, container, "32-63", "22-31", "0-21", ""},
		{64, 41.5, 0, embedded, "22-63", "", "0-21", ""},
		{64, 64, 0, embedded, "", "", "", "the contender needs 64 CPUs"},
	} {
		i := planIsolation(cpuRequest{CPUs: cpuset.UpTo(tt.cpus), Limits: bench.Limits{CPUs: tt.quota, CPUSet: tt.set}, Store: tt.store})
		if i.Contender.String() != tt.contender || i.Store.String() != tt.stored || i.Client.String() != tt.clent || i.Separate != (tt.contender != "") || !strings.Contains(i.Text, tt.text) {
			t.Errorf("%d CPUs, quota %g, set %d, %s: %+v", tt.cpus, tt.quota, tt.set, tt.store, i)
		}
		all := slices.Concat(i.Contender, i.Store, i.Client)
		slices.Sort(all)
		if i.Separate && !slices.Equal(all, cpuset.UpTo(tt.cpus)) {
			t.Errorf("%d CPUs: %+v overlap or leave some unused", tt.cpus, i)
		}
	}
	for _, r := range []cpuRequest{{Off: true}, {Cannot: "the engine is elsewhere"}} {
		r.CPUs, r.Limits, r.Store = cpuset.UpTo(16), bench.Limits{CPUs: 1}, none
		if i := planIsolation(r); i.Separate || !strings.HasPrefix(i.Text, "contender and client share CPUs 0-15: ") {
			t.Errorf("%+v", i)
		}
	}
}

// TestCoresAreNotTornApart: on many machines CPU n and n+half are of one core.
func TestCoresAreNotTornApart(t *testing.T) {
	i := planIsolation(cpuRequest{CPUs: []int{0, 4, 1, 5, 2, 6, 3, 7}, Limits: bench.Limits{CPUs: 2}, Store: bench.StoreContainer})
	if i.Contender.String() != "3,7" || i.Store.String() != "2,6" || i.Client.String() != "0-1,4-5" {
		t.Errorf("%+v", i)
	}
}

// TestAnotherRunIsOn: a run that finds another one on the machine says so, once.
func TestAnotherRunIsOn(t *testing.T) {
	t.Setenv(machine.RunsVariable, t.TempDir())
	begin := func() (*site, *event.Stream, bench.Warnings) {
		stream := event.New(time.Now)
		s := &site{getenv: os.Getenv, stream: stream}
		return s, stream, s.occupy(nil)
	}
	first, stream, warned := begin()
	defer first.busy.Close()
	if len(warned) > 0 {
		t.Errorf("alone: %q", warned)
	}
	var later bench.Warnings
	stream.Subscribe(func(r bench.Record) {
		if n, ok := r.Event.(bench.Notice); ok {
			later = append(later, n.Warning())
		}
	})
	first.meet()
	second, other, warned := begin()
	defer second.busy.Close()
	if len(warned) != 1 || !warned.Has(bench.WarnOtherRun) {
		t.Errorf("the second: %q", warned)
	}
	third := &site{getenv: os.Getenv}
	if again := third.occupy(warned); len(again) > 0 {
		t.Errorf("known already: %q", again)
	}
	third.busy.Close()
	first.meet()
	first.meet()
	second.meet()
	stream.Close()
	other.Close()
	if len(later) != 1 || !later.Has(bench.WarnOtherRun) {
		t.Errorf("the first, later: %q", later)
	}
}

// fakePlatform is one that launches nothing.
type fakePlatform struct{ platform.Platform }

func (fakePlatform) Capabilities() platform.Capabilities { return platform.Capabilities{} }

func TestSpec_KeepsToThePlan(t *testing.T) {
	s := &site{plan: &bench.Run{ID: "apart", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1.5}}}, platform: fakePlatform{}}
	s.isolation = newIsolation(bench.Isolation{Separate: true, Client: cpuset.Of(0), Contender: cpuset.Of(2, 3)})
	spec, err := s.spec("trial", bench.Service{Name: "web", Port: 8080, Docker: &bench.DockerRecipe{Privileges: bench.Privileges{Processes: 9}}}, bench.Artifact{Image: "web"})
	if err != nil || !slices.Equal(spec.CPUs, []int{2, 3}) || spec.RunID != "apart" || spec.Name != "trial" || spec.Port != 8080 || spec.Limits.CPUs != 1.5 || spec.Artifact.Image != "web" || spec.More.Processes != 9 {
		t.Errorf("%+v, %v", spec, err)
	}
}
