package profile

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// One mistyped key is one mistake, in its line: what follows from it is not reported.
func TestOneMistypedKeyIsOneMistake(t *testing.T) {
	const file = "testdata/every_key.yaml" // one key a line where a key has others inside
	data := testenv.Must(os.ReadFile(file))(t)
	testenv.OK(t, testenv.Err(Parse(file, data)))
	lines := strings.Split(string(data), "\n")
	key := regexp.MustCompile(`^( *(?:- )?)([a-z_0-9]+):`)
	tried := 0
	for i, line := range lines {
		m := key.FindStringSubmatch(line)
		if m == nil || ofUser(lines, i) {
			continue
		}
		for how, mistyped := range map[string]string{"swapped": swapped(m[2]), "strange": "zzqqxx"} {
			if mistyped == m[2] {
				continue
			}
			tried++
			wrong := append([]string{}, lines...)
			wrong[i] = m[1] + mistyped + line[len(m[0])-1:]
			_, err := Parse(file, []byte(strings.Join(wrong, "\n")))
			all, _ := err.(strictyaml.Mistakes)
			expected := len(all) == 1 && all[0].Line == i+1 &&
				(strings.Contains(all[0].What, "unknown key") || strings.Contains(all[0].What, "is not a part of a response"))
			none := len(all) == 1 && all[0].Line >= i && strings.Contains(all[0].What, "has none of") // a need without the one key that it must have
			testenv.Check(t, expected || none,
				"%s, line %d, %q as %s:\n%v", how, i+1, strings.TrimSpace(line), mistyped, err)
		}
	}
	testenv.Check(t, tried >= 150, "only %d keys were tried", tried)
}

// ofUser reports whether the key of a line is a name that a user chooses.
func ofUser(lines []string, i int) bool {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " -")) }
	for j := i - 1; j >= 0; j-- {
		if indent(lines[j]) >= indent(lines[i]) {
			continue
		}
		parent, _, _ := strings.Cut(strings.TrimLeft(lines[j], " -"), ":")
		switch parent {
		case "variables", "header", "json", "form", "save", "json_includes", "env", "count", "ulimits":
			return true
		case "needs":
			return strings.TrimSpace(lines[i]) != "elasticsearch:"
		}
		return strings.HasSuffix(strings.TrimSpace(lines[i]), "orders:")
	}
	return false
}

func swapped(key string) string {
	if len(key) < 3 {
		return key + "x"
	}
	b := []byte(key)
	b[1], b[2] = b[2], b[1]
	return string(b)
}

// What a profile declares or saves as id or language is that, not the data set's.
func TestOwnIDAndLanguage(t *testing.T) {
	const begin = "contenders: [a]\nsteps: [1]\n"
	for name, text := range map[string]string{
		"variables": "variables: {id: {from: 1, to: 9}, language: {list: [cs]}}\nrequests: [{get: '/items/{id}?l={language}', json: {id: '{id:number}'}}]",
		"setup":     "setup: [{get: /list, save: {id: a, language: b}}]\nrequests: [{get: '/items/{id}?l={language}', header: {X: '{id}'}}]\nteardown: [{delete: '/{id}'}]",
		"session":   "sessions: [{name: s, requests: [{get: /list, save: {id: id, language: l}}, {get: '/items/{id}?l={language}', expect: {json: {id: '{id}'}}}]}]",
		"typed":     "sessions: [{name: s, requests: [{get: /list, save: {id: id}}, {get: '/items/{id:number}'}]}]",
		"row":       "variables: {id: {list: [a]}}\nrequests: [{get: '/items/{id}', expect: {contains: '{id}'}}]",
	} {
		p, err := Parse("p.yaml", []byte(begin+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		testenv.Check(t, !p.DrawsIDs(), "%s: the data set is used", name)
		for _, r := range p.Every() {
			testenv.Check(t, r.IDs.Distribution == "" && r.Languages == nil, "%s: %+v", name, r)
		}
	}
}

func TestShortSteps(t *testing.T) {
	got := testenv.Must(ParseSteps([]string{"1 x2 warm-up for 2s", " 2..8 doubling", "64"}, 5*time.Second))(t)
	var b strings.Builder
	for _, s := range got {
		b.WriteString(s.Name + " " + s.Duration.String())
		if s.WarmUp {
			b.WriteString(" warm-up")
		}
		b.WriteString("; ")
	}
	if want := "1 connection 2s warm-up; 1 connection 2s warm-up; 2 connections 5s; 4 connections 5s; 8 connections 5s; 64 connections 5s; "; b.String() != want {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
	for items, want := range map[string]string{"many": "many", "8..2 doubling": "rise", "0": "from 1 to", "100001": "65535", "": ""} {
		t.Run(items, func(t *testing.T) {
			if _, err := ParseSteps([]string{items}, time.Second); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "steps:") {
				t.Errorf("%q: %v, want %q", items, err, want)
			}
		})
	}
}

// TestShortSteps_Written: the short form says all of the steps that it is read from.
func TestShortSteps_Written(t *testing.T) {
	for _, text := range []string{
		"1", "1 x2", "1, 2", "1, 2, 5", "2..8 doubling", "1 x3, 2..64 doubling, 100", "4 warm-up, 4, 4 for 3s, 8",
		"1 x2 warm-up for 2s, 1", "1 warm-up for 2s or longer, 1, 4, 16", "2..8 doubling, 2..8 doubling for 1s, 1",
		"4 warm-up for 5s, 4 for 4s, 8",
	} {
		steps := testenv.Must(ParseSteps(strings.Split(text, ", "), 5*time.Second))(t)
		again, err := ParseSteps(strings.Split(ShortSteps(steps), ", "), steps[len(steps)-1].Duration)
		testenv.Check(t, err == nil && reflect.DeepEqual(again, steps), "%q is written as %q: %+v, %v", text, ShortSteps(steps), again, err)
		testenv.Check(t, len(ShortSteps(steps)) <= len(text)+len(" for 5s or longer"), "%q is written as %q", text, ShortSteps(steps))
	}
	testenv.Equal(t, ShortSteps([]bench.Step{{Name: "100/s", Rate: 100, Duration: time.Second}, {Connections: 1, Duration: time.Second}}), "100/s, 1")
}

// Every path in a profile is relative to its file, wherever locbench is started.
func TestPathsAreRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"u.csv": "a\nb\n", "body.bin": "x", "schema.json": `{"type": "object"}`, "targets.txt": "GET http://h/a\n",
	} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(t.TempDir())
	p, err := Parse(filepath.Join(dir, "p.yaml"), []byte(`
services: svc
contenders: [{orders: {dir: before, as: b}}]
needs: {elasticsearch: {cities: {dir: dump}}}
checks: {suites: [mine.yaml, ./more, locations]}
variables: {u: {file: u.csv, column: a}}
requests: [{post: "/{u}", file: body.bin, expect: {schema: schema.json}}]
steps: [1]
`))
	testenv.OK(t, err)
	for _, tt := range []struct{ got, want string }{
		{p.Services, "svc"}, {p.Settings[0].Dir, "before"}, {p.Needs[0].Texts()[0], "dump"}, {p.Checks.Suites[0], "mine.yaml"},
		{p.Checks.Suites[1], "more"}, {p.Variables[0].File, "u.csv"}, {p.Requests[0].BodyFile, "body.bin"},
	} {
		testenv.Equal(t, tt.got, filepath.Join(dir, tt.want), tt.want)
	}
	testenv.Check(t, p.Checks.Suites[2] == "locations" && p.Requests[0].Expect["schema"] != "schema.json",
		"%+v, %+v", p.Checks, p.Requests[0].Expect)
	if _, err := Parse(filepath.Join(dir, "p.yaml"), []byte("requests: {targets: targets.txt}\nsteps: [1]\n")); err != nil {
		t.Error(err)
	}
}
