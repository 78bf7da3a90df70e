package services_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"golang.org/x/tools/txtar"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

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
			if _, err := pack(files, "go-x"); err == nil || !bytes.Contains([]byte(err.Error()), []byte(name)) {
				t.Errorf("%s: %v", name, err)
			}
			delete(files, name)
		})
	}
	if _, err := contender.Unpack(data); err == nil {
		t.Error("text that is not compressed: expected an error")
	}
}
