package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
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
