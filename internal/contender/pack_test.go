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

	"github.com/locbench/locbench/internal/testenv"
)

func TestIgnore(t *testing.T) {
	for _, tt := range []struct {
		rules, out, in string // names, separated by blanks
	}{
		{"target", "target target/a target/a/b", "src/target targets"},
		{"*.log", "a.log", "d/a.log a.txt"},
		{"**/*.log", "a.log d/a.log d/e/a.log d/e.log/x", "a.txt"},
		{"d/**", "d/a d/a/b", "e"},
		{"# comment\n\n/target/\n./bin", "target bin bin/x", "a"},
		{"*\n!src\n!*.toml", "a target/x", "src src/a src/b/c Cargo.toml"},
		{"node_modules\n!node_modules/keep", "node_modules/a", "node_modules/keep node_modules/keep/a"},
		{"a?c\n[xy]z", "abc xz yz", "ac az"},
		{"/", "", "a"},
		{"**/a/**/b", "a/b x/a/y/z/b x/a/b/c", "a b"},
		{"!a\na\n!a", "", "a"},
		{"**.log", "a.log d/a.log", "a.txt"},
		{"a**b", "ab ax/b", "axb"},
		{"../a", "", "a"},
		{"\ufefftarget\r\n  bin  \r\n", "target bin", "a"},
		{"#a\n #a", "#a", "a"},
	} {
		t.Run(tt.rules, func(t *testing.T) {
			for _, name := range strings.Fields(tt.out) {
				out, err := ignored(tt.rules, name)
				testenv.Check(t, err == nil && out, "keeps %s, %v", name, err)
			}
			for _, name := range strings.Fields(tt.in) {
				out, err := ignored(tt.rules, name)
				testenv.Check(t, err == nil && !out, "ignores %s, %v", name, err)
			}
		})
	}
}

// ignored calls the .dockerignore for the folders above name, and then for name.
func ignored(rules, name string) (bool, error) {
	list, err := readIgnore(fstest.MapFS{".dockerignore": {Data: []byte(rules)}})
	if err != nil {
		return false, err
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		if _, err := list.ignored(name[:i], true); err != nil {
			return false, err
		}
	}
	return list.ignored(name, false)
}

func TestIgnoreWithMistakes(t *testing.T) {
	for rules, want := range map[string]string{
		"[": "syntax error in pattern", "!": "illegal exclusion pattern", strings.Repeat("a\n", maxPatterns+1): "1001 patterns, expected at most 1000",
		strings.Repeat("a", 100_000): "bufio.Scanner: token too long",
	} {
		t.Run(rules, func(t *testing.T) {
			fsys := fstest.MapFS{".dockerignore": {Data: []byte(rules)}, "a": {}}
			testenv.Fails(t, testenv.Err(listFiles(fsys)), "read .dockerignore: "+want)
		})
	}
}

func TestIgnoreIsQuick(t *testing.T) {
	done := make(chan bool, 1)
	go func() {
		out, err := ignored(strings.Repeat("**/", 100)+"x", strings.Repeat("a/", 100)+"y")
		done <- out || err != nil
	}()
	select {
	case out := <-done:
		testenv.Check(t, !out, "ignored")
	case <-time.After(30 * time.Second):
		t.Fatal("takes for ever")
	}
}

// TestWriteTar packs the same files from memory and from disk, with other times
// and modes.
func TestWriteTar(t *testing.T) {
	files := map[string]string{
		"Dockerfile": "FROM scratch\n", "src/main.go": "package main\n", "run.sh": "#!/bin/sh\n", "target/big": "x", ".dockerignore": "target\nDockerfile\n",
	}
	mem, dir := fstest.MapFS{}, t.TempDir()
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			mem[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444, ModTime: time.Unix(1, 0)}
			path := filepath.Join(dir, name)
			testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			testenv.OK(t, os.WriteFile(path, []byte(text), 0o600))
		})
	}
	testenv.OK(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o700))
	fromMemory, fromDisk := pack(t, mem), pack(t, os.DirFS(dir))
	testenv.Check(t, bytes.Equal(fromMemory, fromDisk), "memory and disk give different contexts")
	var names []string
	for r := tar.NewReader(bytes.NewReader(fromDisk)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		testenv.OK(t, err)
		// A zip file must be able to hold the time, also in a time zone west of Greenwich.
		testenv.Check(t, h.ModTime.In(time.FixedZone("", -12*3600)).Year() >= 1980, "%s is of %v", h.Name, h.ModTime)
		name := h.Name
		if h.Mode&0o111 != 0 && h.Typeflag == tar.TypeReg {
			name += "*"
		}
		names = append(names, name)
	}
	// The Dockerfile stays although it is ignored: the engine needs it.
	testenv.Equal(t, strings.Join(names, " "), ".dockerignore Dockerfile run.sh* src/ src/main.go")
	before := hash(t, mem, "x")
	mem["src/main.go"].Data = []byte("package other\n")
	after := hash(t, mem, "x")
	testenv.Check(t, after != before, "other content, the same hash")
	testenv.Check(t, hash(t, mem, "x", "y") != hash(t, mem, "xy"), "other arguments, the same hash")
}

func pack(t *testing.T, fsys fs.FS) []byte {
	t.Helper()
	list := testenv.Must(listFiles(fsys, "Dockerfile"))(t)
	var b bytes.Buffer
	testenv.OK(t, writeTar(&b, fsys, list))
	return b.Bytes()
}

func hash(t *testing.T, fsys fs.FS, others ...string) string {
	t.Helper()
	list := testenv.Must(listFiles(fsys))(t)
	h := testenv.Must(hashOf(others, func(w io.Writer) error { return writeTar(w, fsys, list) }))(t)
	return h
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(dir, "etc")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	list, err := listFiles(os.DirFS(dir))
	testenv.Need(t, err == nil && len(list) == 1 && list[0].link == "/etc", "%+v, %v", list, err)
	out := t.TempDir()
	testenv.OK(t, unpack(out, os.DirFS(dir), list))
	testenv.Equal(t, testenv.Must(os.Readlink(filepath.Join(out, "etc")))(t), "/etc")
}

func TestFolderIsBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range maxFiles + 1 {
		fsys["f"+strings.Repeat("x", i%100)+string(rune('a'+i%26))+strconv.Itoa(i)] = &fstest.MapFile{}
	}
	testenv.Fails(t, testenv.Err(listFiles(fsys)), ".dockerignore")
	fsys[".dockerignore"] = &fstest.MapFile{Data: []byte("f*")}
	list, err := listFiles(fsys)
	testenv.Check(t, err == nil && len(list) == 1, "%d files, %v", len(list), err)
}

func FuzzIgnore(f *testing.F) {
	f.Add("*\n!src\n# x\n/a/**/b\n[xy]?*.log", "src/a/b.log")
	f.Add("**\n!**/keep", "a/keep")
	f.Fuzz(func(t *testing.T, rules, name string) {
		if !fs.ValidPath(name) {
			return
		}
		out, err := ignored(rules, name)
		if err != nil || !out || !plainName(name) {
			return
		}
		out, err = ignored(rules+"\n!"+name+"\n", name)
		testenv.Check(t, err == nil && !out, "%q is ignored although the last line takes it back in, %v", name, err)
	})
}

// plainName reports whether name as a pattern matches only itself.
func plainName(name string) bool {
	return !strings.ContainsAny(name, "*?[]\\!#\r\n\t\v\f \u0085\u00a0") && strings.TrimSpace(name) == name && name != "."
}
