package services_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"golang.org/x/tools/txtar"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/services"
)

// folders returns the contenders next to this file.
func folders(t *testing.T) (names []string) {
	t.Helper()
	entries := testenv.Must(os.ReadDir("."))(t)
	for _, e := range entries {
		if _, err := os.Stat(path.Join(e.Name(), contender.ManifestName)); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

func unpack(t *testing.T) fs.FS {
	t.Helper()
	fsys := testenv.Must(contender.Unpack(services.Packed))(t)
	return fsys
}

func TestContendersArePacked(t *testing.T) {
	want := testenv.Must(pack(os.DirFS("."), folders(t)...))(t)
	if *testenv.Update {
		testenv.OK(t, os.WriteFile("contenders.txtar.gz", compressed(t, want), 0o644))
		return
	}
	z := testenv.Must(gzip.NewReader(bytes.NewReader(services.Packed)))(t)
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(want, got) { // compressed, it depends on the version of Go
		t.Errorf("contenders.txtar.gz differs from the folders (%v): go generate ./services", err)
	}
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := testenv.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))(t)
	testenv.OK(t, testenv.Err(z.Write(text)))
	testenv.OK(t, z.Close())
	return b.Bytes()
}

// TestContendersAreEmbedded: the binary has the same sources as the folders next to this file.
func TestContendersAreEmbedded(t *testing.T) {
	inside := testenv.Must(contender.Discover(contender.Source{FS: unpack(t), Name: "services"}))(t)
	for _, name := range folders(t) {
		disk, err := contender.Discover(contender.Folder(name))
		if err != nil {
			t.Error(err)
			continue
		}
		svc, err := contender.Find(inside, disk[0].Name)
		if err != nil {
			t.Errorf("%s is not in the binary: go generate ./services", name)
			continue
		}
		same(t, name, svc, disk[0])
	}
}

func same(t *testing.T, name string, inside, disk bench.Service) {
	t.Helper()
	in, err1 := contender.SourceHash(inside)
	out, err2 := contender.SourceHash(disk)
	if err1 != nil || err2 != nil || in != out {
		t.Errorf("%s: the sources in the binary differ from the folder: go generate ./services, or .dockerignore lacks a file that is not a source (%v, %v)", name, err1, err2)
	}
	err := fs.WalkDir(inside.Files, ".", func(file string, d fs.DirEntry, err error) error {
		testenv.Check(t, err != nil || !d.IsDir() || (d.Name() != "target" && d.Name() != "node_modules"),
			"%s: build output %s is in the binary", name, file)
		return err
	})
	testenv.OK(t, err)
}

// TestOpenAPIVersion: the checks published with the original service expect 3.0.0, whatever patch a
// framework would write.
func TestOpenAPIVersion(t *testing.T) {
	version := regexp.MustCompile(`"openapi"(?:\s*:| to)\s*"([^"]*)"`)
	var found []string
	packed := unpack(t)
	err := fs.WalkDir(packed, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(packed, path)
		if m := version.FindSubmatch(data); err == nil && m != nil {
			contender, _, _ := strings.Cut(path, "/")
			found = append(found, contender)
			testenv.Equal(t, string(m[1]), "3.0.0", path, m[1])
		}
		return err
	})
	want := []string{"go-nethttp", "kt-http4k", "kt-ktor", "rs-actix"}
	testenv.Check(t, err == nil && slices.Equal(found, want), "%v; OpenAPI of %v, want of %v", err, found, want)
}

// pack returns one text with the folders of contenders, without what .dockerignore leaves out.
func pack(fsys fs.FS, dirs ...string) ([]byte, error) {
	a := txtar.Archive{Comment: []byte("The contenders, for the binary. Made by 'go generate ./services': edit the folders.\n")}
	keep := []string{contender.ManifestName, "Dockerfile", "README.md", ".dockerignore"}
	for _, dir := range dirs {
		ignore, err := fs.ReadFile(fsys, path.Join(dir, ".dockerignore"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		patterns, err := ignorefile.ReadAll(bytes.NewReader(ignore))
		if err != nil {
			return nil, err
		}
		matcher, err := patternmatcher.New(patterns)
		if err != nil {
			return nil, err
		}
		sub, err := fs.Sub(fsys, dir)
		if err != nil {
			return nil, err
		}
		err = fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Base(name) == ".gitignore" {
				return err
			}
			ignored, err := matcher.MatchesOrParentMatches(name)
			if err != nil || ignored && !slices.Contains(keep, name) {
				return err
			}
			data, err := fs.ReadFile(sub, name)
			if err != nil {
				return err
			}
			f := txtar.File{Name: path.Join(dir, name), Data: data}
			again := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{f}}))
			if !d.Type().IsRegular() || !utf8.Valid(data) || len(again.Files) != 1 || !bytes.Equal(again.Files[0].Data, data) {
				return fmt.Errorf("pack %s: expected a text file that ends with a newline and has no line `-- name --`", f.Name)
			}
			a.Files = append(a.Files, f)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return txtar.Format(&a), nil
}

func TestPack_KeepsTheSources(t *testing.T) {
	manifest := "language: Go\nframework: f\nversion: \"1\"\nendpoints: [get]\ndocker: {dockerfile: Dockerfile}\n"
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go-x/go.mod": "module x\n", "go-x/service.yaml": manifest, "go-x/Dockerfile": "FROM scratch\n", "go-x/in/a.go": "package in\n",
		"go-x/empty": "", "go-x/.dockerignore": "service\nservice.yaml\nREADME.md\n", "go-x/service": "\x7fELF", "go-x/.gitignore": "service\n", "go-x/README.md": "# x\n",
		"other/service.yaml": manifest, "other/Dockerfile": "FROM scratch\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	data, err := pack(files, "go-x")
	testenv.OK(t, err)
	back, err := contender.Unpack(compressed(t, data))
	testenv.OK(t, err)
	testenv.OK(t,
		fstest.TestFS(back, "go-x/go.mod", "go-x/service.yaml", "go-x/in/a.go", "go-x/empty", "go-x/README.md", "go-x/.dockerignore"))
	found, err := contender.Discover(contender.Source{FS: back, Name: "services"})
	testenv.Need(t, err == nil && len(found) == 1 && found[0].Name == "go-x", "%+v, %v", found, err)
	onDisk, err := contender.Discover(contender.Source{FS: files, Name: "services"})
	testenv.OK(t, err)
	was, err1 := contender.SourceHash(onDisk[0])
	is, err2 := contender.SourceHash(found[0])
	testenv.Check(t, was == is && err1 == nil && err2 == nil, "other sources: %s %v, %s %v", was, err1, is, err2)
	for name, bad := range map[string]string{"go-x/bin": "\xff\n", "go-x/cut": "no line end", "go-x/marker": "a\n-- b --\nc\n"} {
		t.Run(name, func(t *testing.T) {
			files[name] = &fstest.MapFile{Data: []byte(bad)}
			_, err := pack(files, "go-x")
			testenv.Check(t, err != nil && bytes.Contains([]byte(err.Error()), []byte(name)), "%s: %v", name, err)
			delete(files, name)
		})
	}
	testenv.Check(t, testenv.Err(contender.Unpack(data)) != nil, "text that is not compressed: expected an error")
}
