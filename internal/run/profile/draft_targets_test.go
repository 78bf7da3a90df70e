package profile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestDraftOfTargets: the profile made of a target file sends what 'run --targets' sends.
func TestDraftOfTargets(t *testing.T) {
	const file = "testdata/new/targets/targets.txt"
	text, err := Draft{Targets: file, Connections: "8"}.Text("testdata/shop.yaml")
	testenv.OK(t, err)
	testenv.Golden(t, filepath.Join("testdata", "new", "targets.yaml"), string(text))
	p, err := Parse("testdata/shop.yaml", text)
	testenv.OK(t, err)
	want, _, err := parse("x.yaml", []byte("steps: [1]"), instead{targets: file})
	if err != nil || !reflect.DeepEqual(p.Requests, want.Requests) {
		t.Errorf("got  %+v\nwant %+v, %v", p.Requests, want.Requests, err)
	}
}

// TestDraftOfOddTargets: bodies and headers of any text are written, or nothing is.
func TestDraftOfOddTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, body := range map[string]string{
		"lines": "a\n\n  b\n   \n", "blanks": "  a\n", "tabs": "\ta\n\t\n", "controls": "\x00\x01\x1b[31m\u2028\ufeff", "line ends": "a\r\nb\r\n\r\n",
		"empty lines": "\n\n\n", "yaml": "a: &b [*c]\n---\n# d\n", "long": strings.Repeat("x y ", 10_000), "a number": "7", "nothing": "null",
	} {
		t.Run(name, func(t *testing.T) {
			line, _ := json.Marshal(map[string]any{"method": "PUT", "url": "http://h/a?b=c", "body": []byte(body)})
			testenv.OK(t, os.WriteFile("t.json", line, 0o600))
			text, err := Draft{Targets: "t.json"}.Text("a.yaml")
			testenv.OK(t, err)
			p, err := Parse("a.yaml", text)
			if err != nil || p.Requests[0].Body != body {
				t.Errorf("%q, %v\n%s", p.Requests[0].Body, err, text)
			}
		})
	}
}

// TestNewOfTargets: 'profiles new --targets' writes the profile and names the service of the file
// in the next commands. What it cannot do is an error with the lines of the file.
func TestNewOfTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"load/t.txt": "POST http://shop:9090/a\n@b.json\n\nPURGE http://shop:9090/a\n", "load/b.json": "{}", "wrong.txt": "PURGE http://h/\n\nGET http://h/a b\n",
		"connect.txt": "GET http://h/\nCONNECT http://h/\n",
	} {
		testenv.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	var out, talk bytes.Buffer
	env := console.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk}
	testenv.OK(t, New(env, "shop.yaml", Draft{Targets: "load/t.txt"}))
	text, err := os.ReadFile("shop.yaml")
	if err != nil || !strings.Contains(string(text), "  - method: PURGE\n    path: /a\n") || !strings.Contains(string(text), "    file: load/b.json\n") || strings.Contains(string(text), "- get: /") {
		t.Errorf("%v\n%s", err, text)
	}
	if want := "  2. locbench try shop.yaml --target http://shop:9090\n"; !strings.Contains(talk.String(), want) {
		t.Error(talk.String())
	}
	for name, test := range map[string]struct {
		d    Draft
		want string
	}{
		"lines":      {Draft{Targets: "wrong.txt"}, "wrong.txt:3: the URL has a blank; write `%20` for it, and nothing after the URL"},
		"a method":   {Draft{Targets: "connect.txt"}, "connect.txt:2: `method` is \"CONNECT\"; write another one: CONNECT opens a tunnel, which has no responses to measure"},
		"not found":  {Draft{Targets: "none.txt"}, "read target file: stat none.txt: no such file or directory"},
		"with --get": {Draft{Targets: "load/t.txt", Get: "/"}, "--targets has the requests: leave out --get, --post and --login, and add more in the written file"},
		"with login": {Draft{Targets: "load/t.txt", Login: "/l"}, "--targets has the requests: leave out --get, --post and --login, and add more in the written file"},
	} {
		err := New(env, "other.yaml", test.d)
		if console.ExitCode(t.Context(), err) != console.ExitUsage || err.Error() != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat("other.yaml"); err == nil {
		t.Error("a wrong target file left a profile")
	}
}

// FuzzDraftOfTargets: of any target file that is read, the profile is written and read back
// unchanged, and the draft has the same requests.
func FuzzDraftOfTargets(f *testing.F) {
	f.Add("GET http://h/a\nX: {a} ${B} 'c' \"d\" #e\n", "")
	f.Add("PUT http://h/a?b={c}\nX-1: :\nX-2: - [a]\n\nPUT http://h/a\nX: 0x1f\n\nGET http://h/a\nX: ~\n", "")
	f.Add("", "{a}\n\tb\n  c\n")
	f.Add("", " \n\u0085\ufeff")
	f.Add("GET http://h/a\nX: a\tb\nY: \u2028\ufeff\u0085 z\n", "")
	f.Chdir(f.TempDir())
	f.Fuzz(func(t *testing.T, text, body string) {
		if text == "" && utf8.ValidString(body) {
			line, _ := json.Marshal(map[string]any{"method": "PUT", "url": "http://h/a?b=c", "body": []byte(body)})
			text = string(line)
		}
		if strings.Contains(text, "@") { // names a file
			t.Skip()
		}
		testenv.OK(t, os.WriteFile("t.txt", []byte(text), 0o600))
		p, _, err := parse("a.yaml", []byte("steps: [1]"), instead{targets: "t.txt"})
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, r := range p.Requests {
			if names[r.Name] || len(r.Name) > maxRequestName {
				t.Errorf("%q", r.Name)
			}
			names[r.Name] = true
		}
		whole, err := Format(p)
		testenv.OK(t, err)
		if again, err := Parse("a.yaml", whole); err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%v\n%s", err, whole)
		}
		draft, err := Draft{Targets: "t.txt"}.Text("a.yaml")
		testenv.OK(t, err)
		if again, err := Parse("a.yaml", draft); err != nil || !reflect.DeepEqual(again.Requests, p.Requests) {
			t.Fatalf("%v\n%s", err, draft)
		}
	})
}
