package contender

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// TestFollow: which links that lead out of a folder are followed, within a repository and without
// one, what the build gets in their place, and how a build as a process ends for the others.
func TestFollow(t *testing.T) {
	dir := tree(t, map[string]string{
		".git": "gitdir: elsewhere", "lib/a.go": "in", "lib/b.go": "-> a.go", "lib/other": "-> ../more", "lib/back": "-> ../svc",
		"more/c.go": "more", "secret": "", "svc/x/lib": "-> ../../lib", "svc/x/own": "-> Dockerfile", "svc/x/Dockerfile": "",
		"svc/x/all": "-> ../..", "svc/x/git": "-> ../../.git", "svc/x/service.yaml": outsideManifest,
	})
	svc := testenv.Must(Discover(Folder(filepath.Join(dir, "svc"))))(t)[0]
	var got []string
	for _, e := range testenv.Must(sources(svc))(t) {
		got = append(got, strings.TrimSuffix(fmt.Sprint(e.name, " ", e.link, " ", e.out), "  "))
	}
	in := []string{"lib", "lib/a.go", "lib/b.go a.go ", "lib/back ../svc leads to a folder that it is in", "lib/other", "lib/other/c.go"}
	own := []string{"own Dockerfile ", "service.yaml"}
	testenv.Equal(t, got, slices.Concat([]string{"Dockerfile", "all ../.. leads to a folder that it is in",
		"git ../../.git leads out of the repository"}, in, own))

	before := testenv.Must(SourceHash(svc))(t)
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "more/c.go"), []byte("changed"), 0o644))
	testenv.Check(t, testenv.Must(SourceHash(svc))(t) != before, "the hash does not have what a link leads to")
	o := BuildOptions{Cache: t.TempDir()}
	for _, err := range []error{testenv.Err(BuildProcess(t.Context(), svc, o)), CheckContext(svc)} {
		testenv.Fails(t, err, "svc/x/git: the link to ../../.git leads out of the repository: put what it leads to into the contender's folder, or exclude the link",
			"svc/x/all: the link to ../.. leads to a folder that it is in")
	}
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "svc/x/.dockerignore"), []byte("all\ngit\nlib/back"), 0o644))
	testenv.OK(t, CheckContext(svc))
	built := testenv.Must(BuildProcess(t.Context(), svc, o))(t)
	testenv.Equal(t, string(testenv.Must(os.ReadFile(filepath.Join(built.Dir, "lib/other/c.go")))(t)), "changed")

	testenv.OK(t, os.Remove(filepath.Join(dir, ".git"))) // from here on, the services folder is the bound
	testenv.Fails(t, CheckContext(svc), "svc/x/lib: the link to ../../lib leads out of the repository")
	svc.Root = dir
	testenv.OK(t, CheckContext(svc))
}
