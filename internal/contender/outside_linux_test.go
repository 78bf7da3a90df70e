package contender

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// tree writes files, folders ("") and links ("-> TO") below a new folder.
func tree(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		testenv.OK(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			testenv.OK(t, os.Symlink(to, at))
		} else {
			testenv.OK(t, os.WriteFile(at, []byte(text), 0o644))
		}
	}
	return dir
}

const outsideManifest = `language: Go
framework: net/http
version: "1"
docker: {dockerfile: Dockerfile}
process: {command: [./x]}
`

// TestOutside: a link that leads out of the folder ends a build, with what to do; others are copied.
func TestOutside(t *testing.T) {
	dir := tree(t, map[string]string{
		".git": "gitdir: elsewhere", "lib/a.go": "in", "svc/x/lib": "-> ../../lib", "svc/x/own": "-> Dockerfile", "svc/x/sub/own": "-> ../Dockerfile",
		"svc/x/Dockerfile": "", "svc/x/abs": "-> /etc", "svc/x/service.yaml": outsideManifest,
	})
	svc := testenv.Must(Discover(Folder(filepath.Join(dir, "svc"))))(t)[0]
	o := BuildOptions{Cache: t.TempDir()}
	for _, err := range []error{testenv.Err(BuildProcess(t.Context(), svc, o)), CheckContext(svc)} {
		testenv.Fails(t, err, "svc/x/lib: the link to ../../lib leads out of the folder: put what it leads to into the contender's folder, or exclude the link")
		testenv.Equal(t, strings.Count(err.Error(), "leads out"), 1)
	}
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "svc/x/.dockerignore"), []byte("lib"), 0o644))
	testenv.OK(t, CheckContext(svc))
	built := testenv.Must(BuildProcess(t.Context(), svc, o))(t)
	testenv.Equal(t, testenv.Must(os.Readlink(filepath.Join(built.Dir, "sub/own")))(t), "../Dockerfile")
}
