package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// filed writes files below a new folder; a name that ends in a slash is a folder.
func filed(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		parent, file := filepath.Split(dir + "/" + name)
		testenv.OK(t, os.MkdirAll(parent, 0o700))
		if file == "" {
			continue
		}
		testenv.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// allIn returns the names of all files below dir, with their texts.
func allIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, strings.TrimPrefix(path, dir)+" "+string(text))
		return err
	})
	testenv.OK(t, err)
	return all
}

// TestEachStartHasAFreshFolder: a process finds its files, and nothing that an earlier start wrote:
// in its working directory, in its folders, in its own files and in TMPDIR. At the end nothing is
// left, however it ends.
func TestEachStartHasAFreshFolder(t *testing.T) {
	built := filed(t, map[string]string{
		"main.sh": "", "conf/app.conf": "conf\n", "data/": "", "lib/one/two": "library\n", "both/own": "own\n", "both/made": "made\n",
	})
	work := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", work)
	folder, err := NewFolder()
	testenv.OK(t, err)
	script := `set -e
for f in new conf/app.conf conf/new data/new both/own both/new "$TMPDIR/new"; do echo was here >>"$f"; done
mkdir -p shut/in; : >shut/in/x; chmod 500 shut/in shut
cat new conf/app.conf conf/new data/new both/own both/new both/made lib/one/two "$TMPDIR/new"
pwd; echo "$TMPDIR"; ls`
	before := allIn(t, built)
	var logs []string
	for range 2 {
		spec := bench.LaunchSpec{
			RunID: runID(t), Name: "t", Folder: folder,
			Artifact: bench.Artifact{
				Command: []string{"sh", "-c", script}, Dir: built,
				Files: []string{"main.sh", "conf", "conf/app.conf", "data", "both/own"},
			},
		}
		p := newProcess(newSandbox(cgroup.Tree{Root: t.TempDir()}, spec, nil), spec)
		testenv.OK(t, p.launch(t.Context(), spec))
		stopAtEnd(t, p)
		testenv.Equal(t, ended(t, p).Code, 0, p.Logs())
		if text, err := os.ReadFile(folder + ownerEnd); err != nil || string(text) != groupName(p.box.id, runID(t)) {
			t.Errorf("its folder is of %q, %v", text, err)
		}
		var lines []string
		for _, l := range p.Logs() {
			lines = append(lines, l.Text)
		}
		logs = append(logs, strings.Join(lines, "\n"))
		testenv.OK(t, testenv.Err(p.Stop(t.Context(), time.Second)))
		left := allIn(t, filepath.Join(work, "locbench"))
		testenv.Check(t, len(left) == 0, "left: %v", left)
	}
	want := `was here
conf
was here
was here
was here
own
was here
was here
made
library
was here
` + folder + "/dir\n" + folder + "/tmp\nboth\nconf\ndata\nlib\nmain.sh\nnew\nshut"
	testenv.Check(t, logs[0] == want && logs[1] == logs[0],
		"first:\n%s\nsecond:\n%s\nwant:\n%s", logs[0], logs[1], want)
	after := allIn(t, built)
	testenv.Check(t, slices.Equal(after, before), "the build has changed: %v", after)
	spec := bench.LaunchSpec{Folder: folder, Artifact: bench.Artifact{Command: []string{"./missing"}, Dir: built}}
	_, err = (Process{}).Launch(t.Context(), spec)
	testenv.Check(t, err != nil, "a program that does not exist was started")
	left := allIn(t, filepath.Join(work, "locbench"))
	testenv.Check(t, len(left) == 0, "left after a failed start: %v", left)
}

// TestCopiesOfTheBuild: the contender's own files are copies, with mode and time; links stay links;
// what the build added is linked; and so is a large program, which needs no copy.
func TestCopiesOfTheBuild(t *testing.T) {
	built := filed(t, map[string]string{
		"service": strings.Repeat("x", programSize), "data": strings.Repeat("x", programSize), "run.sh": "#!/bin/sh\n", "made": "1",
	})
	at := time.Unix(1_700_000_000, 0)
	for name, mode := range map[string]os.FileMode{"service": 0o700, "data": 0o600, "run.sh": 0o750} {
		testenv.OK(t, errors.Join(os.Chmod(filepath.Join(built, name), mode), os.Chtimes(filepath.Join(built, name), at, at)))
	}
	testenv.OK(t, os.Symlink("run.sh", filepath.Join(built, "link")))
	to := filepath.Join(t.TempDir(), "dir")
	testenv.OK(t, copyArtifact(to, bench.Artifact{Dir: built, Files: []string{"service", "data", "run.sh", "link", "gone/file"}}))
	for name, want := range map[string]string{
		"service": "-rwx------ same", "data": "-rw------- copy", "run.sh": "-rwxr-x--- copy", "link": "Lrwxrwxrwx copy", "made": "Lrwxrwxrwx copy",
	} {
		was, err1 := os.Lstat(filepath.Join(built, name))
		is, err2 := os.Lstat(filepath.Join(to, name))
		testenv.OK(t, errors.Join(err1, err2))
		how := "copy"
		if os.SameFile(was, is) {
			how = "same"
		}
		testenv.Equal(t, is.Mode().String()+" "+how, want, name)
		testenv.Check(t, !is.Mode().IsRegular() || is.ModTime().Equal(at), "%s is of %v", name, is.ModTime())
	}
	target, err := os.Readlink(filepath.Join(to, "link"))
	testenv.Check(t, err == nil && target == "run.sh", "the link leads to %q, %v", target, err)
}

// TestCleanRemovesFolders: clean removes the folders of killed locbenches, of the named run, and
// nothing else.
func TestCleanRemovesFolders(t *testing.T) {
	dir := t.TempDir()
	for name, group := range map[string]string{
		"dead":    groupName(deadOwner()+"-0123456789ab", "run-1"),
		"other":   groupName(deadOwner()+"-0123456789ab", "run-2"),
		"alive":   groupName(newInstanceID(), "run-1"),
		"unknown": "something",
	} {
		testenv.OK(t, os.MkdirAll(filepath.Join(dir, name, "dir", "shut"), 0o700))
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name+ownerEnd), []byte(group), 0o600))
	}
	there := func() (names []string) {
		entries := testenv.Must(os.ReadDir(dir))(t)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	var c Cleaned
	removed, err := cleanFolders(dir, "run-1", c.keeping(CleanOptions{}))
	want := []string{"alive", "alive.owner", "other", "other.owner", "unknown", "unknown.owner"}
	if got := there(); err != nil || len(removed) != 1 || !slices.Equal(got, want) || len(c.Kept) != 1 {
		t.Errorf("%v, removed %v, kept %v, there: %v", err, removed, c.Kept, got)
	}
	removed, err = cleanFolders(dir, "", c.keeping(CleanOptions{All: true}))
	testenv.Check(t, err == nil && len(removed) == 2, "%v, removed %v", err, removed)
	testenv.Equal(t, there(), []string{"unknown", "unknown.owner"}, "there")
	removed, err = cleanFolders(filepath.Join(dir, "none"), "", nil)
	testenv.Check(t, err == nil && removed == nil, "%v, %v", removed, err)
	removed, err = cleanFolders(filepath.Join(dir, "unknown.owner"), "", nil)
	testenv.Check(t, err != nil && removed == nil, "a file: %v, %v", removed, err)
	writeFile(t, filepath.Join(dir, "odd.owner", "x"), "")
	testenv.Check(t, removeFolder(filepath.Join(dir, "odd")) != nil, "the owner of a folder is left without an error")
	testenv.Fails(t, removeFolder("a\x00b"), "locbench clean")
}
