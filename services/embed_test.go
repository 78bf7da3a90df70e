package services_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/services"
)

// folders returns the contenders next to this file: those that are Go modules, and the others.
func folders(t *testing.T) (modules, others []string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	testenv.OK(t, err)
	for _, e := range entries {
		if _, err := os.Stat(path.Join(e.Name(), contender.ManifestName)); err != nil {
			continue
		}
		if _, err := os.Stat(path.Join(e.Name(), "go.mod")); err == nil {
			modules = append(modules, e.Name())
		} else {
			others = append(others, e.Name())
		}
	}
	return modules, others
}

func TestModulesArePacked(t *testing.T) {
	modules, _ := folders(t)
	want, err := pack(os.DirFS("."), modules...)
	testenv.OK(t, err)
	if *testenv.Update {
		testenv.OK(t, os.WriteFile("modules.txtar", want, 0o644))
		return
	}
	if !bytes.Equal(want, services.Modules) {
		t.Errorf("modules.txtar differs from the folders of %v: go generate ./services", modules)
	}
}

// TestContendersAreEmbedded: the binary has the same sources as the folders next to this file.
func TestContendersAreEmbedded(t *testing.T) {
	modules, others := folders(t)
	sources := []contender.Source{{FS: services.FS, Name: "services"}}
	packed, err := contender.Unpack(services.Modules)
	testenv.OK(t, err)
	if packed != nil {
		sources = append(sources, contender.Source{FS: packed, Name: "services"})
	}
	inside, err := contender.Discover(sources...)
	testenv.OK(t, err)
	for _, name := range slices.Concat(modules, others) {
		disk, err := contender.Discover(contender.Folder(name))
		if err != nil {
			t.Error(err)
			continue
		}
		svc, err := contender.Find(inside, disk[0].Name)
		if err != nil {
			t.Errorf("%s is not in the binary: name its sources in embed.go (or, with a go.mod, run go generate ./services)", name)
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
		t.Errorf("%s: the sources in the binary differ from the folder: embed.go lacks a file, or .dockerignore lacks one that is not a source (%v, %v)", name, err1, err2)
	}
	err := fs.WalkDir(inside.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "target" || d.Name() == "node_modules") {
			t.Errorf("%s: build output %s is in the binary", name, file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
