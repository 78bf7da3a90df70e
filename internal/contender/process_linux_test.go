package contender_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

func script(text string) []string { return []string{"sh", "-c", text} }

// noGroups returns a machine without cgroups.
func noGroups(t *testing.T) cgroup.Tree { return cgroup.Tree{Root: t.TempDir()} }

func shellService(build ...[]string) bench.Service {
	return bench.Service{
		Name: "shell", Variant: "v", Port: 8080, Dir: "services/shell",
		Files:   fstest.MapFS{"src/main.sh": {Data: []byte("#!/bin/sh\necho hello\n")}, "junk/x": {}, ".dockerignore": {Data: []byte("junk")}},
		Process: &bench.ProcessRecipe{Build: build, Command: []string{"{{.Dir}}/service"}},
	}
}

func TestBuildProcess(t *testing.T) {
	svc := shellService(script("echo building {{.Name}}; test ! -e junk"), script("cp src/main.sh {{.Dir}}/service"))
	var out bytes.Buffer
	opts := contender.BuildOptions{Cache: t.TempDir(), Groups: noGroups(t), Out: &out}
	a, err := contender.BuildProcess(t.Context(), svc, opts)
	testenv.OK(t, err)
	if a.BuildCached || a.BuildTime <= 0 || a.BinarySize != 21 || !strings.HasPrefix(filepath.Base(a.Dir), "shell-") {
		t.Errorf("%+v", a)
	}
	testenv.Check(t, strings.Contains(out.String(), "building shell\n"), "output: %s", &out)
	filled, _, err := contender.Fill(svc, a, bench.Template{})
	testenv.OK(t, err)
	printed, err := exec.Command(filled.Command[0]).Output() // the script has its x bit, kept or added
	testenv.OK(t, err)
	testenv.Equal(t, string(printed), "hello\n", filled.Command, printed)
	out.Reset()
	again, err := contender.BuildProcess(t.Context(), svc, opts)
	if err != nil || !again.BuildCached || again.BuildTime != 0 || again.Dir != a.Dir || again.BinarySize != a.BinarySize || out.Len() > 0 {
		t.Errorf("again: %+v, %v, output %q", again, err, &out)
	}
	svc.Process.Build[0] = script("echo other")
	other, err := contender.BuildProcess(t.Context(), svc, opts)
	testenv.Check(t, err == nil && !other.BuildCached && other.Dir != a.Dir, "other build: %+v, %v", other, err)
}

func TestBuildProcess_Fails(t *testing.T) {
	cache := t.TempDir()
	for want, build := range map[string][]string{
		"exit status 3; last output:\ncrate not found": script("echo crate not found >&2; exit 3"),
		"run no-such-compiler: not found in PATH":      {"no-such-compiler"},
		"build timed out after 20ms":                   {"sleep", "60"},
	} {
		opts := contender.BuildOptions{Cache: cache, Groups: noGroups(t)}
		if build[0] == "sleep" {
			opts.Within = 20 * time.Millisecond
		}
		testenv.Fails(t, testenv.Err(contender.BuildProcess(t.Context(), shellService(build), opts)), want, "build contender shell:v")
	}
	left, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	testenv.Check(t, err == nil && len(left) <= 0, "left behind: %v, %v", left, err)
	testenv.Fails(t, testenv.Err(contender.BuildProcess(t.Context(), bench.Service{Name: "x"}, contender.BuildOptions{})),
		"--runtime docker")
}

// TestBuildProcess_Canceled cancels a build whose grandchild would keep running.
func TestBuildProcess_Canceled(t *testing.T) {
	cache := t.TempDir()
	pid := filepath.Join(cache, "pid")
	svc := shellService(script("sleep 600 & echo $! > " + pid + ".new; mv " + pid + ".new " + pid + "; wait"))
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		opts := contender.BuildOptions{Cache: filepath.Join(cache, "build"), Groups: noGroups(t)}
		_, err := contender.BuildProcess(ctx, svc, opts)
		done <- err
	}()
	testenv.Until(t, time.Minute, "the build has begun", func() bool { _, err := os.Stat(pid); return err == nil })
	testenv.Until(t, time.Minute, "its grandchild sleeps", func() bool { return sleeps(t, pid) })
	why := errors.New("interrupted")
	cancel(why)
	err := <-done
	testenv.Check(t, errors.Is(err, why), "got %v", err)
	testenv.Until(t, time.Minute, "the process of the build has ended", func() bool { return !sleeps(t, pid) })
}

// sleeps reports whether the process whose number is in a file is a running sleep. A shell before
// its execve has another command line, and for a moment none. A killed process may stay a zombie,
// without a command line.
func sleeps(t *testing.T, file string) bool {
	t.Helper()
	pid, err := os.ReadFile(file)
	testenv.OK(t, err)
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc here")
	}
	cmdline, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/cmdline")
	return err == nil && strings.HasPrefix(string(cmdline), "sleep\x00")
}

// TestBuildProcess_Daemon builds with a command that leaves a process.
func TestBuildProcess_Daemon(t *testing.T) {
	svc := shellService(script("sleep 600 >/dev/null 2>&1 & echo $! > pid; cp src/main.sh service"))
	a, err := contender.BuildProcess(t.Context(), svc, contender.BuildOptions{Cache: t.TempDir(), Groups: noGroups(t)})
	testenv.OK(t, err)
	testenv.Until(t, time.Minute, "the daemon has ended", func() bool { return !sleeps(t, filepath.Join(a.Dir, "pid")) })
}

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
	a := testenv.Must(contender.BuildProcess(t.Context(), svc, opts))(t)
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
		info, err := os.Stat(filepath.Join(a.Dir, "src/deep/x"))
		testenv.Check(t, err == nil && info.Mode().Perm()&0o007 == 0, "src/deep/x: %v, %v", info.Mode(), err)
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

// TestBuildProcess_Unused: after a time without use builds are removed, sooner if there is a newer
// one of the same commands.
func TestBuildProcess_Unused(t *testing.T) {
	cache := t.TempDir()
	const day = 24 * time.Hour
	build := func(name, source, command string, ago time.Duration) string {
		t.Helper()
		svc := shellService(script(command + "; cp source service"))
		svc.Name, svc.Files = name, fstest.MapFS{"source": {Data: []byte(source)}}
		a := testenv.Must(contender.BuildProcess(t.Context(), svc, contender.BuildOptions{Cache: cache, Groups: noGroups(t)}))(t)
		used := time.Now().Add(-ago)
		testenv.OK(t, os.Chtimes(a.Dir+".built", used, used))
		return a.Dir
	}
	interrupted := filepath.Join(cache, "x-1")
	testenv.OK(t, os.Mkdir(interrupted, 0o700))
	testenv.OK(t, os.Chtimes(interrupted, time.Time{}, time.Now().Add(-31*day)))
	old := build("c", "1", "true", 3*day)
	recent := build("c", "2", "true", day)
	month := build("d", "1", "true", 31*day)
	week := build("c", "1", "true other", 7*day)
	last := build("c", "3", "true", 40*day)
	testenv.Equal(t, build("c", "3", "true", 0), last, "the last one is built again")
	for dir, stays := range map[string]bool{interrupted: false, old: false, recent: true, month: false, week: true, last: true} {
		_, err1 := os.Stat(dir)
		_, err2 := os.Stat(dir + ".built")
		testenv.Check(t, (err1 == nil) == stays && (err2 == nil) == stays, "%s: %v, %v", dir, err1, err2)
	}
}

// TestBuildProcess_Killed: the processes of a build end with locbench, or have its marks, by
// which Clean finds them, also those that have left its process group.
func TestBuildProcess_Killed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	parent := exec.Command(os.Args[0], "-test.run=^TestBuildToBeKilled$")
	parent.Env = append(os.Environ(), "LOCBENCH_TEST_PIDS="+file)
	testenv.OK(t, parent.Start())
	testenv.Until(t, time.Minute, "the build has begun", func() bool { _, err := os.Stat(file); return err == nil })
	data := testenv.Must(os.ReadFile(file))(t)
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
		testenv.Check(t, strings.Contains(env, "\x00"+want),
			"the environment of what a build has started has no %s", want)
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
