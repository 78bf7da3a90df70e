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
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := os.Stat(path.Join(e.Name(), contender.ManifestName)); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

func unpack(t *testing.T) fs.FS {
	t.Helper()
	fsys, err := contender.Unpack(services.Packed)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func TestContendersArePacked(t *testing.T) {
	want, err := pack(os.DirFS("."), folders(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if *testenv.Update {
		if err := os.WriteFile("contenders.txtar.gz", compressed(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(services.Packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(want, got) { // compressed, it depends on the version of Go
		t.Errorf("contenders.txtar.gz differs from the folders (%v): go generate ./services", err)
	}
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestContendersAreEmbedded: the binary has the same sources as the folders next to this file.
func TestContendersAreEmbedded(t *testing.T) {
	inside, err := contender.Discover(contender.Source{FS: unpack(t), Name: "services"})
	if err != nil {
		t.Fatal(err)
	}
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
		if err == nil && d.IsDir() && (d.Name() == "target" || d.Name() == "node_modules") {
			t.Errorf("%s: build output %s is in the binary", name, file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
