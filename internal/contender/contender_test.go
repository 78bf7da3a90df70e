package contender_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// full returns a manifest with every key.
func full(t testing.TB) string {
	t.Helper()
	text := testenv.Must(os.ReadFile("testdata/read/service.yaml"))(t)
	return string(text)
}

func parse(t *testing.T, text string) bench.Service {
	t.Helper()
	s := testenv.Must(contender.Parse("services/rs-actix/service.yaml", []byte(text)))(t)
	return s
}

// golden compares a service with a golden file.
func golden(t *testing.T, name string, svc bench.Service) {
	t.Helper()
	text := testenv.Must(json.MarshalIndent(svc, "", "  "))(t)
	testenv.Golden(t, "testdata/read/"+name+".json", string(text)+"\n")
}

func TestParse(t *testing.T) {
	golden(t, "service", parse(t, full(t)))
	small := parse(t, "language: Go\nframework: x\nversion: 1\nendpoints: all\nprocess: {command: [./x]}\n")
	if small.Name != "rs-actix" || small.Port != 8080 || !reflect.DeepEqual(small.Ready, bench.Ready{Path: "/", Timeout: time.Minute}) || len(small.Endpoints) != 7 {
		t.Errorf("defaults: %+v", small)
	}
}

// TestResolve: the service of each variant, the default and those that the manifest has.
func TestResolve(t *testing.T) {
	svc := parse(t, full(t))
	for _, variant := range []string{"", "lto", "elsewhere", "inside"} {
		resolved := testenv.Must(contender.Resolve(svc, variant))(t)
		golden(t, resolved.Variant, resolved)
		again := testenv.Must(contender.Resolve(resolved, resolved.Variant))(t)
		testenv.Equal(t, again, resolved, "resolving twice")
	}
	golden(t, "service", svc) // Resolve does not change its argument
	for variant, want := range map[string]string{
		"lot": "contender rs-actix has no variant \"lot\"; did you mean `lto`?",
		"x":   `contender rs-actix has no variant "x"; its variants: release, lto, elsewhere, inside`,
	} {
		testenv.Fails(t, testenv.Err(contender.Resolve(svc, variant)), want)
	}
	_, err := contender.Resolve(bench.Service{Name: "a"}, "x")
	testenv.Check(t, err != nil, "a variant of a service without any was found")
}

// TestVariantCommand: a variant starts the same build with another command, in a container and as a
// process.
func TestVariantCommand(t *testing.T) {
	svc := parse(t, `language: Java
framework: x
version: 1
endpoints: [get]
docker: {dockerfile: Dockerfile, command: [java, -jar, /app.jar]}
process: {build: [[mvn, package]], command: [java, -jar, "{{.Dir}}/app.jar"]}
variants:
  - name: plain
  - {name: zgc, command: [java, -XX:+UseZGC, -jar, "{{.Dir}}/app.jar"]}
`)
	for variant, want := range map[string]string{"plain": "-jar", "zgc": "-XX:+UseZGC"} {
		t.Run(variant, func(t *testing.T) {
			got, err := contender.Resolve(svc, variant)
			if err != nil || got.Docker.Command[1] != want || got.Process.Command[1] != want || len(got.Process.Build) != 1 {
				t.Errorf("%s: %+v, %+v, %v", variant, got.Docker, got.Process, err)
			}
		})
	}
	testenv.Check(t, svc.Process.Command[1] == "-jar" && svc.Docker.Command[1] == "-jar",
		"Resolve has changed its argument")
}

func TestFill(t *testing.T) {
	svc := parse(t, full(t))
	var tmpl bench.Template
	tmpl.Other, tmpl.Port, tmpl.Dir = bench.NeedAddress{Host: "10.0.0.5", Port: "9200"}, 8081, "/build"
	artifact := bench.Artifact{Dir: "/build", Command: []string{"target/service", "x{{ .Name }}", "{{.Port}}"}}
	a, env, err := contender.Fill(svc, artifact, tmpl)
	testenv.OK(t, err)
	testenv.Equal(t, a.Command, []string{filepath.Join("/build", "target/service"), "x", "8081"})
	testenv.Equal(t, env, map[string]string{"GOOUT_ELASTIC_HOST": "10.0.0.5", "GOOUT_ELASTIC_PORT": "9200", "PORT": "8081"})
	testenv.Equal(t, artifact.Command[2], "{{.Port}}", "Fill has changed its argument")
	for _, text := range []string{"{{.Elastic.Url}}", "{{range 9}}x{{end}}", "{{", "{{.Port}", "{{.}}", "{{}}"} {
		testenv.Check(t, testenv.Err(contender.Command([]string{text}, tmpl)) != nil, "%s was filled in", text)
	}
	tmpl.Name = strings.Repeat("x", 16<<10)
	testenv.Fails(t, testenv.Err(contender.Command([]string{"{{.Name}}{{.Name}}"}, tmpl)),
		"the result is longer than 16KiB")
}

// TestFill_Needs: a template has all that is known of the address of a need. A run without the need
// has none of it, but no mistake either.
func TestFill_Needs(t *testing.T) {
	db := bench.NeedAddress{
		URL: "postgres://app:pw@db:5432/shop", Host: "db", Port: "5432", Ports: map[string]string{"main": "5432", "admin": "8080"},
		User: "app", Password: "pw", Database: "shop", Kind: bench.Postgres,
	}
	const all = "{{.Needs.my-db.URL}} {{.Needs.my-db.Host}} {{.Needs.my-db.Port}} {{.Needs.my-db.Ports.admin}} {{.Needs.my-db.User}} " +
		"{{.Needs.my-db.Password}} {{.Needs.my-db.Database}}"
	for text, want := range map[string]string{
		all: "postgres://app:pw@db:5432/shop db 5432 8080 app pw shop",
		strings.ReplaceAll(all, "my-db", "other"): "http://none  7 7   ",
		"{{.Needs.my-db.Ports.amdin}}":            "command \"{{.Needs.my-db.Ports.amdin}}\": `{{.Needs.my-db.Ports.amdin}}`: my-db has no port \"amdin\"; did you mean `admin`?",
		"{{.Needs.my-db.ADO}}":                    "Host=db;Port=5432;Username=app;Password=pw;Database=shop",
		"{{.Needs.other.JDBC}}":                   "http://none",
		"{{.Needs.cache.JDBC}}":                   "command \"{{.Needs.cache.JDBC}}\": `{{.Needs.cache.JDBC}}`: need cache: JDBC is for PostgreSQL, MySQL and MariaDB; use Host, Port, User, Password and Database, or URL",
		"{{.Needs.cache.URL}}":                    "command \"{{.Needs.cache.URL}}\": `{{.Needs.cache.URL}}`: no URL of need cache is known; use Host and Port",
		"{{.Needs.my-db.Pasword}}":                "command \"{{.Needs.my-db.Pasword}}\": unknown field `{{.Needs.my-db.Pasword}}`; did you mean `.Needs.my-db.Password`?",
	} {
		got, err := contender.Command([]string{text}, bench.Template{
			Needs: map[string]bench.NeedAddress{"my-db": db, "cache": {Host: "cache"}}, Other: bench.NeedAddress{URL: "http://none", Port: "7"},
		})
		if err != nil {
			got = []string{err.Error()}
		}
		testenv.Equal(t, got[0], want, text)
	}
	used := contender.Needs(bench.Service{
		Env:    map[string]string{"A": "x{{ .Needs.db.URL }}", "B": "{{.Elastic.URL}}{{.Needs.}}{{.Port}}"},
		Docker: &bench.DockerRecipe{Command: []string{"{{.Needs.cache.Ports.main}}"}}, Process: &bench.ProcessRecipe{Command: []string{"{{.Needs.mq.Host}}"}},
	})
	testenv.Equal(t, used, map[string]string{
		"db": "{{ .Needs.db.URL }}", "elasticsearch": "{{.Elastic.URL}}", "cache": "{{.Needs.cache.Ports.main}}", "mq": "{{.Needs.mq.Host}}",
	})
}

const minimal = "language: Go\nframework: x\nversion: 1\nendpoints: all\n"

func TestDiscover(t *testing.T) {
	embedded := fstest.MapFS{
		"a/service.yaml":       {Data: []byte(minimal + "docker: {dockerfile: build/Dockerfile}\n")},
		"a/build/Dockerfile":   {Data: []byte("FROM scratch\n")},
		"b/service.yaml":       {Data: []byte(minimal + "process: {command: [x]}\n")},
		"bad/service.yaml":     {Data: []byte(minimal + "docker: {dockerfile: Dockerfile}\nprot: 1\n")},
		"none/readme":          {},
		".hidden/service.yaml": {Data: []byte("x")},
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b", "service.yaml"), minimal+"title: mine\nprocess: {command: [y]}\n")
	write(t, filepath.Join(dir, "single", "service.yaml"), minimal+"image: 1\n")
	write(t, filepath.Join(dir, "other", "Single.2", "service.yaml"), minimal+"docker: {image: x}\n")
	list, err := contender.Discover(
		contender.Source{FS: embedded, Name: "services", Bundled: true}, contender.Folder(dir), contender.Folder(filepath.Join(dir, "other", "Single.2")))
	var names []string
	for _, s := range list {
		names = append(names, s.Name+" "+s.Title+" "+strings.TrimPrefix(s.Dir, filepath.ToSlash(dir)))
		testenv.Check(t, s.Files != nil, "%s has no files", s.Name)
	}
	testenv.Equal(t, names, []string{"a  services/a", "b mine /b", "single.2  /other/Single.2"})
	for _, part := range []string{
		"services/bad/service.yaml:5: there is no file `Dockerfile` in the folder",
		"services/bad/service.yaml:6: unknown key `prot`; did you mean `port`?",
		"/single/service.yaml:5: unknown key `image`; known keys:",
	} {
		testenv.Fails(t, err, part)
	}
	for _, dir := range []string{filepath.Join(dir, "nothing"), t.TempDir()} {
		testenv.Fails(t, testenv.Err(contender.Discover(contender.Folder(dir))), dir)
	}
	twice := fstest.MapFS{
		"a/service.yaml": {Data: []byte("name: x\n" + minimal + "builtin: true\n")},
		"b/service.yaml": {Data: []byte("name: x\n" + minimal + "builtin: true\n")},
	}
	testenv.Fails(t, testenv.Err(contender.Discover(contender.Source{FS: twice, Name: "s"})),
		"contender x is in both s/a and s/b")
	for name, c := range map[string]struct {
		git  map[string]string // folder ─▶ its .git
		want string            // the folder that is found; "": an error
	}{
		"a worktree":            {map[string]string{"a": "gitdir: /src/b/.git/worktrees/a\n"}, "s/b"},
		"its repository first":  {map[string]string{"b": "gitdir: /src/a/.git/worktrees/b\n"}, "s/a"},
		"two worktrees":         {map[string]string{"a": "gitdir: /src/.git/worktrees/a", "b": "gitdir: /src/.git/worktrees/b"}, ""},
		"a submodule":           {map[string]string{"a": "gitdir: ../.git/modules/a\n"}, ""},
		"not a file of git":     {map[string]string{"a": "worktrees/a"}, ""},
		"a worktree in Windows": {map[string]string{"a": `gitdir: C:/src/b/.git/worktrees/a`}, "s/b"},
	} {
		both := maps.Clone(twice)
		for folder, text := range c.git {
			both[folder+"/.git"] = &fstest.MapFile{Data: []byte(text)}
		}
		list, err := contender.Discover(contender.Source{FS: both, Name: "s"})
		if c.want == "" && (err == nil || !strings.Contains(err.Error(), "in both")) || c.want != "" && (err != nil || len(list) != 1 || list[0].Dir != c.want) {
			t.Errorf("%s: %+v, %v; want %q", name, list, err, c.want)
		}
	}
	mine := t.TempDir()
	for _, place := range []string{"main", "pr"} {
		write(t, filepath.Join(mine, place, "orders", "service.yaml"), minimal+"docker: {image: x}\n")
	}
	here, there := filepath.Join(mine, "main"), filepath.Join(mine, "pr")
	_, err = contender.Discover(contender.Folder(here), contender.Folder(there))
	if want := "contender orders is in both " + filepath.ToSlash(here) + "/orders and " + filepath.ToSlash(there) + "/orders"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("two folders: %v, want %q", err, want)
	}
	list, err = contender.Discover(contender.Folder(here), contender.Folder(here))
	testenv.Check(t, err == nil && len(list) == 1, "the same folder twice: %d contenders, %v", len(list), err)
}

func TestFind(t *testing.T) {
	list := []bench.Service{{Name: "go-nethttp"}, {Name: "rs-actix"}}
	testenv.Equal(t, testenv.Must(contender.Find(list, "rs-actix"))(t).Name, "rs-actix")
	_, err := contender.Find(list, "rs-actx")
	testenv.Check(t, err != nil && err.Error() == "unknown contender \"rs-actx\"; did you mean `rs-actix`?", "%v", err)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testenv.OK(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestMistakes compares the mistakes in each testdata/*.yaml with the .txt next to it.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	testenv.Need(t, err == nil && len(files) != 0, "no testdata: %v", err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			testenv.OK(t, err)
			_, err = contender.Parse("services/x/"+filepath.Base(file), data)
			var mistakes strictyaml.Mistakes
			testenv.Need(t, errors.As(err, &mistakes), "no mistakes, but %v", err)
			testenv.Golden(t, strings.TrimSuffix(file, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

// TestRepositoryContenders reads the contenders of the repository.
func TestRepositoryContenders(t *testing.T) {
	list := testenv.Must(contender.Discover(contender.Folder(filepath.Join("..", "..", "services"))))(t)
	for _, s := range list {
		for _, group := range []string{"get", "benchmark"} {
			testenv.Check(t, strings.Contains(" "+strings.Join(s.Endpoints, " ")+" ", " "+group+" "),
				"%s leaves out %s, the least that a contender has", s.Name, group)
		}
		for _, v := range append([]bench.Variant{{}}, s.Variants...) {
			testenv.Fails(t, testenv.Err(contender.Resolve(s, v.Name)), "")
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(full(f)))
	files, _ := filepath.Glob("../../services/*/service.yaml")
	more, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range append(files, more...) {
		data := testenv.Must(os.ReadFile(file))(f)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := contender.Parse("services/x/service.yaml", data)
		if err != nil {
			var mistakes strictyaml.Mistakes
			testenv.Need(t, errors.As(err, &mistakes), "%v", err)
			return
		}
		testenv.Need(t, s.Name != "" && s.Port >= 1 && s.Port <= 65535, "out of bounds: %+v", s)
		for _, v := range append([]bench.Variant{{}}, s.Variants...) {
			r, err := contender.Resolve(s, v.Name)
			testenv.OK(t, err)
			testenv.Check(t, r.Builtin || r.Docker != nil || r.Process != nil,
				"variant %q cannot be run: %+v", v.Name, r)
			var tmpl bench.Template
			tmpl.Other.URL, tmpl.Port, tmpl.Dir = "http://e:1", 1, "/d"
			_, _, err = contender.Fill(r, bench.Artifact{}, tmpl)
			testenv.Check(t, err == nil || strings.Contains(err.Error(), "come out"), "%v", err)
		}
	})
}
