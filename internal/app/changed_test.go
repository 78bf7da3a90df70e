package app

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// interrupted writes a run of two rounds of orders, of which the first has the given state, and
// returns its folder.
func interrupted(t *testing.T, services, setting string, state bench.TrialState, a bench.Artifact) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	p, err := profile.Parse("p.yaml", []byte("contenders: ["+setting+"]\nruntime: process\nrounds: 2\n"+
		"requests: [{path: /}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	p.Interleave = 0
	sel := p.Contenders[0]
	first := bench.Trial{Contender: sel.Contender, Variant: sel.Variant, Round: 1}
	second := first
	second.Round = 2
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: "r1", State: bench.RunRunning, Profile: p, Services: []string{services},
		Trials: []bench.TrialEntry{
			{Trial: first, State: bench.TrialPending, File: "1.json"}, {Trial: second, State: bench.TrialPending, File: "2.json"},
		},
	}
	record, err := results.Create(dir, run, nil)
	testenv.OK(t, err)
	record.Handle(bench.Record{Trial: &first, Event: bench.TrialStarted{Number: 1, Of: 2, Artifact: a}})
	record.Handle(bench.Record{Trial: &first, Event: bench.TrialEnded{State: state}})
	record.Handle(bench.Record{Event: bench.RunEnded{State: bench.RunInterrupted}})
	record.Close()
	return dir
}

// A run whose service has changed is not resumed: its result would have rounds of two versions.
func TestResumeRefusesChangedSources(t *testing.T) {
	services := testenv.Folder(t, map[string]string{"orders/service.yaml": ofOrders("1") + "process: {command: [/nonexistent/orders]}\n",
		"orders/main.go": "package main\n"})
	write := func(name, text string) string { return testenv.Write(t, text, services, "orders", name) }
	all, err := Discover([]string{services})
	testenv.OK(t, err)
	svc, err := contender.Find(all, "orders")
	testenv.OK(t, err)
	hash, err := contender.SourceHash(svc)
	testenv.OK(t, err)
	for _, c := range []struct {
		name, setting, file, text string
		state                     bench.TrialState
		refused                   bool
	}{
		{name: "unchanged", setting: "orders", state: bench.TrialComplete},
		{name: "its source", setting: "orders", file: "main.go", text: "package other\n", state: bench.TrialComplete, refused: true},
		{name: "a new file", setting: "orders", file: "new.go", text: "package main\n", state: bench.TrialComplete, refused: true},
		{name: "under a name of the profile", setting: "{orders: {cpus: 1, as: one}}", file: "new.go", text: "package main\n",
			state: bench.TrialComplete, refused: true},
		{name: "no complete round", setting: "orders", file: "main.go", text: "package fixed\n", state: bench.TrialFailed},
		{name: "the profile has its image", setting: "{orders: {image: 'orders:2', as: two}}", file: "main.go", text: "package new\n",
			state: bench.TrialComplete},
		{name: "a description", setting: "orders", file: "README.md", text: "New.\n", state: bench.TrialComplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			write("main.go", "package main\n")
			dir := interrupted(t, services, c.setting, c.state, bench.Artifact{Sources: hash})
			if c.file != "" {
				defer os.Remove(write(c.file, c.text))
			}
			plan, err := NewPlan(RunOptions{Resume: dir})
			testenv.OK(t, err)
			before := ran(plan)
			testenv.Equal(t, c.state == bench.TrialComplete, len(before) == 1, before)
			err = changedSources(plan, before)
			testenv.Equal(t, err != nil, c.refused, err)
			plan.Run.Trials[1].State = bench.TrialComplete
			if got := ran(plan); c.state == bench.TrialComplete && len(got) > 0 {
				t.Errorf("a contender without another round: %v", got)
			}
			if c.refused {
				err = Run(t.Context(), console.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv}, RunOptions{Resume: dir})
				testenv.Fails(t, err, "changed since its complete rounds in "+dir)
				testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage)
			}
		})
	}
}

// An existing image is known by its ID only after the engine was opened: then its build fails.
func TestResumeRefusesAnotherImage(t *testing.T) {
	sel, set := bench.Selection{Contender: "orders"}, bench.Selection{Contender: "orders", Variant: "v1"}
	existing := &bench.DockerRecipe{Image: "orders:1"}
	p := Plan{Dir: "out", Run: bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{sel, set}}},
		Services: map[bench.Selection]bench.Service{
			sel: {Name: "orders", Variant: "std"}, set: {Name: "orders", Variant: "v1", Docker: existing},
		}}
	before := map[bench.Selection]bench.Artifact{sel: {ImageID: "sha256:a"}, set: {ImageID: "sha256:a"}}
	for _, c := range []struct {
		name, id string
		docker   *bench.DockerRecipe
		variant  string
		refused  bool
	}{
		{"the same", "sha256:a", existing, "v1", false}, {"another", "sha256:b", existing, "v1", true},
		{"built again", "sha256:b", &bench.DockerRecipe{}, "std", false}, {"not run before", "sha256:b", existing, "v2", false},
		{"another of the default variant", "sha256:b", existing, "std", true},
	} {
		svc := bench.Service{Name: "orders", Variant: c.variant, Docker: c.docker}
		err := sameImage(bench.Artifact{ImageID: c.id}, svc, p, before)
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "image orders:1 changed since the complete rounds in out") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
