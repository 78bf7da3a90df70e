package contender_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// TestBuildProcess_Private: files of a contender that only this user may read stay private where it
// is built, and a readable folder of an older locbench becomes private.
func TestBuildProcess_Private(t *testing.T) {
	svc := shellService(script("cp src/main.sh service; echo more >> notes"))
	svc.Files = fstest.MapFS{
		"src/main.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o500}, "src/deep/x": {Mode: 0o640},
		".env": {Data: []byte("PASSWORD=x"), Mode: 0o600}, "notes": {Mode: 0o444}, "dir": {Mode: fs.ModeDir | 0o755},
		"script": {Data: []byte("#!/bin/sh\n"), Mode: 0o444},
	}
	opts := contender.BuildOptions{Cache: filepath.Join(t.TempDir(), "a", "cache"), Groups: noGroups(t)}
	testenv.OK(t, os.MkdirAll(opts.Cache, 0o755))
	a, err := contender.BuildProcess(t.Context(), svc, opts)
	testenv.OK(t, err)
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	check := func() {
		t.Helper()
		for name, want := range map[string]fs.FileMode{
			"..": 0o700, ".": 0o700, "src": 0o700, "src/deep": 0o700, "dir": 0o700,
			".env": 0o600, "src/main.sh": 0o700, "notes": 0o644, "script": 0o755,
		} {
			if info, err := os.Stat(filepath.Join(a.Dir, name)); err != nil || info.Mode().Perm() != want&^fs.FileMode(umask) {
				t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
			}
		}
		if info, err := os.Stat(filepath.Join(a.Dir, "src/deep/x")); err != nil || info.Mode().Perm()&0o007 != 0 {
			t.Errorf("src/deep/x: %v, %v", info.Mode(), err)
		}
	}
	check()
	for _, dir := range []string{a.Dir, opts.Cache} {
		testenv.OK(t, os.Chmod(dir, 0o755))
	}
	if a, err := contender.BuildProcess(t.Context(), svc, opts); err != nil || !a.BuildCached {
		t.Fatalf("%+v, %v", a, err)
	}
	check()
}

// TestBuildProcess_OlderCopies: the newest copy of each build of a contender stays, and so do
// copies in use.
func TestBuildProcess_OlderCopies(t *testing.T) {
	cache := t.TempDir()
	var held []io.Closer
	build := func(name, variant, source, command string, hold bool) string {
		t.Helper()
		svc := shellService(script(command + "; cp source service"))
		svc.Name, svc.Variant = name, variant
		svc.Files = fstest.MapFS{"source": {Data: []byte(source)}}
		opts := contender.BuildOptions{Cache: cache, Groups: noGroups(t)}
		if hold {
			opts.Hold = func(c io.Closer) { held = append(held, c) }
		}
		a, err := contender.BuildProcess(t.Context(), svc, opts)
		testenv.OK(t, err)
		return a.Dir
	}
	left := func(what string, want ...string) {
		t.Helper()
		entries, err := os.ReadDir(cache)
		testenv.OK(t, err)
		names := map[string]bool{}
		for _, e := range entries {
			names[strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".lock"), ".built")] = true
		}
		for _, dir := range want {
			if _, err := os.Stat(filepath.Join(dir, "source")); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			delete(names, filepath.Base(dir))
		}
		if len(names) > 0 {
			t.Errorf("%s: left in addition to %v", what, names)
		}
	}
	first := build("c", "a", "1", "true", false)
	otherVariant := build("c", "b", "1", "true b", false)
	other := build("c-d", "a", "1", "true", false)
	left("two variants, two contenders", first, otherVariant, other)
	second := build("c", "a", "2", "true", false)
	left("other sources", second, otherVariant, other)
	third := build("c", "a", "2", "true again", true)
	left("other commands", third, otherVariant, other)
	fourth := build("c", "a", "3", "true again", true)
	left("one is held", third, fourth, otherVariant, other)
	held[0].Close()
	fifth := build("c", "a", "4", "true again", false)
	left("one of two is held", fourth, fifth, otherVariant, other)
	held[1].Close()
	// An interrupted build.
	testenv.OK(t, os.Remove(fourth+".built"))
	sixth := build("c", "a", "5", "true again", false)
	left("interrupted", sixth, otherVariant, other)
	if build("c", "b", "1", "true b", false) != otherVariant || build("c", "a", "5", "true again", false) != sixth {
		t.Error("built elsewhere")
	}
	left("built before", sixth, otherVariant, other)
}

// TestBuildProcess_Killed: the processes of a build end with locbench, or have its marks, by
// which Clean finds them, also those that have left its process group.
func TestBuildProcess_Killed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	parent := exec.Command(os.Args[0], "-test.run=^TestBuildToBeKilled$")
	parent.Env = append(os.Environ(), "LOCBENCH_TEST_PIDS="+file)
	testenv.OK(t, parent.Start())
	testenv.Until(t, time.Minute, "the build has begun", func() bool { _, err := os.Stat(file); return err == nil })
	data, err := os.ReadFile(file)
	testenv.OK(t, err)
	var shell, child int
	testenv.OK(t, testenv.Err(fmt.Sscan(string(data), &shell, &child)))
	testenv.Until(t, time.Minute, "the child sleeps", func() bool {
		return strings.HasPrefix(procFile(child, "cmdline"), "sleep\x00")
	})
	defer func() {
		if p, err := os.FindProcess(child); err == nil && strings.Contains(procFile(child, "environ"), file) {
			p.Kill()
		}
	}()
	env := "\x00" + procFile(child, "environ")
	for _, want := range []string{"LOCBENCH_RUN=the-run",
		fmt.Sprintf("LOCBENCH_INSTANCE=%d.", parent.Process.Pid)} {
		if !strings.Contains(env, "\x00"+want) {
			t.Errorf("the environment of what a build has started has no %s", want)
		}
	}
	parent.Process.Kill()
	parent.Wait()
	testenv.Until(t, time.Minute, "the shell has ended", func() bool { return procFile(shell, "cmdline") == "" })
}

func procFile(pid int, name string) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	return string(data)
}

// TestBuildToBeKilled is the process that TestBuildProcess_Killed kills, not a test.
func TestBuildToBeKilled(t *testing.T) {
	file := os.Getenv("LOCBENCH_TEST_PIDS")
	if file == "" {
		t.Skip("run by TestBuildProcess_Killed in its own process")
	}
	tell := "echo $$ $! > " + file + ".new; mv " + file + ".new " + file
	svc := shellService(script("sleep 600 >/dev/null 2>&1 & " + tell + "; wait"))
	_, err := contender.BuildProcess(t.Context(), svc, contender.BuildOptions{
		Cache: filepath.Join(filepath.Dir(file), "cache"), Groups: cgroup.Tree{Root: filepath.Dir(file)}, Run: "the-run",
	})
	t.Error("it was not killed: ", err)
}
