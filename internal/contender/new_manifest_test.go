package contender_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

// TestBlank: the new manifest is a valid contender, also with its commented lines.
func TestBlank(t *testing.T) {
	for name, files := range map[string][]string{"image": nil, "dockerfile": {"Dockerfile", "main.go"}} {
		t.Run(name, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "new", "ones")
			dir := filepath.Join(parent, "my_orders.v2")
			for _, file := range files {
				testenv.OK(t, os.MkdirAll(dir, 0o755))
				testenv.OK(t, os.WriteFile(filepath.Join(dir, file), []byte("FROM scratch\n"), 0o600))
			}
			testenv.OK(t, contender.Blank("my_orders.v2", parent))
			svc := testenv.Must(contender.Discover(contender.Folder(dir)))(t)[0]
			text, err := os.ReadFile(filepath.Join(dir, contender.ManifestName))
			testenv.OK(t, err)
			testenv.Golden(t, filepath.Join("testdata", "new", name+".yaml"), string(text))
			_, named, _ := strings.Cut(strings.SplitN(string(text), "\n", 2)[0], "$schema=")
			schema := testenv.Must(os.ReadFile(filepath.Join(dir, named)))(t)
			testenv.Equal(t, string(schema), string(contender.Schema), named)
			byFile := svc.Docker.Image == ""
			if svc.Name != "my_orders.v2" || svc.Endpoints != nil || svc.Port != 8080 || byFile != (files != nil) {
				t.Errorf("%+v %+v", svc, svc.Docker)
			}
			keys := 0
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					keys++
				}
			}
			testenv.Check(t, keys <= 4, "%d lines of keys", keys)
			full := regexp.MustCompile(`(?m)^# ((process|env|language|framework|version): .*)$`).ReplaceAll(text, []byte("$1"))
			more, err := contender.Parse(filepath.Join(dir, contender.ManifestName), full)
			testenv.Check(t, err == nil && more.Process != nil && len(more.Env) == 2, "%v\n%s", err, full)
			other := regexp.MustCompile(`(?m)^docker: .*\n# \.\.\. an image.*\n|^# (docker: )`).ReplaceAll(text, []byte("$1"))
			if swapped, err := contender.Parse(filepath.Join(dir, contender.ManifestName), other); files == nil &&
				(err != nil || swapped.Docker.Dockerfile == "") {
				t.Errorf("%v\n%s", err, other)
			}
			testenv.Fails(t, contender.Blank("my_orders.v2", parent), "already exists")
			again := testenv.Must(os.ReadFile(filepath.Join(dir, contender.ManifestName)))(t)
			testenv.Equal(t, string(again), string(text), "the existing file has changed")
		})
	}
}

func TestBlankRefuses(t *testing.T) {
	parent := t.TempDir()
	names := []string{"", ".", "..", "../x", "a/b", "A", "-a", "a b", "a\nb", `a"b`, "é", strings.Repeat("a", 64)}
	for _, name := range names {
		testenv.Fails(t, contender.Blank(name, parent), "invalid contender name")
	}
	testenv.OK(t, os.Mkdir(filepath.Join(parent, "linked"), 0o755))
	testenv.OK(t, os.Symlink("nowhere", filepath.Join(parent, "linked", contender.ManifestName)))
	testenv.Fails(t, contender.Blank("linked", parent), "already exists")
	testenv.OK(t, os.WriteFile(filepath.Join(parent, "file"), nil, 0o600))
	testenv.Check(t, contender.Blank("file", parent) != nil, "a file has become a folder")
	entries := testenv.Must(os.ReadDir(parent))(t)
	testenv.Equal(t, len(entries), 2, entries)
}
