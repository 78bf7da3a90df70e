package profile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestNewOfTargets: 'profiles new --targets' writes the profile and names the service of the file
// in the next commands. What it cannot do is an error with the lines of the file.
func TestNewOfTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"load/t.txt": "POST http://shop:9090/a\n@b.json\n\nPURGE http://shop:9090/a\n", "load/b.json": "{}", "wrong.txt": "PURGE http://h/\n\nGET http://i/\n",
		"connect.txt": "GET http://h/\nCONNECT http://h/\n",
	} {
		testenv.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	var out, talk bytes.Buffer
	env := console.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk}
	testenv.OK(t, New(env, "shop.yaml", Draft{Targets: "load/t.txt"}))
	text, err := os.ReadFile("shop.yaml")
	if err != nil || !strings.Contains(string(text), "\nrequests:\n  targets: load/t.txt\n") || strings.Contains(string(text), "- get: /") {
		t.Errorf("%v\n%s", err, text)
	}
	if want := "  2. locbench try shop.yaml --target http://shop:9090\n"; !strings.Contains(talk.String(), want) {
		t.Error(talk.String())
	}
	for name, test := range map[string]struct {
		d    Draft
		want string
	}{
		"lines":      {Draft{Targets: "wrong.txt"}, "wrong.txt:3: another host than http://h: http://i; write one file for each: all requests go to the contender, or to --target URL"},
		"a method":   {Draft{Targets: "connect.txt"}, "connect.txt:2: `method` is \"CONNECT\"; write another one: CONNECT opens a tunnel, which has no responses to measure"},
		"not found":  {Draft{Targets: "none.txt"}, "read target file: stat none.txt: no such file or directory"},
		"with --get": {Draft{Targets: "load/t.txt", Get: "/"}, "--targets has the requests: leave out --get, --post and --login"},
		"with login": {Draft{Targets: "load/t.txt", Login: "/l"}, "--targets has the requests: leave out --get, --post and --login"},
	} {
		err := New(env, "other.yaml", test.d)
		testenv.Check(t, console.ExitCode(t.Context(), err) == console.ExitUsage && err.Error() == test.want,
			"%s: %v", name, err)
	}
	if _, err := os.Stat("other.yaml"); err == nil {
		t.Error("a wrong target file left a profile")
	}
}
