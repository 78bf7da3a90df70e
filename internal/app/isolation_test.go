package app

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/launch"
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

// TestSiteKeepsToAPlan runs in a process of its own, which becomes the client: the plan is one for
// two CPUs, which no machine of that size would be given.
func TestSiteKeepsToAPlan(t *testing.T) {
	all := cpuset.Allowed()
	if len(all) < 2 {
		t.Skip("one CPU: nothing can be parted")
	}
	if os.Getenv("LOCBENCH_TEST_SITE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSiteKeepsToAPlan$", "-test.v")
		cmd.Env = append(os.Environ(), "LOCBENCH_TEST_SITE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	client, contender := cpuset.List(all[:1]), cpuset.List(all[1:2])
	s := &site{plan: &bench.Run{ID: "apart", Profile: bench.Profile{Runtime: bench.RuntimeProcess, Store: bench.StoreSpec{Kind: bench.StoreNone}}}}
	s.apart = newApart(bench.Isolation{Separate: true, Client: client, Contender: contender})
	if err := s.choosePlatform(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.platform.Allow(s.apart.all)
	svc := bench.Service{Name: "sleeper", Process: &bench.ProcessRecipe{Command: []string{"sleep", "60"}}}
	for range 2 { // the second finds the client where it is
		spec, err := s.spec("leg", svc, bench.Artifact{Command: []string{"sleep", "60"}})
		if err != nil {
			t.Fatal(err)
		}
		inst, err := s.Launch(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := allowed(t, "self"); got != client {
			t.Errorf("the client is on CPUs %s, want %s", got, client)
		}
		if got := inst.Info().CPUSet; got != contender {
			t.Errorf("the contender is on CPUs %s, want %s", got, contender)
		}
		if _, err := inst.Stop(t.Context(), 0); err != nil {
			t.Error(err)
		}
	}
	if err := s.close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := allowed(t, "self"); got != cpuset.List(all) {
		t.Errorf("afterwards it is on CPUs %s", got)
	}
}

func allowed(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	return ""
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
