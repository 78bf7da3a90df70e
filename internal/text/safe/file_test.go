//go:build unix

package safe

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// makeAll makes one file of each kind and returns the words in its error; "" for files that
// can be opened.
func makeAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(in("file"), []byte("text"), 0o600), os.Mkdir(in("folder"), 0o700),
		syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("file", in("link")), os.Symlink("pipe", in("link-to-pipe")),
		os.Symlink("/dev/zero", in("link-to-device")),
	} {
		testenv.OK(t, err)
	}
	return map[string]string{
		"file": "", "link": "", "folder": "is a folder", "pipe": "is a pipe", "link-to-pipe": "is a pipe",
		"link-to-device": "is a device",
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	root := testenv.Must(os.OpenRoot(dir))(t)
	defer root.Close()
	tree := DirFS(dir)
	for name, want := range makeAll(t, dir) {
		t.Run(name, func(t *testing.T) {
			check := func(how string, data []byte, err error, want string) {
				t.Helper()
				switch {
				case want == "" && (err != nil || string(data) != "text"):
					t.Errorf("%s: %q, %v", how, data, err)
				case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
					t.Errorf("%s: error %v, want %q", how, err, want)
				}
			}
			data, err := ReadFile(filepath.Join(dir, name), 10)
			check("ReadFile", data, err, want)
			if name != "folder" {
				data, err = fs.ReadFile(tree, name)
				check("DirFS", data, err, want)
			}
			data = nil
			f, err := OpenIn(root, name)
			if err == nil {
				data, err = ReadAll(f, name, 10)
				f.Close()
			}
			if name == "link-to-device" {
				want = "escapes"
			}
			check("OpenIn", data, err, want)
		})
	}
	testenv.Fails(t, testenv.Err(ReadFile(filepath.Join(dir, "file"), 3)), "larger than")
	_, err := Open(filepath.Join(dir, "missing"))
	testenv.Check(t, os.IsNotExist(err), "missing: %v", err)
	entries, err := fs.ReadDir(tree, ".")
	testenv.Check(t, err == nil && len(entries) == 6, "%d entries, %v", len(entries), err)
}

func TestAppend(t *testing.T) {
	dir := t.TempDir()
	wants := makeAll(t, dir)
	wants["new"] = ""
	for name, want := range wants {
		if strings.HasPrefix(name, "link") {
			want = "is a link"
		}
		f, err := Append(filepath.Join(dir, name), 0o600)
		testenv.Check(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)),
			"%s: %v, want %q", name, err, want)
		if err == nil {
			f.Close()
		}
	}
	if err := os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "second")); err != nil {
		t.Skip(err)
	}
	testenv.Fails(t, testenv.Err(Append(filepath.Join(dir, "file"), 0o600)), "second name")
}

// TestShell lets a shell read quoted arguments: nothing runs, and each argument comes out
// unchanged.
func TestShell(t *testing.T) {
	args := []string{
		"plain", "", "two words", "it's", `"quoted"`, "$(echo ran)", "`echo ran`", "${HOME}", "$HOME", "~", "~/x", "a~b", "#comment", "a#b", "!!", "a!b",
		"*", "?", "[a]", "{a,b}", "a;b", "a&b", "a|b", "a>b", "(a)", `back\slash`, "-o", "--a=b c", "=ls", "Köln", "a=b", "%1", "^x",
	}
	out := testenv.Must(exec.Command("sh", "-c", "printf '%s\\n' "+Shell(args)).CombinedOutput())(t)
	testenv.Equal(t, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), args)
	testenv.Equal(t, Shell([]string{"a\nb\x1b"}), "ab")
	testenv.Equal(t, Shell([]string{"=ls"}), "'=ls'")
}
