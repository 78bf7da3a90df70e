package app

import (
	"slices"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/launch"
	"locbench/internal/platform"
)

func TestNewApart(t *testing.T) {
	a := newApart(bench.Isolation{Separate: true, Contender: "2-3", Store: "1", Client: "0"})
	if !slices.Equal(a.contender, []int{2, 3}) || !slices.Equal(a.client, []int{0}) || a.store != "1" {
		t.Errorf("%+v", a)
	}
	for _, i := range []bench.Isolation{{}, {Contender: "1", Client: "0"}, {Separate: true, Contender: "x", Client: "0"}, {Separate: true, Contender: "1"}} {
		a := newApart(i)
		if len(a.contender)+len(a.client)+len(a.all) != 0 || a.store != "" {
			t.Errorf("%+v: %+v", i, a)
		}
		if err := a.begin(); err != nil || a.end() != nil {
			t.Errorf("%+v: nothing is parted, but %v", i, err)
		}
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
			if i := part(p, s.noIsolation(), nil); i.Separate || !strings.Contains(i.Text, want) || !strings.Contains(i.Text, "share") {
				t.Errorf("%+v, want %q", i, want)
			}
		})
	}
}

func TestCPUsBesideAnotherRun(t *testing.T) {
	on := func(cpus ...string) (all []launch.Neighbour) {
		for _, c := range cpus {
			all = append(all, launch.Neighbour{Run: "r", CPUs: c})
		}
		return all
	}
	for _, tt := range []struct {
		name   string
		r      cpuset.Request
		others []launch.Neighbour
		want   string // contender and client, "" shared
		text   string
	}{
		{"alone", cpuset.Request{CPUs: seq(8), Limits: bench.Limits{CPUs: 1}}, nil, "7 0-6", "client on CPUs 0-6"},
		{"room", cpuset.Request{CPUs: seq(8), Limits: bench.Limits{CPUs: 1}}, on("4-7"), "3 0-2", "; another run is on CPUs 4-7"},
		{"two others", cpuset.Request{CPUs: seq(8), Limits: bench.Limits{CPUs: 1}}, on("6-7", "0"), "5 1-4", "; another run is on CPUs 0,6-7"},
		{"no room", cpuset.Request{CPUs: seq(8), Limits: bench.Limits{CPUs: 2}}, on("0-5"), "6-7 0-5", "on CPUs 0-5, and without these too few are left"},
		{"anywhere", cpuset.Request{CPUs: seq(8), Limits: bench.Limits{CPUs: 1}}, on(""), "7 0-6", "; another run may use any CPU"},
		{"shared anyway", cpuset.Request{CPUs: seq(2), Limits: bench.Limits{CPUs: 2}}, on("0"), "", "; another run is on CPUs 0"},
		{"off", cpuset.Request{CPUs: seq(8), Limits: bench.Limits{CPUs: 1}, Off: true}, on("0", ""), "", "isolation is off; another run is on CPUs 0; another run may use any CPU"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := beside(tt.r, tt.others)
			got := ""
			if i.Separate {
				got = i.Contender + " " + i.Client
			}
			if got != tt.want || !strings.HasSuffix(i.Text, tt.text) {
				t.Errorf("%s: %q, %q", tt.name, got, i.Text)
			}
			if k := kept(i); (k == "") == i.Separate {
				t.Errorf("%s: keeps to %q", tt.name, k)
			}
		})
	}
}

func seq(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// fakePlatform is one that launches nothing.
type fakePlatform struct{ platform.Platform }

func (fakePlatform) Capabilities() platform.Capabilities { return platform.Capabilities{} }

func TestSpec_KeepsToThePlan(t *testing.T) {
	s := &site{plan: &bench.Run{ID: "apart", Profile: bench.Profile{Limits: bench.Limits{CPUs: 1.5}}}, platform: fakePlatform{}}
	s.apart = newApart(bench.Isolation{Separate: true, Client: "0", Contender: "2-3"})
	spec, err := s.spec("leg", bench.Service{Name: "web", Port: 8080, Docker: &bench.DockerRecipe{Privileges: bench.Privileges{Processes: 9}}}, bench.Artifact{Image: "web"})
	if err != nil || !slices.Equal(spec.CPUs, []int{2, 3}) || spec.RunID != "apart" || spec.Name != "leg" || spec.Port != 8080 || spec.Limits.CPUs != 1.5 || spec.Artifact.Image != "web" || spec.More.Processes != 9 {
		t.Errorf("%+v, %v", spec, err)
	}
}
