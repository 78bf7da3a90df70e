package services_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"testing"

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
