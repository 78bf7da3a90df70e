package contender

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestIgnore(t *testing.T) {
	for _, tt := range []struct {
		rules, out, in string // names divided by blanks
	}{
		{"target", "target target/a target/a/b", "src/target targets"},
		{"*.log", "a.log", "d/a.log a.txt"},
		{"**/*.log", "a.log d/a.log d/e/a.log d/e.log/x", "a.txt"},
		{"d/**", "d/a d/a/b", "e"},
		{"# comment\n\n/target/\n./bin", "target bin bin/x", "a"},
		{"*\n!src\n!*.toml", "a target/x", "src src/a src/b/c Cargo.toml"},
		{"node_modules\n!node_modules/keep", "node_modules/a", "node_modules/keep node_modules/keep/a"},
		{"a?c\n[xy]z", "abc xz yz", "ac az"},
		{"[", "", "["},
		{"/", "", "a"},
		{"**/a/**/b", "a/b x/a/y/z/b x/a/b/c", "a b"},
		{"!a\na\n!a", "", "a"},
	} {
		list := parseIgnore(tt.rules)
		for _, name := range strings.Fields(tt.out) {
			if !list.ignored(name) {
				t.Errorf("%q keeps %s", tt.rules, name)
			}
		}
		for _, name := range strings.Fields(tt.in) {
			if list.ignored(name) {
				t.Errorf("%q ignores %s", tt.rules, name)
			}
		}
	}
}

func TestIgnoreIsQuick(t *testing.T) {
	list := parseIgnore(strings.Repeat("**/", 1000) + "x")
	done := make(chan bool, 1)
	go func() { done <- list.ignored(strings.Repeat("a/", 500) + "y") }()
	select {
	case ignored := <-done:
		if ignored {
			t.Error("ignored")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("takes for ever")
	}
}

// TestContextIsTheSameWhereverItLies packs the same files from memory and from disk, with other times and modes.
func TestContextIsTheSameWhereverItLies(t *testing.T) {
	files := map[string]string{
		"Dockerfile": "FROM scratch\n", "src/main.go": "package main\n", "run.sh": "#!/bin/sh\n", "target/big": "x", ".dockerignore": "target\nDockerfile\n",
	}
	mem, dir := fstest.MapFS{}, t.TempDir()
	for name, text := range files {
		mem[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444, ModTime: time.Unix(1, 0)}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	fromMemory, fromDisk := pack(t, mem), pack(t, os.DirFS(dir))
	if !bytes.Equal(fromMemory, fromDisk) {
		t.Error("memory and disk give different contexts")
	}
	var names []string
	for r := tar.NewReader(bytes.NewReader(fromDisk)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		// In a local time zone west of Greenwich too, a zip file must be able to hold it.
		if h.ModTime.In(time.FixedZone("", -12*3600)).Year() < 1980 {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
		name := h.Name
		if h.Mode&0o111 != 0 && h.Typeflag == tar.TypeReg {
			name += "*"
		}
		names = append(names, name)
	}
	// The Dockerfile stays although it is ignored: the engine needs it.
	if got, want := strings.Join(names, " "), ".dockerignore Dockerfile run.sh* src/ src/main.go"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	before := hash(t, mem, "x")
	mem["src/main.go"].Data = []byte("package other\n")
	if after := hash(t, mem, "x"); after == before {
		t.Error("other content, the same hash")
	}
	if hash(t, mem, "x", "y") == hash(t, mem, "xy") {
		t.Error("other arguments, the same hash")
	}
}

func pack(t *testing.T, fsys fs.FS) []byte {
	t.Helper()
	skip, err := readIgnore(fsys)
	if err != nil {
		t.Fatal(err)
	}
	list, err := listFiles(fsys, skip, "Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := writeTar(&b, fsys, list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hash(t *testing.T, fsys fs.FS, others ...string) string {
	t.Helper()
	list, err := listFiles(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := contextHash(fsys, list, others...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(dir, "etc")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	list, err := listFiles(os.DirFS(dir), nil)
	if err != nil || len(list) != 1 || list[0].link != "/etc" {
		t.Fatalf("%+v, %v", list, err)
	}
	out := t.TempDir()
	if err := unpack(out, os.DirFS(dir), list); err != nil {
		t.Fatal(err)
	}
	if link, err := os.Readlink(filepath.Join(out, "etc")); err != nil || link != "/etc" {
		t.Errorf("%s, %v", link, err)
	}
}

func TestFolderIsBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range maxFiles + 1 {
		fsys["f"+strings.Repeat("x", i%100)+string(rune('a'+i%26))+strconv.Itoa(i)] = &fstest.MapFile{}
	}
	if _, err := listFiles(fsys, nil); err == nil || !strings.Contains(err.Error(), ".dockerignore") {
		t.Errorf("got %v", err)
	}
	if list, err := listFiles(fsys, parseIgnore("f*")); err != nil || len(list) != 0 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("*\n!src\n# x\n/a/**/b\n[xy]?*.log", "src/a/b.log")
	f.Add("**\n!**/keep", "a/keep")
	f.Fuzz(func(t *testing.T, rules, name string) {
		if !fs.ValidPath(name) {
			return
		}
		if parseIgnore(rules).ignored(name) && parseIgnore(rules+"\n!"+name+"\n").ignored(name) && plainName(name) {
			t.Errorf("%q is ignored although the last line takes it back in", name)
		}
	})
}

// plainName says whether name as a pattern stands for itself.
func plainName(name string) bool {
	return !strings.ContainsAny(name, "*?[]\\!#\r\n\t\v\f \u0085\u00a0") && strings.TrimSpace(name) == name && name != "."
}
