package profile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestDraftTexts: a draft is a short profile without mistakes whose shares add up to 100%, and
// valid with its commented-out keys too.
func TestDraftTexts(t *testing.T) {
	for name, d := range map[string]Draft{
		"least": {Get: "/"},
		"ids":   {Get: "/items/{item} 1..500", Connections: "100"},
		"post":  {Post: `/orders {"item": "{item:number}", "note": "it's #1: \"{user}\" \\ %"}`, Connections: "1"},
		"all": {
			Get: "/items/{item}", Post: `/orders {"item": "{item:number}"}`, Login: "/login data.token", Connections: "64",
		},
		"odd": {
			Get: "/{null}/{token}?q='%20&x=[]*!|>", Post: `/p  [9.50, 1e3, {"<<": null}, "é{{x}}: 🦜"]  `, Connections: "3",
		},
		"a token": {Get: "/me/{token}", Login: "/login"},
		"cookie":  {Get: "/me", Login: "/login cookie:connect.sid"},
		"header":  {Get: "/me", Post: "/orders", Login: "/login  header:X-Token "},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, err := d.text("shop.yaml")
			testenv.OK(t, err)
			testenv.Golden(t, filepath.Join("testdata", "new", strings.ReplaceAll(name, " ", "-")+".yaml"), string(text))
			p := testenv.Must(Parse("shop.yaml", text))(t)
			testenv.OK(t, Validate(p))
			if p.Title != "shop" || p.Rounds != 0 || p.Interleave != bench.InterleaveAuto || !p.Steps[0].WarmUp ||
				p.Steps[len(p.Steps)-2].Connections != mostConnections(d) || p.Steps[len(p.Steps)-1].MaxConnections != mostConnections(d) {
				t.Errorf("%+v", p)
			}
			keys := 0
			for line := range strings.Lines(string(text)) {
				testenv.Check(t, len([]rune(line)) <= 121 || !strings.HasPrefix(line, "#"), "a long line: %s", line)
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					keys++
				}
			}
			testenv.Check(t, keys <= 40, "%d lines", keys)
			commented := regexp.MustCompile(`(?m)^# ((contenders|limits|thresholds|  - ).*)$`)
			full := commented.ReplaceAll(text, []byte("$1"))
			more, err := Parse("shop.yaml", full)
			testenv.Check(t, err == nil && len(more.Thresholds) == 1 && more.Limits.CPUs == 1.5 && len(more.Contenders) == 1, "%v\n%s", err, full)
		})
	}
}

// mostConnections returns the largest number of connections in a draft.
func mostConnections(d Draft) int {
	n := 64
	_, _ = fmt.Sscan(d.Connections, &n)
	return n
}

// TestDraftsOfAnyNumberOfConnections: the steps of a draft end at the number of connections.
func TestDraftsOfAnyNumberOfConnections(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 1000, 1024, bench.MaxConnections} {
		text, _, err := Draft{Get: "/", Connections: fmt.Sprint(n)}.text("a.yaml")
		testenv.OK(t, err)
		p, err := Parse("a.yaml", text)
		testenv.Check(t, err == nil && MostConnections(p.Steps) == n && p.Steps[0].Connections == min(n, draftWarmUp) && len(p.Steps) >= 2,
			"%d: %v, %v", n, p.Steps, err)
	}
}

func TestDraftMistakes(t *testing.T) {
	long := strings.Repeat("x", maxInput+1)
	for name, test := range map[string]struct {
		d    Draft
		want string
	}{
		"nothing":          {Draft{}, "no request: write a path"},
		"line end":         {Draft{Get: "/a\nsteps: [1]"}, "control or invisible characters"},
		"tab":              {Draft{Get: "/a\tb"}, "control or invisible characters"},
		"escape":           {Draft{Post: "/a\x1b[31m"}, "control or invisible characters"},
		"bidi":             {Draft{Post: `/a {"x": "` + "\u202e" + `"}`}, "control or invisible characters"},
		"line separator":   {Draft{Post: `/a {"x": "` + "\u2028" + `"}`}, "control or invisible characters"},
		"not UTF-8":        {Draft{Get: "/\xff"}, "control or invisible characters"},
		"long":             {Draft{Get: "/" + long}, "too long"},
		"long login":       {Draft{Get: "/", Login: "/l " + long}, "too long"},
		"no slash":         {Draft{Get: "items"}, "start it with `/`"},
		"a URL":            {Draft{Get: "http://h/items"}, "start it with `/`"},
		"unicode in path":  {Draft{Get: "/é"}, "percent-encode"},
		"fragment":         {Draft{Get: "/a#b"}, "percent-encode"},
		"not a variable":   {Draft{Get: "/{a b}"}, "is not used"},
		"braces":           {Draft{Get: "/{1}"}, "is not the name of a variable"},
		"a column":         {Draft{Get: "/{user.name}"}, "leave `.name` out"},
		"a type":           {Draft{Get: "/{user:int}"}, "unknown type"},
		"range":            {Draft{Get: "/{item} 1-5"}, "FROM..TO"},
		"empty range":      {Draft{Get: "/{item} 5..1"}, "empty range"},
		"huge range":       {Draft{Get: "/{item} 1..99999999999999999999"}, "FROM..TO"},
		"range of nothing": {Draft{Get: "/items 1..5"}, "is not used"},
		"not JSON":         {Draft{Post: "/a {item: 1}"}, "is not JSON"},
		"two documents":    {Draft{Post: "/a 1 2"}, "is not JSON"},
		"twice":            {Draft{Post: `/a {"a": 1, "a": 2}`}, "duplicate key"},
		"surrogates":       {Draft{Post: `/a {"a": "\ud83d\ude00"}`}, "invalid Unicode character escape code"},
		"login":            {Draft{Get: "/", Login: "login"}, "start it with `/`"},
		"token":            {Draft{Get: "/", Login: "/login a..b"}, "write a path such as"},
		"token unknown":    {Draft{Get: "/", Login: "/login/{token}"}, `no variable "token"`},
		"token's source":   {Draft{Get: "/", Login: "/login coockie:sid"}, `"coockie:sid" is not the place of a token in a response: write a path in its JSON such as data.token, cookie:NAME or header:NAME`},
		"no cookie":        {Draft{Get: "/", Login: "/login cookie:"}, "cookie:NAME or header:NAME"},
		"a blank":          {Draft{Get: "/", Login: "/login cookie sid"}, "cookie:NAME or header:NAME"},
		"a header's name":  {Draft{Get: "/", Login: "/login header:X{y}"}, "is not the name of a header"},
		"connections":      {Draft{Get: "/", Connections: "many"}, "from 1 to 65535"},
		"no connections":   {Draft{Get: "/", Connections: "0"}, "from 1 to 65535"},
		"too many":         {Draft{Get: "/", Connections: "65536"}, "from 1 to 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, err := test.d.text("a.yaml")
			testenv.Need(t, err != nil && strings.Contains(err.Error(), test.want), "%v\n%s", err, text)
			n := len(err.Error())
			testenv.Check(t, n <= 1500, "%d bytes: %v", n, err)
		})
	}
}

// FuzzDraft: any input is an error, or a profile with exactly the requests typed in.
func FuzzDraft(f *testing.F) {
	f.Add("/items/{item} 1..5", `/orders {"a": "{item:number}"}`, "/login data.token", "64")
	f.Add("/a: b", `/p {"x": "' # : - {{y}} ${HOME}"}`, "/l '", "1")
	f.Add(" ", "/p", "  ", "")
	f.Add("/{null}", `/p "\u0085"`, "/l {", "3")
	f.Fuzz(func(t *testing.T, get, post, login, connections string) {
		d := Draft{Get: get, Post: post, Login: login, Connections: connections}
		text, _, err := d.text("a.yaml")
		if err != nil {
			return
		}
		p, err := Parse("a.yaml", text)
		testenv.Need(t, err == nil, "%v\n%s", err, text)
		var paths []string
		for _, part := range []string{get, post} {
			if path, _ := cut(part); path != "" {
				paths = append(paths, path)
			}
		}
		for i, r := range p.Requests {
			testenv.Need(t, len(paths) == len(p.Requests) && r.Path == paths[i], "%q has requests %+v", d, p.Requests)
		}
		testenv.Need(t, len(p.Setup) <= 1 && (len(p.Setup) == 1) == (strings.TrimSpace(login) != ""),
			"%q has setup %+v", d, p.Setup)
	})
}

// TestNew: only options decide, and existing files stay unchanged.
func TestNew(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, talk bytes.Buffer
	env := console.Env{Stdin: strings.NewReader("shop\n"), Stdout: &out, Stderr: &talk}
	begin := func(file string, d Draft) error {
		out.Reset()
		talk.Reset()
		return New(env, file, d)
	}
	if err := begin("", Draft{}); err != nil || out.String() != "my-api.yaml\n" {
		t.Fatalf("%q, %v", out.String(), err)
	}
	written, err := os.ReadFile("my-api.yaml")
	testenv.Need(t, err == nil && strings.Contains(string(written), "- get: \"/\"\n"), "%s, %v", written, err)
	want := "  2. locbench try my-api.yaml --target http://127.0.0.1:8080\n  3. locbench run --profile my-api.yaml --target http://127.0.0.1:8080\n"
	want += "  4. locbench run --profile my-api.yaml --target old=http://127.0.0.1:8080 --target new=http://127.0.0.1:8081\n"
	testenv.Check(t, strings.Contains(talk.String(), want), "%v", talk.String())
	err = begin("-", Draft{Post: "/o", Login: "/l"})
	testenv.Check(t, err == nil && strings.HasPrefix(out.String(), "# yaml-language-server: ") && talk.Len() <= 0,
		"%v\n%s%s", err, out.String(), talk.String())
	testenv.OK(t, testenv.Err(Parse("a.yaml", out.Bytes())))
	testenv.OK(t, os.Symlink("nowhere", "link.yaml"))
	for file, want := range map[string]string{
		"": "my-api.yaml already exists", "my-api.yaml": "already exists", "link.yaml": "already exists",
		"quick": "ends with .yaml", "a\nb.yaml": "control or invisible characters", "a\u2028b.yaml": "control or invisible characters",
		strings.Repeat("x", 2000) + ".yaml": "too long",
	} {
		err := begin(file, Draft{Get: "/"})
		testenv.Check(t, console.ExitCode(t.Context(), err) == console.ExitUsage && strings.Contains(err.Error(), want),
			"%.20q: %v", file, err)
	}
	// The schema that the first line names is next to the profile; an existing one is not replaced.
	_, named, _ := strings.Cut(strings.SplitN(string(written), "\n", 2)[0], "$schema=")
	schema, err := os.ReadFile(named)
	testenv.Check(t, err == nil && string(schema) == string(Schema), "%q, %v", named, err)
	testenv.OK(t, os.WriteFile(schemaFile, []byte("{}"), 0o600))
	if err := begin("wrong.yaml", Draft{Get: "items"}); console.ExitCode(t.Context(), err) != console.ExitUsage {
		t.Error(err)
	}
	err = begin("no/such/folder.yaml", Draft{Get: "/"})
	testenv.Check(t, err != nil && strings.Contains(err.Error(), "no/such/folder.yaml"), "%v", err)
	const odd = `it's $(a) "#1": é.yaml`
	testenv.OK(t, begin(odd, Draft{Get: "/"}))
	if data, err := os.ReadFile(odd); err != nil || !strings.Contains(string(data), `'it'\''s $(a) "#1": é.yaml'`) {
		t.Errorf("%s, %v", data, err)
	} else if _, err := Parse(odd, data); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(schemaFile); err != nil || string(data) != "{}" {
		t.Errorf("%q, %v", data, err)
	}
	if again, err := os.ReadFile("my-api.yaml"); err != nil || !bytes.Equal(again, written) {
		t.Errorf("an existing file has changed: %v", err)
	}
	entries, _ := os.ReadDir(".")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{odd, "link.yaml", "my-api.yaml", schemaFile}; !slices.Equal(names, want) {
		t.Errorf("left: %q", names)
	}
}

// TestDraft_BodyIsSent: exactly as typed in.
func TestDraft_BodyIsSent(t *testing.T) {
	const body = `{"a":[9.50,1e3,1,12345678901234567891,9007199254740993,"1"],"b":{}}`
	text, _, err := Draft{Post: "/items " + body}.text("p.yaml")
	testenv.OK(t, err)
	p := testenv.Must(Parse("p.yaml", text))(t)
	testenv.Equal(t, p.Requests[0].Body, body)
}

// TestDraftTakesFourMinutes: at most, the comparison of two contenders that `profiles new` writes.
func TestDraftTakesFourMinutes(t *testing.T) {
	text, _, err := Draft{Get: "/items/{item}"}.text("p.yaml")
	testenv.OK(t, err)
	p := testenv.Must(Parse("p.yaml", text))(t)
	p.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "a", Variant: "b"}}
	p, why := Settle(p, 0)
	testenv.Check(t, why == nil && p.Rounds == InterleavedRounds, "%d rounds, not interleaved: %+v", p.Rounds, why)
	for runtime, most := range map[bench.Runtime]time.Duration{
		bench.RuntimeURL: 210 * time.Second, bench.RuntimeProcess: 210 * time.Second, bench.RuntimeDocker: 4 * time.Minute,
	} {
		p.Runtime = runtime
		total := event.Total(p)
		testenv.Check(t, total <= most && total >= 2*time.Minute, "%s: %v, want at most %v", runtime, total, most)
	}
}

// TestNewSaysHowLongAComparisonTakes: the time that `profiles new` prints is the estimate of the
// written profile, for two contenders in containers.
func TestNewSaysHowLongAComparisonTakes(t *testing.T) {
	for connections, want := range map[string]string{
		"64": "Two versions take about 3m32s, without builds: 8 interleaved rounds.",
		"2":  "Two versions take about 2m21s, without builds: 8 interleaved rounds.",
	} {
		t.Chdir(t.TempDir())
		var talk bytes.Buffer
		env := console.Env{Stdout: io.Discard, Stderr: &talk}
		testenv.OK(t, New(env, "", Draft{Get: "/", Connections: connections}))
		testenv.Check(t, strings.Contains(talk.String(), want), "%s connections: %s", connections, talk.String())
	}
}
