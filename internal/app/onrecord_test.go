package app

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

const recordedProfile = `contenders: [orders]
setup: [{post: /login, json: {password: "${LOGIN_PASSWORD}", n: 18446744073709551615, x: 10.00}, save: {token: token}}]
requests:
  - {get: "/items/{item}", header: {Authorization: "Bearer {token}"}, expect: {json_includes: {n: 12345678901234567890, x: 1.50, y: [1, null, true]}}}
  - {post: /orders, form: {a: b}, expect: {schema: {type: object, properties: {n: {minimum: 1e3}}}, status: [200, 201], header: {X-A: b}}}
variables: {item: {from: 1, to: 9}}
rounds: 2
steps: [1x2 warm-up for 1s, 2..8 doubling]
`

// A profile has the same hash after it was saved: a run that was not edited can be resumed.
func TestHashOfARecordedProfile(t *testing.T) {
	mine, err := profile.Parse("p.yaml", []byte(recordedProfile))
	testenv.OK(t, err)
	all, err := profile.List(profiles.FS)
	testenv.OK(t, err)
	for _, p := range append(all, mine) {
		h := &masks{}
		saved, err := json.Marshal(h.mask().Run(bench.Run{Profile: p}))
		var again bench.Run
		if err == nil {
			err = json.Unmarshal(saved, &again)
		}
		testenv.Check(t, err == nil && compare.ProfileHash(again.Profile) == compare.ProfileHash(p),
			"%s: %v\n%s", p.Name, err, saved)
	}
}

// Before a resumed run sends anything, it says which variables of the environment it sends to which
// addresses; the folder of another person may have an edited record.
func TestResumeSaysWhatItSends(t *testing.T) {
	p, err := profile.Parse("p.yaml", []byte(recordedProfile))
	testenv.OK(t, err)
	dir := saved(t, bench.Run{
		Schema: bench.SchemaVersion, ID: "r1", Profile: p, Hash: compare.ProfileHash(p), Software: bench.Software{Locbench: Version()},
		Targets: []bench.Target{{Name: "orders", URL: "http://me:hunter2hunter2@192.0.2.7:81"}},
		Trials:  []bench.TrialEntry{benchtest.Entry("orders", 1, bench.TrialAborted)},
		Files:   []bench.DataFile{{File: "/home/me/bench/users.csv", Hash: "1"}},
	})
	resume := func(o RunOptions) (string, error) {
		var printed strings.Builder
		o.Resume = dir
		err := Run(t.Context(), console.Env{Stdout: &printed, Stderr: &printed, Getenv: noEnv.Getenv}, o)
		return printed.String(), err
	}
	text, err := resume(RunOptions{})
	testenv.Fails(t, err, "LOGIN_PASSWORD") // it ends here, without the variable
	testenv.Contains(t, text, "target   http://192.0.2.7:81 for orders (on record)\n", "file     /home/me/bench/users.csv (on record)\n",
		"variable LOGIN_PASSWORD of the environment, in request \"POST /login\" (on record)\n")
	text, _ = resume(RunOptions{Changes: profile.Changes{"target": {"http://127.0.0.1:1"}}})
	testenv.Check(t, !strings.Contains(text, "target ") && !strings.Contains(text, "hunter2"),
		"a target that is given again: %s", text)

	file := filepath.Join(dir, results.RunFile)
	data, err := os.ReadFile(file)
	testenv.OK(t, err)
	edited := strings.Replace(string(data), "/login", "/steal", 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil || edited == string(data) {
		t.Fatal(err)
	}
	testenv.Fails(t, testenv.Err(resume(RunOptions{})), "is not the one that the run began with")
	edited = strings.Replace(edited, `"locbench":`, `"locbench": "0.0.1", "was":`, 1)
	testenv.OK(t, os.WriteFile(file, []byte(edited), 0o600))
	testenv.Fails(t, testenv.Err(resume(RunOptions{})), "LOGIN_PASSWORD")
}

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
