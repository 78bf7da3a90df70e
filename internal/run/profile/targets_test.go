package profile_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
	"github.com/locbench/locbench/profiles"
)

// written writes files into a new working folder.
func written(t testing.TB, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		testenv.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// TestNamesOfTargets: names are unique, however alike the targets are, and at most 100 bytes long.
func TestNamesOfTargets(t *testing.T) {
	long := strings.Repeat("x", 150)
	text := "GET http://h/s\nHost: a\n\nGET http://h/s\nHost: b\n\nGET http://h/s?q\nHost: b\n\n"
	for i := range 11 {
		text += fmt.Sprintf("GET http://h/%s?%d\n", long, i)
	}
	written(t, map[string]string{"t.txt": text})
	p := testenv.Must(profile.Parse("p.yaml", []byte("requests: {targets: t.txt}\nsteps: [1]\n")))(t)
	var names []string
	for _, r := range p.Requests {
		names = append(names, r.Name)
	}
	want := []string{"GET /s", "GET /s (2)", "GET /s?q", ("GET /" + long)[:100], ("GET /" + long)[:96] + " (2)"}
	testenv.Check(t, slices.Equal(names[:5], want) && names[13] == ("GET /" + long)[:95]+" (11)", "%q", names)
}

// TestTargetsAreSentAsVegetaDoes: what the load sends for each target is what vegeta sends, with
// what all requests of the profile have.
func TestTargetsAreSentAsVegetaDoes(t *testing.T) {
	odd := `{"method":"PUT","url":"http://shop:8080/a%2Fb/{id}?q={id}&r=${HOME}&s=čaj","body":"eyJhIjoie2lkfSAke0hPTUV9ICQke0hPTUV9IHt7aWR9fSJ9","header":{"x-odd":["{id} ${HOME} $${HOME} {{id}} {{{id}}}"]}}`
	mixed := testenv.Must(os.ReadFile("testdata/read/targets/load/t.txt"))(t)
	written(t, map[string]string{"t.txt": string(mixed), "order.json": `{"a": "{id} ${HOME}"}`, "t.json": odd})
	for _, file := range []string{"t.txt", "t.json"} {
		p := testenv.Must(profile.Parse("p.yaml", []byte("variables: {id: {from: 1, to: 2}}\nrequests: {targets: "+file+"}\nsteps: [1]\n")))(t)
		text, _ := os.ReadFile(file)
		targeter := vegeta.NewHTTPTargeter(bytes.NewReader(text), nil, nil)
		if file == "t.json" {
			targeter = vegeta.NewJSONTargeter(strings.NewReader(odd+"\n"), nil, nil)
		}
		all := testenv.Must(vegeta.ReadAllTargets(targeter))(t)
		want := map[string]bool{}
		for _, one := range all {
			req := testenv.Must(one.Request())(t)
			if user := req.URL.User; user != nil {
				password, _ := user.Password()
				req.SetBasicAuth(user.Username(), password)
			}
			want[onWire(t, func(w io.Writer) error { return req.Write(w) })] = true
		}
		got := map[string]bool{}
		data := testenv.Must(values.OpenData(p.Variables, p.Requests))(t)
		for _, r := range p.Requests {
			filled := r.Filled(func(name string) string { return "the environment's " + name })
			m, err := workload.NewMix(workload.Plan{
				BaseURL: "http://shop:8080", Step: bench.Step{Connections: 1, Duration: time.Second}, Requests: []bench.Request{filled},
				Variables: p.Variables, Data: data,
			})
			testenv.OK(t, err)
			var u workload.User
			testenv.OK(t, m.Begin(&u))
			_, sent := m.Write(&u, nil)
			got[onWire(t, func(w io.Writer) error { _, err := w.Write(sent); return err })] = true
		}
		testenv.Check(t, maps.Equal(got, want) && len(got) == len(p.Requests),
			"got\n%q\nwant\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// onWire returns a request as a server reads it.
func onWire(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	testenv.OK(t, write(&b))
	r := testenv.Must(http.ReadRequest(bufio.NewReader(&b)))(t)
	body := testenv.Must(io.ReadAll(r.Body))(t)
	r.Header.Del("User-Agent")
	return fmt.Sprint(r.Method, " ", r.Host, " ", r.URL.Path, " ", r.URL.Query(), " ", r.Header, " ", string(body))
}

// TestMistakesInTwoFiles: mistakes in the profile, in the target file, and in what a profile may
// have, are reported at once, each at its line.
func TestMistakesInTwoFiles(t *testing.T) {
	written(t, map[string]string{
		"load/wrong.txt": "GET http://h/a\n\nhttp://h/a\n",
		"load/rules.txt": "GET http://h/a\n\nCONNECT http://h/b\nX-(Y): 1\n" + "\nGET http://h/" + strings.Repeat("x", 8000) + "\n",
		"load/good.txt":  "GET http://h/a\n",
	})
	here, _ := os.Getwd()
	for name, test := range map[string]struct{ in, want string }{
		"lines of the target file": {
			"rounds: 0\nrequests: {targets: load/wrong.txt}\nsteps: [1]\n",
			"p.yaml:1: `rounds` is 0; write from 1 to 1000\n" +
				"load/wrong.txt:3: vegeta: bad target; write `METHOD URL`, below it `NAME: VALUE` for each header, then `@FILE` for a body, and an empty line between targets",
		},
		"rules of a profile": {
			"requests: {targets: load/rules.txt}\nsteps: [1]\n",
			"load/rules.txt:3: `method` is \"CONNECT\"; write another one: CONNECT opens a tunnel, which has no responses to measure\n" +
				"load/rules.txt:3: \"X-(Y)\" is not the name of a header; write letters, digits and `-`, such as `Accept`\n" +
				"load/rules.txt:6: the path is too long; write at most 8000 bytes",
		},
		"a header of all requests": {
			"header: {X: '{none}'}\nrequests: {targets: load/good.txt}\nsteps: [1]\n",
			"p.yaml:1: `{none}`: no variable \"none\" here; add it to `variables`, such as `{none: {from: 1, to: 10000}}`; to send that text, write `{{none}}`",
		},
		"not found": {
			"requests: {targets: none.txt}\nsteps: [1]\n",
			"p.yaml:1: stat " + here + "/none.txt: no such file or directory; write the path of vegeta's target file, relative to the profile",
		},
		"a key":           {"requests: {target: load/good.txt}\nsteps: [1]\n", "p.yaml:1: unknown key `requests.target`; did you mean `targets`?"},
		"no key":          {"requests: {}\nsteps: [1]\n", "p.yaml:1: `requests.targets` is missing; write it, such as `targets: targets.txt`"},
		"a text":          {"requests: load/good.txt\nsteps: [1]\n", "p.yaml:1: `requests` is \"load/good.txt\"; write a list, or `{targets: FILE}`"},
		"an empty list":   {"requests: []\nsteps: [1]\n", "p.yaml:1: `requests` is empty; write from 1 to 100 items"},
		"a long list":     {"requests: [" + strings.Repeat("{get: /x}, ", 101) + "]\nsteps: [1]\n", "p.yaml:1: `requests` has 101 items; write from 1 to 100 items"},
		"another request": {"requests: {targets: load/good.txt}\nsteps: [{connections: 1, request: x}]\n", "p.yaml:2: `steps[0].request` is \"x\"; name one of the requests or sessions, such as \"GET /a\""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := profile.Parse("p.yaml", []byte(test.in))
			testenv.Check(t, err != nil && err.Error() == test.want, "got\n%v\nwant\n%s", err, test.want)
		})
	}
}

// TestLoadWithTargets: the target file replaces requests and sessions. Of a bundled profile it also
// replaces what was for these; a profile of the user keeps it.
func TestLoadWithTargets(t *testing.T) {
	written(t, map[string]string{
		"t.txt": "GET http://h/a\nGET http://h/a\n", "wrong.txt": "GET\n",
		"mine.yaml": "contenders: [a]\nneeds: {elasticsearch: {from: embedded}}\nchecks: {suites: [locations]}\nrequests: [{get: /x, share: 50%}]\n" +
			"sessions: [{name: s, share: 50%, requests: [{get: /y}]}]\nsetup: [{post: /login}]\nsteps: [3]\n",
	})
	want := []bench.Request{{Name: "GET /a", Weight: 2, Method: "GET", Path: "/a", ExpectStatus: 200}}
	for name, test := range map[string]struct {
		targets string
		needs   int
		suites  []string
		steps   int
		setup   int
	}{
		"quick":     {"t.txt", 0, nil, 5, 0},
		"mine.yaml": {"t.txt", 1, []string{"locations"}, 1, 1},
		"locations": {"t.txt", 0, nil, 17, 0},
	} {
		p, err := profile.LoadWith(name, profiles.FS, test.targets)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		testenv.Check(t, reflect.DeepEqual(p.Requests, want) && len(p.Sessions) <= 0 && len(p.Setup) == test.setup,
			"%s: %+v, %+v", name, p.Requests, p.Sessions)
		testenv.Check(t, len(p.Needs) == test.needs && slices.Equal(p.Checks.Suites, test.suites) && len(p.Steps) == test.steps && p.Contenders != nil,
			"%s: needs %v, suites %v, %d steps, %v", name, p.Needs, p.Checks.Suites, len(p.Steps), p.Contenders)
	}
	for file, want := range map[string]string{
		"none.txt": "read target file: stat none.txt: no such file or directory", ".": "read target file: . is a folder, not a regular file",
		"wrong.txt": "wrong.txt:1: vegeta: bad target; write `METHOD URL`, below it `NAME: VALUE` for each header, then `@FILE` for a body, and an empty line between targets",
	} {
		_, err := profile.LoadWith("quick", profiles.FS, file)
		testenv.Check(t, err != nil && err.Error() == want, "%s: %v", file, err)
	}
}
