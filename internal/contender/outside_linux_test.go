package contender

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/safe"
)

// TestCheckContext: what a Dockerfile copies from outside its folder, by a path or a link, with its
// line. Links that are not copied, that stay in the folder, or that are meant for the image are fine.
func TestCheckContext(t *testing.T) {
	links := map[string]string{"shared": "../lib", "src/proto": "../../proto", "here": "src", "etc": "/etc/hosts"}
	for name, c := range map[string]struct{ dockerfile, ignore, want string }{
		"nothing":            {"FROM a\nCOPY main.go /\nCOPY src/main.go here etc /x/", "", ""},
		"a path":             {"FROM a\n\nCOPY ../lib /lib", "", "Dockerfile:3: COPY ../lib leads out"},
		"from a stage":       {"FROM a\nCOPY --from=0 ../lib /lib", "", ""},
		"up and down":        {"FROM a\nADD src/../../x y /lib/", "", "Dockerfile:2: ADD ../x leads out"},
		"a link":             {"FROM a\nCOPY shared /lib", "", "Dockerfile:2: COPY shared: the link shared to ../lib leads out"},
		"below a link":       {"FROM a\nCOPY ./shared/a.go /lib", "", "COPY shared/a.go: the link shared to ../lib leads out"},
		"in a folder":        {"FROM a\nCOPY src /src", "", "COPY src: the link src/proto to ../../proto leads out"},
		"all":                {"FROM a\nCOPY . /src", "src", "COPY .: the link shared to ../lib leads out"},
		"ignored":            {"FROM a\nCOPY . /src", "src\nshared", ""},
		"pattern, variables": {"FROM a\nCOPY s* $X /src/\nADD https://example.org/../x /x", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testenv.OK(t, os.Mkdir(filepath.Join(dir, "src"), 0o755))
			for link, to := range links {
				testenv.OK(t, os.Symlink(to, filepath.Join(dir, link)))
			}
			for file, text := range map[string]string{"Dockerfile": c.dockerfile, ".dockerignore": c.ignore, "main.go": "", "src/main.go": ""} {
				testenv.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
			}
			err := CheckContext(bench.Service{Name: "x", Dir: "svc/x", Files: safe.DirFS(dir), Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}})
			if c.want == "" {
				testenv.OK(t, err)
				return
			}
			testenv.Fails(t, err, "svc/x/Dockerfile:", c.want, "docker build -t x")
			testenv.Equal(t, strings.Count(err.Error(), "leads out"), 1, err)
		})
	}
}
