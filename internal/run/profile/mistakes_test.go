package profile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/profiles"
)

// TestMistakes: each testdata/mistakes/*/p.yaml has several profiles. The mistakes of one are at its
// end, in lines with "#>"; a profile without them is fine. The flag -update writes these lines.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*/p.yaml")
	testenv.Need(t, err == nil && len(files) != 0, "no testdata: %v", err)
	here := testenv.Must(os.Getwd())(t)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data := testenv.Must(os.ReadFile(file))(t)
			profiles := strings.Split(string(data), "\n---\n")
			for i, text := range profiles[1:] { // the first has only the title
				text, _, _ = strings.Cut(text, "\n#> ")
				text = strings.TrimSuffix(text, "\n")
				_, err := profile.Parse(file, []byte(text+"\n"))
				if all, ok := errors.AsType[strictyaml.Mistakes](err); ok {
					for _, m := range strings.Split(all.Error(), "\n") {
						m = strings.ReplaceAll(m, here+"/", "")
						text += "\n#> " + strings.ReplaceAll(m, filepath.Dir(file)+"/", "")
					}
				} else if err != nil {
					t.Errorf("no mistakes, but %v in\n%s", err, text)
				}
				profiles[1+i] = text
			}
			testenv.Golden(t, file, strings.Join(profiles, "\n---\n")+"\n")
		})
	}
}

// TestParse: the profiles in testdata/read/*/*.yaml are read as in the .json next to them.
func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*/*.yaml")
	testenv.Need(t, err == nil && len(files) != 0, "no testdata: %v", err)
	here := testenv.Must(os.Getwd())(t)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data := testenv.Must(os.ReadFile(file))(t)
			var all []bench.Profile
			for _, text := range strings.Split(string(data), "\n---\n")[1:] { // the first has only the title
				p := testenv.Must(profile.Parse(file, []byte(text+"\n")))(t)
				roundTrip(t, p)
				all = append(all, p)
			}
			got := testenv.Must(json.MarshalIndent(all, "", "  "))(t)
			text := strings.ReplaceAll(string(got), here+"/", "")
			testenv.Golden(t, strings.TrimSuffix(file, ".yaml")+".json", text+"\n")
		})
	}
}

func FuzzParseThreshold(f *testing.F) {
	f.Add("p99<50ms,errors<0.1% stop=trial from_step=3")
	f.Add("throughput >= 10 stop=true")
	f.Fuzz(func(t *testing.T, text string) {
		th, err := profile.ParseThreshold(text)
		if err != nil {
			return
		}
		if again, err := profile.ParseThreshold(th.Condition); err != nil || again.Condition != th.Condition {
			t.Fatalf("%q is written as %q and read back as %+v: %v", text, th.Condition, again, err)
		}
	})
}

// A profile names files in its folder. Others are refused with their line and the option that
// allows them, and nothing of them is quoted.
func TestFilesOutsideOfTheFolderOfTheProfile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"testdata/users.csv": "name\nada\n", "testdata/hunter2.csv": "hunter2hunter2\nx\n", "testdata/body.json": "{}", "testdata/schema.json": `{"type":"object"}`,
		"testdata/targets.txt": "GET http://h/hunter2\n", "bench/users.csv": "name\nada\n", "bench/t.txt": "POST http://h/\n@../testdata/body.json\n",
		"bench/near.txt": "POST http://h/\n@users.csv\n",
	} {
		testenv.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	if err := os.Symlink("../testdata/body.json", "bench/link.json"); err != nil {
		t.Skip(err)
	}
	for name, tt := range map[string]struct {
		text, line string
	}{
		"a body":             {"requests:\n  - {post: /, file: ../testdata/body.json}\n", "p.yaml:2: `../testdata/body.json` is outside"},
		"a whole path":       {"requests:\n  - post: /\n    file: " + filepath.Join(dir, "testdata/body.json") + "\n", "p.yaml:3: "},
		"a link":             {"requests:\n  - {post: /, file: link.json}\n", "p.yaml:2: `link.json` is outside"},
		"a body of setup":    {"setup: [{post: /, file: ../testdata/body.json}]\nrequests: [{get: /}]\n", "p.yaml:1: "},
		"a variable":         {"requests: [{get: \"/{v}\"}]\nvariables:\n  v: {file: ../testdata/users.csv, column: name}\n", "p.yaml:3: "},
		"no column of it":    {"requests: [{get: \"/{v}\"}]\nvariables:\n  v: {file: ../testdata/hunter2.csv, column: name}\n", "p.yaml:3: "},
		"a schema":           {"requests:\n  - {get: /, expect: {schema: ../testdata/schema.json}}\n", "p.yaml:2: "},
		"a target file":      {"requests: {targets: ../testdata/targets.txt}\n", "p.yaml:1: "},
		"of a target file":   {"requests: {targets: t.txt}\n", "bench/t.txt:2: `@../testdata/body.json` is outside"},
		"none":               {"requests: [{post: \"/{v}\", file: ./users.csv}]\nvariables: {v: {file: ../bench/users.csv, column: name}}\n", ""},
		"near a target file": {"requests: {targets: near.txt}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.OK(t, os.WriteFile("bench/p.yaml", []byte(tt.text+"steps: [1]\n"), 0o600))
			_, err := profile.Load("bench/p.yaml", profiles.FS)
			if tt.line == "" {
				testenv.Fails(t, err, "")
				return
			}
			testenv.Check(t, err != nil && strings.Count(err.Error(), "\n") <= 0 && strings.Contains(err.Error(), tt.line) && strings.HasSuffix(err.Error(), "--allow-files testdata"),
				"%v", err)
			testenv.Check(t, !strings.Contains(strings.ReplaceAll(err.Error(), "hunter2.csv", ""), "hunter2"),
				"quoted: %v", err)
			if _, err := profile.Load("bench/p.yaml", profiles.FS, "testdata"); err != nil && name != "no column of it" {
				t.Errorf("allowed: %v", err)
			}
		})
	}
}

// flow reads a profile next to a file with users and a picture.
func flow(t *testing.T, text string) (bench.Profile, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"users.csv": "name,password\nada,x\n", "lamp.png": "{name}"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return profile.Parse(filepath.Join(dir, "p.yaml"), []byte("contenders: [a]\n"+text))
}

// reread is flow of a valid profile, which is written and read back unchanged.
func reread(t *testing.T, text string) bench.Profile {
	t.Helper()
	p := testenv.Must(flow(t, text))(t)
	roundTrip(t, p)
	return p
}

// A session or a single request has a pace, which a rate does not leave in force; slices have whole
// iterations, and do.
func TestPace(t *testing.T) {
	const session = "sessions: [{name: s, pace: 1500ms, requests: [{get: /b%s}]}]\n"
	plain := strings.Replace(session, "%s", "", 1)
	p := reread(t, "requests: [{get: /a, pace: 1s}]\n"+plain+"steps: [1]")
	testenv.Check(t, p.Requests[0].Pace == 1e9 && p.Sessions[0].Pace == 15e8 && p.Requests[1].Pace == 0,
		"%+v, %+v", p.Requests, p.Sessions)
	settled, why := profile.Settle(twice(p), 0)
	testenv.Check(t, settled.Interleave == profile.Slice, "not interleaved: %+v", why)
}

// A slice of an open loop is too short for repetitions: users would give up at the end of each one.
// That of a closed loop has whole iterations, and the setup of a session is before all slices.
func TestRepeatAtARateIsNotInterleaved(t *testing.T) {
	const wait = "[{name: wait, get: /b, expect: {status: [200, 202]}, repeat: {until: {status: 200}, every: 100ms}}]"
	const load = "sessions: [{name: s, requests: " + wait + "}]\nsteps: [1, {rate: 5}]\n"
	settled, why := profile.Settle(twice(reread(t, load)), 0)
	testenv.Check(t, settled.Interleave == 0 && why.Reason == bench.PlainSteps && strings.Contains(why.Text, `"wait" is repeated`),
		"interleaved by %s, %+v", settled.Interleave, why)
	setup := "sessions: [{name: s, setup: " + wait + ", requests: [{get: /c}]}]\nsteps: [{rate: 5}]\n"
	settled, why = profile.Settle(twice(reread(t, strings.Replace(load, ", {rate: 5}", "", 1))), 0)
	testenv.Check(t, settled.Interleave != 0, "not interleaved: %+v", why)
	settled, why = profile.Settle(twice(reread(t, setup)), 0)
	testenv.Check(t, settled.Interleave != 0, "not interleaved: %+v", why)
}

// twice returns p with another contender, interleaved if that is possible.
func twice(p bench.Profile) bench.Profile {
	p.Contenders, p.Interleave = append(p.Contenders, bench.Selection{Contender: "b"}), bench.InterleaveAuto
	return p
}

const settingsRest = "\nlimits: {cpus: 1, memory: 64MiB}\nrequests: [{path: /}]\nsteps: [1]\n"

// Settings of a contender are read, override the limits of all, and survive writing.
func TestContenderSettings(t *testing.T) {
	in := "contenders: [a, {a: {cpus: 0.5, env: {GOGC: 50}, as: half}}, {'a:fast': {memory: 32MiB, pids: 9, cpu_set: 2}}, " +
		"{b: {dir: ../old}}, {b: {image: 'b:v1', as: v1}}, {a: {as: again}}]" + settingsRest
	p := testenv.Must(profile.Parse("dir/f.yaml", []byte(in)))(t)
	var labels []string
	for _, c := range p.Contenders {
		labels = append(labels, c.String())
	}
	testenv.Equal(t, strings.Join(labels, " "), "a a:half a:fast b b:v1 a:again", "contenders")
	half, fast := p.SettingsOf(p.Contenders[1]), p.SettingsOf(p.Contenders[2])
	testenv.Check(t, half.InManifest() == (bench.Selection{Contender: "a"}) && half.Env["GOGC"] == "50",
		"half: %+v", half)
	testenv.Equal(t, fast.InManifest(), p.Contenders[2], fast)
	for i, want := range []bench.Limits{
		{CPUs: 1, Memory: 64 << 20}, {CPUs: .5, Memory: 64 << 20}, {CPUs: 1, CPUSet: 2, Memory: 32 << 20, PIDs: 9},
	} {
		testenv.Equal(t, p.LimitsOf(p.Contenders[i]), want, p.Contenders[i])
	}
	dir := p.SettingsOf(p.Contenders[3]).Dir
	testenv.Check(t, filepath.IsAbs(dir) && filepath.Base(dir) == "old", "folder %q is not relative to the file", dir)
	testenv.Equal(t, p.SettingsOf(p.Contenders[4]).Image, "b:v1", p.Settings)
	changed, err := profile.Change(p, profile.Changes{"cpus": {"2"}, "contenders": {"a", "a:half"}}, nil)
	testenv.Check(t, err == nil && changed.LimitsOf(p.Contenders[0]).CPUs == 2 && changed.LimitsOf(p.Contenders[1]).CPUs == .5,
		"the limit of a contender is more specific than --cpus: %v, %+v", err, changed)
}

// anyName is the form of a kind for needs of any name.
type anyName struct {
	Image string   `yaml:"image" json:"image" strict:"required"`
	After []string `yaml:"after" json:"after,omitempty"`
	Keep  bool     `yaml:"keep" json:"keep,omitempty"`
	GiB   int64    `yaml:"gib" json:"gib,omitempty"`
	Only  string   `yaml:"only" json:"only,omitempty"`
}

// withAnyName adds that kind for a test.
func withAnyName(t *testing.T) {
	all := kinds.All
	t.Cleanup(func() { kinds.All = all })
	of := func(n bench.NeedSpec) anyName { return testenv.Must(bench.ReadForm[anyName](n.Of))(t) }
	kinds.All = append(slices.DeleteFunc(slices.Clone(all), func(k needs.Kind) bool { return k.Name == "container" }), needs.Kind{
		Name: "container",
		Read: func(v strictyaml.Value) bench.NeedSpec {
			var f anyName
			v.Decode(&f)
			return bench.NeedSpec{From: bench.NeedContainer, Of: bench.FormOf(f)}
		},
		Traits: func(n bench.NeedSpec) needs.Traits {
			f := of(n)
			return needs.Traits{After: f.After, Restarts: !f.Keep, Own: f.Only == "", Memory: f.GiB << 30, Shared: f.Only}
		},
	})
}

const ofNeeds = "contenders: [a, b]\nrequests: [{get: /}]\nsteps: [1]\n"

// TestNeeds: needs of any name are of one kind; what is written is read again. Those with their own
// kinds stay of these.
func TestNeeds(t *testing.T) {
	withAnyName(t)
	p, err := profile.Parse("p.yaml", []byte(ofNeeds+"needs: {elasticsearch: {}, db: {image: 'postgres:17'}, my-cache_2: {image: redis, after: [db], keep: true}}\n"))
	testenv.OK(t, err)
	var got []string
	for _, n := range p.Needs {
		got = append(got, n.Name+" "+n.Kind)
	}
	testenv.Equal(t, got, []string{"elasticsearch elasticsearch", "db container", "my-cache_2 container"})
	roundTrip(t, p)
}

func TestNeeds_Mistakes(t *testing.T) {
	withAnyName(t)
	many := ""
	for i := range 21 {
		many += fmt.Sprintf("  n%d: {image: i}\n", i)
	}
	for name, test := range map[string]struct{ text, want string }{
		"name": {
			"needs:\n  Db:\n    image: i\n",
			"p.yaml:5: \"Db\" cannot be the name of a need; write up to 63 lower-case letters, digits, `-` and `_`: it is the host name of the need",
		},
		"own kind, mistyped": {"needs:\n  elasticserch: {}\n", "p.yaml:5: unknown key `needs.elasticserch`; did you mean `elasticsearch`?"},
		"near an own kind":   {"needs:\n  elasticsearch2: {image: i}\n", ""},
		"key":                {"needs:\n  db:\n    image: i\n    restart: always\n", "p.yaml:7: unknown key `needs.db.restart`; known keys: image, after, keep, gib, only"},
		"neither": {
			"needs:\n  cache:\n    keep: true\n",
			"p.yaml:5: `needs.cache` has none of `image`, `dockerfile`, `external`; write one of them; needs with their own keys: elasticsearch",
		},
		"key of an image": {"needs:\n  db:\n    imgae: i\n", "p.yaml:6: unknown key `needs.db.imgae`; did you mean `image`?"},
		"too many":        {"needs:\n" + many, "p.yaml:5: 21 needs; write at most 20"},
		"after": {
			"needs:\n  db: {image: i}\n  cache:\n    image: i\n    after:\n      - db\n      - bd\n",
			"p.yaml:10: `needs.cache.after[1]` is \"bd\"; did you mean `db`?",
		},
		"after nothing": {"needs:\n  db:\n    image: i\n    after: [x]\n", "p.yaml:7: `needs.db.after[0]` is \"x\"; remove it"},
		"after itself":  {"needs:\n  db:\n    image: i\n    after: [db]\n", "p.yaml:7: `db` comes after itself; remove it"},
		"in a circle": {
			"needs:\n  db: {image: i, after: [c]}\n  b: {image: i, after: [db]}\n  c:\n    image: i\n    after: [b]\n",
			"p.yaml:6: `b` and `db` come after each other; remove one of the two\np.yaml:9: `c` and `b` come after each other; remove one of the two",
		},
		"interleaved":       {"needs: {db: {image: i}}\ninterleave: 100ms\n", ""},
		"interleaved, kept": {"needs: {db: {image: i, keep: true}}\ninterleave: 100ms\n", ""},
		"not interleaved":   {"needs: {db: {image: i}}\ninterleave: off\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := profile.Parse("p.yaml", []byte(ofNeeds+test.text))
			if test.want == "" {
				testenv.OK(t, err)
				return
			}
			testenv.Equal(t, fmt.Sprint(err), test.want)
		})
	}
}

// TestSettle_Needs: contenders are interleaved if each can have its needs for itself, and all fit
// into memory. The reason against it names the need or the sums.
func TestSettle_Needs(t *testing.T) {
	withAnyName(t)
	const db = "db: {image: i, gib: 1}"
	for text, want := range map[string]string{
		"needs: {" + db + "}\n":                                              "",
		"needs: {" + db + "}\ninterleave: off\n":                             "chosen: the profile or the command says so",
		"needs: {" + db + "}\ninterleave: 200ms\n":                           "",
		"needs: {" + db + "}\nfirst_requests: {requests: 10}\n":              "first requests: first_requests times a contender that runs alone",
		"needs: {db: {image: i, keep: true}}\n":                              "",
		"needs: {" + db + ", cache: {image: i, only: is external}}\n":        "needs: cache is external",
		"needs: {cache: {image: i, only: is external}}\ninterleave: 100ms\n": "",
		"needs: {elasticsearch: {}}\n":                                       "",
		"needs: {db: {image: i, gib: 4}}\n": "memory: 2 contenders and their own needs may use 8.12 GiB, " +
			"this machine has 8 GiB free, and the client takes 1 GiB",
		"needs: {db: {image: i}, cache: {image: i}}\n": "",
		"needs: {db: {image: i}}\nlimits: {cpus: 1}\ncontenders: [a, b, c, d, e]\n": "contenders: 5 contenders, or needs of theirs, " +
			"have no memory limit, and at most 4 such run at the same time",
	} {
		base := ofNeeds
		if strings.Contains(text, "contenders:") {
			_, base, _ = strings.Cut(ofNeeds, "\n")
		} else {
			base += "limits: {memory: 64MiB}\n"
		}
		p := testenv.Must(profile.Parse("p.yaml", []byte(base+text)))(t)
		settled, why := profile.Settle(p, 8<<30)
		got := ""
		if why != nil {
			got = string(why.Reason) + ": " + why.Text
		}
		testenv.Equal(t, got, want, text)
		testenv.Equal(t, settled.Interleave > 0, want == "", text)
		db := slices.ContainsFunc(settled.Needs, func(n bench.NeedSpec) bool { return n.Name == "db" && n.Own })
		testenv.Equal(t, db, want == "" && strings.Contains(text, "db:"), text)
		testenv.Equal(t, settled.Rounds, map[bool]int{true: profile.InterleavedRounds, false: profile.PlainRounds}[want == ""], text)
	}
}
