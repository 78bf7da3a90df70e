package app

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func TestNewIsolation(t *testing.T) {
	i := bench.Isolation{Separate: true, Contender: cpuset.Of(2, 3), Needs: cpuset.Of(1), Client: cpuset.Of(0)}
	if a := newIsolation(i); !reflect.DeepEqual(a.sets, i) {
		t.Errorf("%+v", a)
	}
	a := newIsolation(bench.Isolation{Text: "shared"})
	testenv.Equal(t, len(a.sets.Contender)+len(a.all), 0, a)
	err := a.begin()
	testenv.Check(t, err == nil && a.end() == nil, "without isolation: %v", err)
}

func TestIsolationSaysWhatIsShared(t *testing.T) {
	for name, p := range map[string]bench.Profile{
		"target":           {Runtime: bench.RuntimeURL},
		"isolation is off": {Runtime: bench.RuntimeProcess, Isolation: bench.IsolationOff, Limits: bench.Limits{CPUs: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := launcherOf(bench.Run{Profile: p}, nil)
			testenv.OK(t, s.choosePlatform(t.Context()))
			want := "isolation is off"
			if p.Isolation != bench.IsolationOff {
				want = s.platform.Capabilities().NoIsolation
			}
			if i := isolationOf(p, nil, s.noIsolation()); want == "" || i.Separate || !strings.Contains(i.Text, want) || !strings.Contains(i.Text, "share") {
				t.Errorf("%+v, want %q", i, want)
			}
		})
	}
}

func needsAt(kind bench.NeedOrigin) []bench.NeedInfo {
	return []bench.NeedInfo{{Name: "db", From: kind}}
}

func TestPlanIsolation(t *testing.T) {
	const embedded, external, container, none = bench.NeedEmbedded, bench.NeedExternal, bench.NeedContainer, bench.NeedNone
	for _, tt := range []struct {
		cpus                      int
		quota                     float64
		set                       int
		store                     bench.NeedOrigin
		contender, stored, client string // "" with a text: shared
		text                      string
	}{
		{2, 1.5, 0, embedded, "", "", "", "contender and client (with embedded db) share CPUs 0-1: contender needs 2 CPUs, the rest needs 2"},
		{2, 1, 0, embedded, "1", "", "0", "contender on CPU 1, client (with embedded db) on CPU 0"},
		{2, 0.5, 0, none, "1", "", "0", "contender on CPU 1, client on CPU 0"},
		{2, 0.5, 0, container, "", "", "", "contender, db and client share CPUs 0-1: contender needs 1 CPU, the rest needs 2"},
		{2, 0.5, 0, external, "", "", "", "contender, external db on this machine and client share CPUs 0-1: with fewer than 4 CPUs db would favor one side"},
		{1, 0.5, 0, embedded, "", "", "", "contender and client (with embedded db) share CPU 0: contender needs 1 CPU, the rest needs 1"},
		{3, 1, 0, none, "2", "", "0-1", "contender on CPU 2, client on CPUs 0-1"},
		{3, 1, 0, container, "2", "1", "0", ""},
		{3, 1.5, 0, embedded, "", "", "", "contender needs 2 CPUs, the rest needs 2"},
		{4, 1.5, 0, embedded, "2-3", "", "0-1", "contender on CPUs 2-3, client (with embedded db) on CPUs 0-1"},
		{4, 1.5, 0, container, "2-3", "1", "0", "contender on CPUs 2-3, db on CPU 1, client on CPU 0"},
		{4, 1.5, 0, external, "2-3", "", "0-1", "; external db is not pinned, if it is here"},
		{4, 0.2, 0, container, "3", "2", "0-1", "contender on CPU 3, db on CPU 2, client on CPUs 0-1"},
		{4, 2.5, 0, embedded, "", "", "", "share CPUs 0-3: contender needs 3 CPUs, the rest needs 2"},
		{4, 1.5, 4, external, "", "", "", "contender needs 4 CPUs, the rest needs 2"}, // profile locations
		{4, 0, 0, embedded, "", "", "", "share CPUs 0-3: the contender has no CPU limit"},
		{4, 0, 2, none, "2-3", "", "0-1", "contender on CPUs 2-3"},
		{8, 1.5, 4, container, "4-7", "3", "0-2", ""},
		{8, 1.5, 0, container, "6-7", "4-5", "0-3", ""},
		{8, 3.7, 0, embedded, "4-7", "", "0-3", ""},
		{8, 5, 0, none, "3-7", "", "0-2", ""},
		{8, 6, 0, none, "", "", "", "contender needs 6 CPUs, the rest needs 3"},
		{16, 1.5, 0, container, "14-15", "10-13", "0-9", ""},
		{16, 7.25, 0, container, "8-15", "6-7", "0-5", ""},
		{16, 10.5, 0, container, "", "", "", "contender needs 11 CPUs, the rest needs 7"},
		{64, 1.5, 4, container, "60-63", "40-59", "0-39", ""},
		{64, 32, 0, container, "32-63", "22-31", "0-21", ""},
		{64, 41.5, 0, embedded, "22-63", "", "0-21", ""},
		{64, 64, 0, embedded, "", "", "", "contender needs 64 CPUs"},
	} {
		i := planIsolation(cpuRequest{CPUs: cpuset.UpTo(tt.cpus), Limits: bench.Limits{CPUs: tt.quota, CPUSet: tt.set}, Needs: needsAt(tt.store)})
		if i.Contender.String() != tt.contender || i.Needs.String() != tt.stored || i.Client.String() != tt.client || i.Separate != (tt.contender != "") || !strings.Contains(i.Text, tt.text) {
			t.Errorf("%d CPUs, quota %g, set %d, %s: %+v", tt.cpus, tt.quota, tt.set, tt.store, i)
		}
		all := slices.Concat(i.Contender, i.Needs, i.Client)
		slices.Sort(all)
		testenv.Check(t, !i.Separate || slices.Equal(all, cpuset.UpTo(tt.cpus)),
			"%d CPUs: %+v overlap or leave some unused", tt.cpus, i)
	}
	for _, r := range []cpuRequest{{Off: true}, {Cannot: "the engine is elsewhere"}} {
		r.CPUs, r.Limits = cpuset.UpTo(16), bench.Limits{CPUs: 1}
		if i := planIsolation(r); i.Separate || !strings.HasPrefix(i.Text, "contender and client share CPUs 0-15: ") {
			t.Errorf("%+v", i)
		}
	}
}

// TestCoresAreNotSplit: on many machines CPUs n and n+half are one core.
func TestCoresAreNotSplit(t *testing.T) {
	i := planIsolation(cpuRequest{CPUs: []int{0, 4, 1, 5, 2, 6, 3, 7}, Limits: bench.Limits{CPUs: 2}, Needs: needsAt(bench.NeedContainer)})
	testenv.Check(t, i.Contender.String() == "3,7" && i.Needs.String() == "2,6" && i.Client.String() == "0-1,4-5",
		"%+v", i)
}

// TestAnotherRun: a run warns, once, of another run on this machine.
func TestAnotherRun(t *testing.T) {
	t.Setenv(machine.RunsVariable, t.TempDir())
	begin := func() (*record, *event.Stream, bench.Warnings) {
		stream := event.New(time.Now)
		s := &record{env: console.Env{Getenv: os.Getenv}, stream: stream}
		return s, stream, s.occupy(nil)
	}
	first, stream, warned := begin()
	defer first.busy.Close()
	testenv.Check(t, len(warned) <= 0, "alone: %q", warned)
	var later bench.Warnings
	stream.Subscribe(func(r bench.Record) {
		if n, ok := r.Event.(bench.Notice); ok {
			later = append(later, n.Warning())
		}
	})
	first.meet(first.warn)
	second, other, warned := begin()
	defer second.busy.Close()
	testenv.Check(t, len(warned) == 1 && warned.Has(bench.WarnOtherRun), "the second: %q", warned)
	third := &record{env: console.Env{Getenv: os.Getenv}}
	again := third.occupy(warned)
	testenv.Check(t, len(again) <= 0, "known already: %q", again)
	third.busy.Close()
	first.meet(first.warn)
	first.meet(first.warn)
	second.meet(second.warn)
	stream.Close()
	other.Close()
	testenv.Check(t, len(later) == 1 && later.Has(bench.WarnOtherRun), "the first, later: %q", later)
}

// fakePlatform starts nothing.
type fakePlatform struct{ platform.Platform }

func (fakePlatform) Capabilities() platform.Capabilities { return platform.Capabilities{} }
func (fakePlatform) Allow(cpuset.Set)                    {}
func (fakePlatform) Network() needs.Network              { return needs.Network{} }
func (fakePlatform) Template() (bench.Template, error)   { return bench.Template{}, nil }

func launcherOf(run bench.Run, p platform.Platform) *launcher {
	r := &record{plan: Plan{Run: run}, env: noEnv}
	return &launcher{record: r, needs: &needset{record: r}, platform: p}
}

func TestSpec_FollowsThePlan(t *testing.T) {
	s := launcherOf(bench.Run{ID: "r1", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1.5}}}, fakePlatform{})
	s.isolation = newIsolation(bench.Isolation{Separate: true, Client: cpuset.Of(0), Contender: cpuset.Of(2, 3)})
	spec, err := s.Spec(bench.Trial{Contender: "web", Round: 1}, bench.Service{Name: "web", Port: 8080, Docker: &bench.DockerRecipe{Privileges: bench.Privileges{Processes: 9}}}, bench.Artifact{Image: "web"})
	if err != nil || !slices.Equal(spec.CPUs, []int{2, 3}) || spec.RunID != "r1" || spec.Name != "web-1" || spec.Port != 8080 || spec.Limits.CPUs != 1.5 || spec.Artifact.Image != "web" || spec.More.Processes != 9 {
		t.Errorf("%+v, %v", spec, err)
	}
}
