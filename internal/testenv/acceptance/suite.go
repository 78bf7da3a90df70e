//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

const (
	logs       = "acceptance"     // the folder with the output of the tests
	partLimit  = 40 * time.Minute // timeout of a part
	notRunHere = 75               // exit code of a step that cannot run here
)

// suite runs parts one after the other.
type suite struct {
	tests  map[string][]packageTests
	only   string
	env    []string // in addition to that of this process
	dir    string   // of the binary, removed at the end
	report *report
}

func (s *suite) begin(ctx context.Context) error {
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("not in the root of the repository: run .ci/acceptance")
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	return s.buildLocbench(ctx)
}

func (s *suite) end() { os.RemoveAll(s.dir) }

// runPart prepares a part and runs it to its end.
func (s *suite) runPart(ctx context.Context, part testenv.Part) (r partReport) {
	began := time.Now()
	r.Name = part.Name
	fmt.Fprintf(os.Stderr, "\n== %s: %s; about %d minutes\n", part.Name, part.Shows, part.Minutes)
	defer func() {
		r.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
		fmt.Fprintf(os.Stderr, "   %s\n", r.line())
	}()
	log, err := os.Create(filepath.Join(logs, part.Name+".log"))
	if err != nil {
		r.fail("its log", err.Error())
		return r
	}
	defer log.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, partLimit, fmt.Errorf("timeout of the part: %s", partLimit))
	defer cancel()

	env := append(slices.Clone(s.env), "LOCBENCH_REQUIRE="+part.Require)
	p := &partRun{part: part, only: s.only, env: env, log: log, report: &r}
	if part.Cleanup != "" {
		defer func() { _, _ = p.bash(context.WithoutCancel(ctx), log, part.Cleanup) }()
	}
	if !p.prepare(ctx) {
		return r
	}
	r.Prepared = time.Since(began).Round(100 * time.Millisecond).Seconds()
	for _, step := range part.Run {
		p.step(ctx, step)
	}
	for _, tests := range s.tests[part.Name] {
		p.goTest(ctx, tests)
	}
	if ctx.Err() != nil {
		r.fail("the part", context.Cause(ctx).Error())
	}
	return r
}

// partRun is a running part.
type partRun struct {
	part   testenv.Part
	only   string
	env    []string // in addition to that of this process
	log    *os.File
	report *partReport
}

// prepare installs what the part needs. A failure fails the part.
func (p *partRun) prepare(ctx context.Context) bool {
	for _, step := range p.part.Prepare {
		fmt.Fprintf(p.log, "== %s\n", step.Command)
		var out bytes.Buffer
		code, err := p.bash(ctx, io.MultiWriter(&out, p.log), step.Command)
		if err != nil || code != 0 {
			p.report.fail(step.Command, fmt.Sprintf("ended with %d %s", code, lastLine(out.String())))
			return false
		}
		if step.Env != "" {
			p.env = append(p.env, step.Env+"="+lastLine(out.String()))
		}
	}
	return true
}

// step runs a command of the part, with the output of `go test -json` or any other.
func (p *partRun) step(ctx context.Context, step testenv.Step) {
	fmt.Fprintf(p.log, "== %s\n", step.Command)
	if strings.Contains(step.Command, "-json") {
		p.events(ctx, step.Name, step.Command)
		return
	}
	var out bytes.Buffer
	code, err := p.bash(ctx, io.MultiWriter(&out, p.log), step.Command)
	switch {
	case err == nil && code == 0:
		p.report.Passed++
	case err == nil && code == notRunHere:
		p.report.skip(step.Name, lastLine(out.String()))
	default:
		p.report.fail(step.Name, fmt.Sprintf("%s ended with %d", step.Command, code))
		fmt.Fprintf(os.Stderr, "--- %s\n%s", step.Name, tail(out.String(), 40))
	}
}

// goTest runs the part's tests of one package.
func (p *partRun) goTest(ctx context.Context, tests packageTests) {
	names := "^(" + strings.Join(tests.names, "|") + ")$"
	if p.only != "" {
		names = p.only
	}
	command := fmt.Sprintf("go test -tags acceptance,%s -json -count=1 -timeout %s -run '%s' %s",
		p.part.Name, partLimit, names, tests.dir)
	fmt.Fprintf(p.log, "== %s\n", command)
	p.events(ctx, tests.dir, command)
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// events runs a command that prints test events, and counts tests; subtests only if they are
// skipped.
func (p *partRun) events(ctx context.Context, name, command string) {
	cmd := bash(ctx, p.env, command)
	cmd.Stderr = p.log
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.report.fail(name, err.Error())
		return
	}
	failed := p.report.Failed
	began := time.Now()
	outputs := map[string]*strings.Builder{}
	for lines := bufio.NewReader(stdout); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			p.event(line, outputs)
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	if err != nil && p.report.Failed == failed {
		p.report.fail(name, "no test failed, but: "+err.Error()+" (see "+p.log.Name()+")")
	}
	fmt.Fprintf(os.Stderr, "   %-40s %6.1f s\n", name, time.Since(began).Seconds())
}

func (p *partRun) event(line []byte, outputs map[string]*strings.Builder) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		p.log.Write(line)
		return
	}
	p.log.WriteString(e.Output)
	key := e.Package + " " + e.Test
	if outputs[key] == nil {
		outputs[key] = &strings.Builder{}
	}
	outputs[key].WriteString(e.Output)
	top := e.Test != "" && !strings.Contains(e.Test, "/")
	name := strings.TrimPrefix(e.Package, "github.com/locbench/locbench/") + " " + e.Test
	switch {
	case e.Action == "pass" && top:
		p.report.Passed++
	case e.Action == "skip" && e.Test != "":
		p.report.skip(name, reason(outputs[key].String()))
	case e.Action == "fail" && top, e.Action == "fail" && e.Test == "" && !p.report.failedIn(e.Package):
		p.report.fail(strings.TrimSpace(name), reason(outputs[key].String()))
	}
	if e.Action == "fail" {
		fmt.Fprintf(os.Stderr, "--- %s\n%s", name, tail(outputs[key].String(), 40))
	}
}

// reason returns the last line of a test's own output.
func reason(output string) string {
	var last string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") && line != "FAIL" {
			last = line
		}
	}
	if at := strings.Index(last, "_test.go:"); at >= 0 {
		if _, rest, ok := strings.Cut(last[at+len("_test.go:"):], ": "); ok {
			last = rest
		}
	}
	return last
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func tail(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
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

// bash runs a command to its end. Only its standard output goes to out.
func (p *partRun) bash(ctx context.Context, out io.Writer, text string) (code int, err error) {
	cmd := bash(ctx, p.env, text)
	cmd.Stdout, cmd.Stderr = out, p.log
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}
