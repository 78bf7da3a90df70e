package safe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// hostile holds one of each kind of character that must not reach a terminal.
const hostile = "\x1b[31m\x07\x7f\u009b1m\u0085\u202e\u2066\u200e\u061c\u2028\U000e0001"

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		"a\tb\nc\r\n":       "a\tb\nc\r\n",
		"done\rFAKE":        "done␍FAKE",
		"\x1b[31mred\x7f":   "␛[31mred␡",
		"\u009b31m a\u202e": "\ufffd31m a\ufffd",
		"\x9b":              "\ufffd",
		"Łódź – Köln":       "Łódź – Köln",
	} {
		testenv.Equal(t, Text(in), want, in)
	}
}

func TestJSON(t *testing.T) {
	data := testenv.Must(json.Marshal(map[string]string{"text": hostile + "Köln \U0001f600"}))(t)
	got := JSON(data)
	for _, r := range string(got) {
		testenv.Check(t, !unicode.IsControl(r) && !unsafe(r), "%s holds %U", got, r)
	}
	var back map[string]string
	err := json.Unmarshal(got, &back)
	testenv.Check(t, err == nil && back["text"] == hostile+"Köln \U0001f600", "%q, %v", back, err)
	plain := []byte(`{"a":"Köln"}`)
	testenv.Check(t, bytes.Equal(JSON(plain), plain), "%s", JSON(plain))
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
	text := "a secret of Köln " + hostile + "\n"
	for _, c := range []byte(text) { // one at a time: characters stay whole, and all come
		n, err := w.Write([]byte{c})
		testenv.Need(t, n == 1 && err == nil, "%v %v", n, err)
	}
	testenv.Equal(t, b.String(), Text(text))
	b.Reset()
	if n, err := w.Write([]byte(text)); n != len(text) || err != nil || b.String() != strings.Replace(Text(text), "secret", "***", 1) {
		t.Errorf("%d, %v: %q", n, err, b.String())
	}
	testenv.Equal(t, w.Unwrap() == &b, true, "unwrapped is the writer")
}

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "GET /city 200", "GET /city 200"},
		{"color", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"title", "\x1b]0;owned\x07", "␛]0;owned␇"},
		{"C1 introducer", "\u009b31m", "\ufffd31m"},
		{"raw C1 byte", "\x9b31m", "\ufffd31m"},
		{"line ends and tabs", "a\r\nb\tc", "a  b c"},
		{"bidirectional override", "a\u202eb", "a\ufffdb"},
		{"letters stay", "Łódź – Köln", "Łódź – Köln"},
		{"cut", strings.Repeat("x", 200), strings.Repeat("x", 100) + "…"},
		{"cut inside a character", strings.Repeat("x", 99) + "é!", strings.Repeat("x", 99) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) { testenv.Equal(t, Line(c.in, 100), c.want, c.name) })
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[2J\x9b\u202e", 5)
	f.Add("é", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(0, n%1000)
		got := Line(s, n)
		testenv.Need(t, utf8.ValidString(got), "%q gave invalid UTF-8 %q", s, got)
		for _, r := range got {
			testenv.Need(t, !unicode.IsControl(r) && !unsafe(r), "%q gave %q, which holds %U", s, got, r)
		}
	})
}

func TestIsText(t *testing.T) {
	random := make([]byte, 300)
	for i := range random {
		random[i] = byte(1 + i*97%255)
	}
	for text, want := range map[string]bool{
		"": true, "{\"a\": 1}\r\n\t": true, "Gr\xf6\xdfe": true, "\x1b[2J\x1b]0;x\a": true, "\x1f\x8b\b\x00\x00": false,
		string(random): false, "\x89PNG\r\n\x1a\n\x00": false, strings.Repeat("a", 990) + "\x01\x02\x03" + "\x00": false,
		strings.Repeat("a", 2000) + "\x00": true,
	} {
		testenv.Equal(t, IsText([]byte(text)), want, text)
	}
}

func split(chunks ...[]byte) (got []string) {
	w := NewLineWriter("stdout", func() time.Time { return time.Unix(1, 0) }, func(l bench.LogLine) { got = append(got, l.Text) })
	for _, c := range chunks {
		w.Write(c)
	}
	w.Flush()
	return got
}

func TestLineWriter(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name   string
		chunks []string
		want   []string
	}{
		{"nothing", []string{""}, nil},
		{"lines in one write", []string{"a\nb\n"}, []string{"a", "b"}},
		{"a line in three writes", []string{"a", "b", "c\nd"}, []string{"abc", "d"}},
		{"empty lines and carriage returns", []string{"\n\r\na\r\n"}, []string{"", "", "a"}},
		{"one of a megabyte", []string{long + "\nafter\n"}, []string{long[:MaxLine] + fmt.Sprintf("… (%d more bytes)", 1<<20-MaxLine), "after"}},
		{"a megabyte without an end", []string{long}, []string{long[:MaxLine] + fmt.Sprintf("… (%d more bytes)", 1<<20-MaxLine)}},
		{"exactly the bound", []string{long[:MaxLine] + "\n"}, []string{long[:MaxLine]}},
		{"no UTF-8", []string{"\xff\xfe\x00\x1b[31m\n"}, []string{"\xff\xfe\x00\x1b[31m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var chunks [][]byte
			for _, c := range tt.chunks {
				chunks = append(chunks, []byte(c))
			}
			got := split(chunks...)
			testenv.Need(t, len(got) == len(tt.want), "%d lines, want %d", len(got), len(tt.want))
			for i := range got {
				testenv.Equal(t, got[i], tt.want[i], i)
			}
		})
	}
}

func TestRing(t *testing.T) {
	r := Ring{Size: 3}
	for i := range 9 {
		var want []string
		for j := max(0, i-3); j < i; j++ {
			want = append(want, fmt.Sprint(j))
		}
		var got []string
		for _, l := range r.Lines() {
			got = append(got, l.Text)
		}
		testenv.Equal(t, fmt.Sprint(got), fmt.Sprint(want), i)
		r.Add(bench.LogLine{Text: fmt.Sprint(i)})
	}
}

func FuzzLineWriter(f *testing.F) {
	f.Add([]byte("a\nb"), 1)
	f.Add([]byte("\r\n\n\xff"), 2)
	f.Add(bytes.Repeat([]byte("y"), MaxLine+10), 100)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step <= 0 {
			step = 1
		}
		whole := split(data)
		var chunks [][]byte
		for rest := data; len(rest) > 0; {
			n := min(step, len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		got := split(chunks...)
		testenv.Need(t, fmt.Sprint(got) == fmt.Sprint(whole), "split by %d: %q, in one: %q", step, got, whole)
		for _, l := range whole {
			testenv.Need(t, len(l) <= MaxLine+64, "a line of %d bytes", len(l))
		}
	})
}

// A file is in a folder by where it really is: not by `..`, and not through a link.
func TestWithin(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"bench/data", "other/deep", "benchmark"} {
		testenv.OK(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for _, f := range []string{"bench/data/a", "other/deep/b", "benchmark/c"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, f), nil, 0o600))
	}
	for link, to := range map[string]string{
		"bench/out": "../other/deep/b", "bench/outdir": "../other", "bench/in": "data/a", "bench/loop": "loop", "linked": "bench",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]bool{
		"bench/data/a": true, "bench/data/none": true, "bench/none/none": true, "bench/../bench/data/a": true, "bench/in": true, "linked/data/a": true,
		"benchmark/c": false, "other/deep/b": false, "bench/../other/deep/b": false, "bench/out": false, "bench/outdir/deep/b": false,
		"bench/outdir/deep/none": false, "bench/..": false,
	} {
		for _, folder := range []string{"bench", "linked"} {
			ok := Within(filepath.Join(dir, path), filepath.Join(dir, folder))
			testenv.Check(t, ok == want, "%s in %s: %v", path, folder, ok)
		}
	}
	testenv.Check(t, Within(filepath.Join(dir, "bench/out"), filepath.Join(dir, "bench"), filepath.Join(dir, "other")), "the second folder")
}

// The folder to allow is the file's, or the folder itself, and never all of the machine.
func TestToAllow(t *testing.T) {
	dir := testenv.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	testenv.OK(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "a/f"), nil, 0o600))
	socket := testenv.Must(net.Listen("unix", filepath.Join(dir, "s")))(t)
	defer socket.Close()
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{"a": "a", "a/b": "a/b", "a/f": "a", "a/none": "a", "link": "a", "link/f": "a", "s": ""} {
		if want != "" {
			want = filepath.Join(dir, want)
		}
		testenv.Equal(t, ToAllow(filepath.Join(dir, path)), want, path)
	}
	testenv.Equal(t, ToAllow("/"), "")
	testenv.Equal(t, ToAllow("/none.sql"), "")
}

// sized reports a size that is too large and counts the reads.
type sized struct {
	fs.File
	reads int
}

type sizedInfo struct{ fs.FileInfo }

func (sizedInfo) Size() int64 { return 11 << 20 }

func (s *sized) Stat() (fs.FileInfo, error) {
	info, err := s.File.Stat()
	return sizedInfo{info}, err
}

func (s *sized) Read(p []byte) (int, error) {
	s.reads++
	return s.File.Read(p)
}

// TestReadAll_Size: a file that is too large is refused because of its size, without reading it.
func TestReadAll_Size(t *testing.T) {
	f := testenv.Must(fstest.MapFS{"x": {Data: []byte("{}")}}.Open("x"))(t)
	s := &sized{File: f}
	if _, err := ReadAll(s, "x", 10<<20); err == nil || !strings.Contains(err.Error(), "x is larger than the 10 MiB allowed") || s.reads > 0 {
		t.Errorf("%v, read %d times", err, s.reads)
	}
	data, err := ReadAll(s, "x", 12<<20)
	testenv.Check(t, err == nil && string(data) == "{}", "%q, %v", data, err)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.json")
	testenv.OK(t, WriteFile(path, []byte("old")))
	err := WriteFile(filepath.Join(dir, "no", "such", "f.json"), []byte("x"))
	testenv.Check(t, errors.Is(err, os.ErrNotExist), "error %v", err)
	got, _ := os.ReadFile(path)
	testenv.Check(t, string(got) == "old", "content %q", got)
}

func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f.json"), filepath.Join(dir, "link")
	testenv.OK(t, CreateFile(path, []byte("first")))
	testenv.OK(t, os.Symlink("nowhere", link))
	for _, there := range []string{path, link, dir} {
		err := CreateFile(there, []byte("second"))
		testenv.Check(t, errors.Is(err, os.ErrExist), "%s: %v", there, err)
	}
	got, _ := os.ReadFile(path)
	testenv.Check(t, string(got) == "first", "content %q", got)
	entries, _ := os.ReadDir(dir)
	testenv.Check(t, len(entries) == 2, "left: %v", entries)
}

// TestLines: blank lines are left out, and those in the middle of many.
func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		"one":                             {"one"},
		"one\r\n\n  two \x1b[1m\n":        {"one", "  two ␛[1m"},
		"1\n2\n3\n4\n5\n6":                {"1", "… 3 lines …", "5", "6"},
		"long line of more than 20 bytes": {"long line of more th…"},
	} {
		got := Lines(text, 4, 20)
		testenv.Check(t, slices.Equal(got, want), "%q: %q, want %q", text, got, want)
	}
}

func TestJoined(t *testing.T) {
	for text, want := range map[string]string{
		"one": "one", "one\n": "one", "not ready\nafter 30s": "not ready; after 30s",
		"exit code 3; its last lines:\n  bad\n\n  worse": "exit code 3; its last lines: bad; worse",
	} {
		testenv.Equal(t, Joined(text), want, text)
	}
}
