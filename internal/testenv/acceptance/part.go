//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

const (
	gotestsum  = "gotest.tools/gotestsum@v1.13.0"
	logs       = "acceptance"     // the folder with the output of the tests
	partLimit  = 40 * time.Minute // timeout of a part
	notRunHere = 75               // exit code of a command that cannot run here
)

// test is a test of a part.
type test struct{ dir, name string }

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsOf finds the tests of a part: those in files that are built here with the tag acceptance and
// the part's, but not with acceptance alone.
func testsOf(part testenv.Part) (tests []test, err error) {
	if !part.Tagged() {
		return nil, nil
	}
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir // as of the go command; .cache has a clone of the repository
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			return err
		}
		without, with := build.Default, build.Default
		without.BuildTags, with.BuildTags = []string{"acceptance"}, []string{"acceptance", part.Name}
		dir, file := filepath.Split(path)
		if helper, err := without.MatchFile(dir, file); helper || err != nil {
			return err
		}
		if built, err := with.MatchFile(dir, file); !built || err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		for _, name := range testFunc.FindAllSubmatch(data, -1) {
			if string(name[1]) != "TestMain" {
				tests = append(tests, test{"./" + filepath.Clean(dir), string(name[1])})
			}
		}
		return err
	})
	return tests, err
}

// running is a part that runs.
type running struct {
	*partReport
	env []string // in addition to that of this process
	log io.Writer
}

// runPart prepares a part and runs it to its end. Its tests are those whose names match only, or
// all.
func runPart(ctx context.Context, part testenv.Part, only, binary string) (r partReport) {
	began := time.Now()
	r.Name = part.Name
	fmt.Fprintf(os.Stderr, "\n== %s: %s; about %d minutes\n", part.Name, part.Shows, part.Minutes)
	defer func() { r.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds() }()
	log, err := os.Create(filepath.Join(logs, part.Name+".log"))
	if err != nil {
		r.fail("its log", err.Error())
		return r
	}
	defer log.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, partLimit, fmt.Errorf("timeout of the part: %s", partLimit))
	defer cancel()

	p := running{&r, []string{"LOCBENCH_REQUIRE=" + part.Require, testenv.BinaryVariable + "=" + binary}, log}
	if part.Cleanup != "" {
		defer func() { _, _, _ = p.bash(context.WithoutCancel(ctx), part.Cleanup, log) }()
	}
	for _, step := range part.Prepare {
		code, out, err := p.bash(ctx, step.Command, log)
		if err != nil || code != 0 {
			r.fail(step.Command, fmt.Sprintf("ended with %d %s", code, lastLine(out)))
			return r
		}
		if step.Env != "" {
			p.env = append(p.env, step.Env+"="+lastLine(out))
		}
	}
	r.Prepared = time.Since(began).Round(100 * time.Millisecond).Seconds()
	p.commands(ctx, part.Run)
	if part.Test != "" {
		p.goTest(ctx, part.Test)
	}
	tests, err := testsOf(part)
	if err != nil {
		r.fail("its tests", err.Error())
	}
	var dirs, names []string
	for _, test := range tests {
		dirs, names = append(dirs, test.dir), append(names, test.name)
	}
	if len(tests) > 0 {
		slices.Sort(dirs)
		names := "^(" + strings.Join(names, "|") + ")$"
		if only != "" {
			names = only
		}
		p.goTest(ctx, fmt.Sprintf("-tags acceptance,%s -p 1 -timeout %s -run '%s' %s",
			part.Name, partLimit, names, strings.Join(slices.Compact(dirs), " ")))
	}
	if ctx.Err() != nil {
		r.fail("the part", context.Cause(ctx).Error())
	}
	return r
}

// commands runs the commands of a part.
func (p running) commands(ctx context.Context, steps []testenv.Step) {
	for _, step := range steps {
		switch code, out, err := p.bash(ctx, step.Command, p.log); {
		case err == nil && code == 0:
			p.Passed++
		case err == nil && code == notRunHere:
			p.skip(step.Name, lastLine(out))
		default:
			p.fail(step.Name, fmt.Sprintf("%s ended with %d (see %s/%s.log)", step.Command, code, logs, p.Name))
		}
	}
}

// goTest runs `go test` and counts its results.
func (p running) goTest(ctx context.Context, args string) {
	file := filepath.Join(logs, p.Name)
	_ = os.Remove(file + ".xml")
	command := fmt.Sprintf("go run %s --format pkgname-and-test-fails --hide-summary skipped --jsonfile %s.json --junitfile %s.xml -- -count=1 %s",
		gotestsum, file, file, args)
	code, _, err := p.bash(ctx, command, io.MultiWriter(p.log, os.Stderr))
	failed := p.Failed
	if readErr := p.read(file + ".xml"); err == nil {
		err = readErr
	}
	if p.Failed == failed && (err != nil || code != 0) {
		p.fail("go test", fmt.Sprintf("no test failed, but it ended with %d, %v (see %s.log)", code, err, file))
	}
}

// bash runs a command to its end, and returns its standard output, which also goes to w.
func (p running) bash(ctx context.Context, command string, w io.Writer) (code int, stdout string, err error) {
	fmt.Fprintf(p.log, "== %s\n", command)
	var out bytes.Buffer
	cmd := bash(ctx, p.env, command)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, w), p.log
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), nil
	}
	return 0, out.String(), err
}

// bash returns a command for bash that is stopped with all its child processes.
func bash(ctx context.Context, env []string, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
