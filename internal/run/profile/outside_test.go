package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

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
			if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), tt.line) ||
				!strings.HasSuffix(err.Error(), "--allow-files testdata") {
				t.Errorf("%v", err)
			}
			testenv.Check(t, !strings.Contains(strings.ReplaceAll(err.Error(), "hunter2.csv", ""), "hunter2"),
				"quoted: %v", err)
			if _, err := profile.Load("bench/p.yaml", profiles.FS, "testdata"); err != nil && name != "no column of it" {
				t.Errorf("allowed: %v", err)
			}
		})
	}
}
