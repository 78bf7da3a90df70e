package profile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

// TestList: the bundled profiles are valid and survive writing. Of these, locations is the published
// procedure, warmed up, and quick takes less than 20 seconds: they are in testdata/bundled.
func TestList(t *testing.T) {
	list, err := profile.List(profiles.FS)
	testenv.Need(t, err == nil && len(list) >= 2, "%d profiles, %v", len(list), err)
	for _, p := range list {
		roundTrip(t, p)
		if p.Name != "locations" && p.Name != "quick" {
			continue
		}
		p.Title, p.Description = "", ""
		got := testenv.Must(json.MarshalIndent(p, "", "  "))(t)
		testenv.Golden(t, "testdata/bundled/"+p.Name+".json", string(got)+"\n")
		d := p.LoadDuration() * time.Duration(p.Rounds)
		testenv.Check(t, p.Name != "quick" || d <= 20*time.Second, "the steps take %s", d)
	}
}

// roundTrip checks that run.json keeps a profile.
func roundTrip(t *testing.T, p bench.Profile) {
	t.Helper()
	data := testenv.Must(json.Marshal(p))(t)
	var again bench.Profile
	testenv.OK(t, json.Unmarshal(data, &again))
	back := testenv.Must(json.Marshal(again))(t)
	testenv.Equal(t, string(back), string(data))
}

const small = "contenders: [a]\nrequests: [{path: /x}]\n"

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.yaml")
	testenv.OK(t, os.WriteFile(file, []byte(small+"steps: [1]\n"), 0o600))
	if p, err := profile.Load(file, profiles.FS); err != nil || p.Name != "mine" {
		t.Errorf("got %q, %v", p.Name, err)
	}
	for name, want := range map[string]string{
		"quik":                          `unknown profile "quik"; did you mean "quick"? (bundled: burst, cold-warm, delay-matrix, http4k-engines, ktor-engines, locations, quick, rust-builds; or the path of a YAML file)`,
		"something":                     `unknown profile "something" (bundled: burst, cold-warm, delay-matrix, http4k-engines, ktor-engines, locations, quick, rust-builds; or the path of a YAML file)`,
		filepath.Join(dir, "none.yaml"): "unknown profile: no file " + filepath.Join(dir, "none.yaml"),
		"none.yaml":                     "unknown profile: no file none.yaml",
		dir:                             "read profile: " + dir + " is a folder, not a regular file",
		"../quick":                      "unknown profile: no file ../quick",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := profile.Load(name, profiles.FS)
			testenv.Check(t, err != nil && err.Error() == want, "Load(%q): got %v, want %s", name, err, want)
		})
	}
	bad := fstest.MapFS{"bad.yaml": {Data: []byte("rounds: 0\n")}, "good.yaml": {Data: []byte(small + "steps: [1]\n")}}
	list, err := profile.List(bad)
	testenv.Check(t, len(list) == 1 && err != nil && strings.Contains(err.Error(), "profiles/bad.yaml:1: `rounds` is 0; write from 1 to 1000"),
		"got %v, %v", list, err)
}

func TestValidate(t *testing.T) {
	good := testenv.Must(profile.Load("locations", profiles.FS))(t)
	for name, tt := range map[string]struct {
		change func(*bench.Profile)
		want   string
	}{
		"no URL":    {func(p *bench.Profile) { p.Needs[0].URL = "" }, "or the official image:  --store container"},
		"cpus":      {func(p *bench.Profile) { p.Limits.CPUs = -1 }, "`limits.cpus` is -1; write from 0.01 to 1024"},
		"rounds":    {func(p *bench.Profile) { p.Rounds = -1 }, "`rounds` is -1; write from 1 to 1000"},
		"duplicate": {func(p *bench.Profile) { p.Contenders = append(p.Contenders, p.Contenders[0]) }, `duplicate contender "rs-actix"`},
		"rate":      {func(p *bench.Profile) { p.Steps = []bench.Step{{Rate: 5e6, Duration: time.Second}} }, "step 1 (): rate 5e+06: must be above 0 and at most 1000000"},
		"duration":  {func(p *bench.Profile) { p.Steps[0].Duration = 25 * time.Hour }, "`steps[0].duration` is \"25h\"; write from 100ms to 24h"},
		"runtime":   {func(p *bench.Profile) { p.Runtime = "podman" }, "`runtime` is \"podman\"; one of: auto, docker, process, url"},
		"none":      {func(p *bench.Profile) { p.Steps = nil }, "no measured step"},

		"the shortest slices":        {func(p *bench.Profile) { p.Interleave = 50 * time.Millisecond }, ""},
		"the longest slices":         {func(p *bench.Profile) { p.Interleave = time.Minute }, ""},
		"too short slices":           {func(p *bench.Profile) { p.Interleave = 50*time.Millisecond - 1 }, "50ms to 1m"},
		"too long slices":            {func(p *bench.Profile) { p.Interleave = time.Minute + 1 }, "50ms to 1m"},
		"the longest name":           {func(p *bench.Profile) { p.Name = strings.Repeat("n", 60) }, ""},
		"too long a name":            {func(p *bench.Profile) { p.Name = strings.Repeat("n", 61) }, "name"},
		"the longest path":           {func(p *bench.Profile) { p.Requests[0].Path += strings.Repeat("p", 8000-len(p.Requests[0].Path)) }, ""},
		"too long a path":            {func(p *bench.Profile) { p.Requests[0].Path += strings.Repeat("p", 8001-len(p.Requests[0].Path)) }, "at most 8000 bytes"},
		"a request that is not sent": {func(p *bench.Profile) { p.Steps[0].Request = "other" }, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			p.Steps = append([]bench.Step(nil), good.Steps...)
			p.Needs, p.Requests = slices.Clone(good.Needs), slices.Clone(good.Requests)
			p.Needs[0].URL = "http://127.0.0.1:9200"
			testenv.OK(t, profile.Validate(p))
			if tt.change(&p); tt.want == "" {
				testenv.OK(t, profile.Validate(p))
				return
			}
			testenv.Fails(t, profile.Validate(p), tt.want)
		})
	}
}

func FuzzProfile(f *testing.F) {
	for _, pattern := range []string{"testdata/mistakes/*/p.yaml", "../../../profiles/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		testenv.Need(f, len(files) != 0, "no files %s", pattern)
		for _, file := range files {
			data := testenv.Must(os.ReadFile(file))(f)
			for one := range strings.SplitSeq(string(data), "\n---\n") {
				f.Add([]byte(one))
			}
		}
	}
	f.Add([]byte(small + "steps: [1, {rate: 12.5% of peak, connections: 7}, {rate: 50% of the lowest peak}, {rate: {mean: 5.5, amplitude: 1, period: 1s}}, {arrivals: {users: 3, over: 1s}}]\n"))
	f.Add([]byte(small + "steps: [{connections: [1, 2..4 doubling], repeat: 2}]\nneeds: {elasticsearch: {from: external, url: 'http://h'}}\n"))
	f.Add([]byte("header: {A: '{t}'}\nvariables: {i: {from: 1, to: 9, draw: zipf}, w: {list: [a, b]}, k: uuid, s: {string: 3}}\nsetup: [{post: /l, json: {p: 1, q: [x, null]}, save: {t: a.b, c: {regex: '(x)'}}}]\n" +
		"requests: [{get: '/{i}?{w}', share: 60%, expect: {status: [200, 404], at: {a: 1}}, timeout: 1s}]\nsessions: [{name: s, share: 40%, requests: [{post: /x, form: {a: '{k}&'}, save: {o: {header: X}}}, {put: '/{o}', think: 1s..2s, body: '{{i}}'}]}]\nteardown: [{delete: /x}]\nsteps: [1]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Parse("f", data)
		if err != nil {
			return
		}
		testenv.Need(t, len(p.Steps) != 0 && len(p.Steps) <= 1000 && len(p.Requests) != 0 && p.Rounds >= 0 && p.Rounds <= 1000,
			"out of bounds: %+v", p)
		for _, s := range p.Steps {
			if n := s.Connections + s.MaxConnections; n < 1 && !s.Open() || n > 100_000 || s.Open() && s.Connections > 0 || s.Duration <= 0 || s.Duration > 24*time.Hour || s.Name == "" {
				t.Fatalf("step out of bounds: %+v", s)
			}
		}
		roundTrip(t, p)
	})
}

// A step of the mix names one of the requests.
func TestValidate_StepsOfTheMix(t *testing.T) {
	p := testenv.Must(profile.Parse("f", []byte("contenders: [a]\nrequests: [{name: one, path: /a}]\nsteps: [{connections: 64, request: one}]\n")))(t)
	p.CompareBodies = 0
	roundTrip(t, p)
	p.Steps[0].Request = "three"
	testenv.Fails(t, profile.Validate(p),
		"`steps[0].request` is \"three\"; name one of the requests or sessions, such as \"one\"")
}

// A step keeps 1 to 10,000 requests, and the steps together at most 100,000.
func TestKeepRequests(t *testing.T) {
	const head = "contenders: [a]\nrequests: [{path: /a}]\nsteps:\n"
	p, err := profile.Parse("f", []byte(head+"  - {connections: [1, 2], keep_requests: 1}\n  - {rate: 100, keep_requests: 10000, repeat: 9}\n  - 3\n"))
	testenv.Need(t, err == nil && p.Steps[0].KeepRequests == 1 && p.Steps[1].KeepRequests == 1 && p.Steps[2].KeepRequests == 10_000 && p.Steps[11].KeepRequests == 0,
		"%+v, %v", p.Steps, err)
	roundTrip(t, p)
	p.Steps[0].KeepRequests = -1
	testenv.Fails(t, profile.Validate(p), "`steps[0].keep_requests` is -1; write from 1 to 10000")
}
