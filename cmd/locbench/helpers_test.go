//go:build acceptance && unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

var builds sync.Map // by name

// built returns the path of a program of testdata, which it builds once.
func built(t testing.TB, name string) string {
	t.Helper()
	once, _ := builds.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "locbench-test-")
		if err != nil {
			return "", err
		}
		cmd := exec.Command("go", "build", "-race=false", "-trimpath", "-o", filepath.Join(dir, name), "./testdata/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
		return filepath.Join(dir, name), nil
	}))
	return testenv.Must(once.(func() (string, error))())(t)
}

// lockedBuffer may be read while a process still writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// command is a running locbench.
type command struct {
	t              testing.TB
	cmd            *exec.Cmd
	stdout, stderr lockedBuffer
	done           chan struct{}
}

func startLocbench(t testing.TB, dir string, args ...string) *command {
	t.Helper()
	return startIn(t, dir, nil, args...)
}

// startIn is startLocbench with additional environment variables.
func startIn(t testing.TB, dir string, env []string, args ...string) *command {
	t.Helper()
	cmd := exec.Command(testenv.Locbench(t), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C at this terminal must not reach the contenders
	return begin(t, cmd)
}

// begin starts a prepared command. It does not see the runs of other tests, unless its environment
// says where they are.
func begin(t testing.TB, cmd *exec.Cmd) *command {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append([]string{machine.RunsVariable + "=" + t.TempDir()}, cmd.Env...)
	c := &command{t: t, cmd: cmd, done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	testenv.OK(t, c.cmd.Start())
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.done
	})
	return c
}

// wait returns the exit code, -1 after a signal.
func (c *command) wait(timeout time.Duration) int {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(timeout):
		c.t.Fatalf("still running after %v; it said:\n%s", timeout, c.stderr.String())
	}
	return c.cmd.ProcessState.ExitCode()
}

// succeeds waits for exit code 0.
func (c *command) succeeds(timeout time.Duration) {
	c.t.Helper()
	if code := c.wait(timeout); code != 0 {
		c.t.Fatalf("exit code %d of %s\n%s%s", code, c.cmd, c.stdout.String(), c.stderr.String())
	}
}

func (c *command) signal(s os.Signal) {
	c.t.Helper()
	testenv.OK(c.t, c.cmd.Process.Signal(s))
}

// locbench runs to the end and returns the exit code and its output.
func locbench(t testing.TB, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := startLocbench(t, dir, args...)
	code = c.wait(10 * time.Minute)
	return code, c.stdout.String(), c.stderr.String()
}

// succeeds is locbench with exit code 0.
func succeeds(t testing.TB, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	c := startLocbench(t, dir, args...)
	c.succeeds(10 * time.Minute)
	return c.stdout.String(), c.stderr.String()
}

// eachEvent reads dir's event log up to now, or up to the first error of handle, which it returns.
// It skips invalid lines: a killed run leaves half of one.
func eachEvent(dir string, handle func(bench.Record) error) error {
	log, err := os.ReadFile(filepath.Join(dir, results.EventsFile))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(log) {
		var rec bench.Record
		if json.Unmarshal(line, &rec) != nil {
			continue
		}
		if err := handle(rec); err != nil {
			return err
		}
	}
	return nil
}

// eventPatience is the timeout for a single event.
var eventPatience = 3 * time.Minute

// waitEvent waits until the event log in dir has a record that match accepts.
func (c *command) waitEvent(dir string, match func(bench.Record) bool) {
	c.t.Helper()
	found := errors.New("found")
	for deadline := time.Now().Add(eventPatience); time.Now().Before(deadline); {
		began := time.Now()
		err := eachEvent(dir, func(r bench.Record) error {
			if match(r) {
				return found
			}
			return nil
		})
		if errors.Is(err, found) {
			return
		}
		select {
		case <-c.done:
			c.t.Fatalf("it ended before the awaited event; it said:\n%s", c.stderr.String())
		case <-time.After(5*time.Millisecond + 5*time.Since(began)): // reading is slow under emulation
		}
	}
	c.t.Fatalf("the awaited event did not come; it said:\n%s", c.stderr.String())
}

// when matches records with an event of one type.
func when[E bench.Event](is func(E) bool) func(bench.Record) bool {
	return func(r bench.Record) bool {
		e, ok := r.Event.(E)
		return ok && is(e)
	}
}

func phaseStarted(phase bench.Phase) func(bench.Record) bool {
	return when(func(e bench.PhaseStarted) bool { return e.Phase == phase })
}

func stepStarted(index int) func(bench.Record) bool {
	return when(func(e bench.StepStarted) bool { return e.Index == index })
}

// answered waits for a second of a step in which the contender has responded.
func answered(step int) func(bench.Record) bool {
	return when(func(e bench.WindowClosed) bool { return e.Index == step && e.Window.Succeeded > 0 })
}

func read(t testing.TB, dir string) (bench.Run, []bench.TrialResult) {
	t.Helper()
	run, trials, err := results.Read(dir)
	testenv.OK(t, err)
	return run, trials
}

// readClean is read for a run that has ended: nothing of it is left.
func readClean(t *testing.T, dir string) (bench.Run, []bench.TrialResult) {
	t.Helper()
	run, trials := read(t, dir)
	nothingLeft(t, run.ID)
	return run, trials
}

// nothingLeft fails if a container, network, volume or process of the run is left.
func nothingLeft(t *testing.T, runID string) {
	t.Helper()
	for _, left := range leftOf(runID) {
		t.Error(left)
	}
}

// leftOf returns the containers, networks, volumes, processes and their folders of a run. env may name another engine.
func leftOf(runID string, env ...string) (left []string) {
	for _, what := range []string{"ps -aq", "network ls -q", "volume ls -q"} {
		cmd := exec.Command("docker", append(strings.Fields(what), "--filter", "label=locbench.run="+runID)...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.Output(); err == nil && len(out) > 0 {
			left = append(left, fmt.Sprintf("docker %s: left %s", what, out))
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		owners, _ := filepath.Glob(filepath.Join(cache, "locbench", "work", "*.owner"))
		for _, file := range owners {
			if data, err := os.ReadFile(file); err == nil && bytes.HasSuffix(data, []byte("="+runID)) {
				left = append(left, "folder left: "+file)
			}
		}
	}
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range envs {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte("LOCBENCH_RUN="+runID+"\x00")) {
			left = append(left, "process left: "+filepath.Dir(file))
		}
	}
	return left
}

// quarter are the limits of contenders whose load only has to continue: other tests get the rest.
const quarter = "limits: {cpus: 0.25, memory: 64MiB}\n"

// small returns a short profile: little data, no checks, three short steps, two rounds.
func small(t testing.TB, contender, runtime string, more ...string) string {
	t.Helper()
	lifecycle := "none"
	if contender == "go-nethttp" {
		lifecycle = "[no-environment, no-store]" // they launch the contender themselves
	}
	text := `contenders: [` + contender + `]
rounds: 2
runtime: ` + runtime + `
` + quarter + littleData + `timeout: 500ms
compare_bodies: none
checks: {lifecycle: ` + lifecycle + `, suites: []}
step_duration: 1s
steps: [1, 2, 4]
` + strings.Join(more, "\n")
	return profileFile(t, text)
}

// requestsOfCities is the part of a profile with data and requests.
const requestsOfCities = `needs: {elasticsearch: {from: embedded, cities: {count: 200, vertices: 12, seed: 1}}}
requests:
  - path: /city/v1/get?id={id}&language={language}
    ids: uniform
    languages: [cs, en]
`

// littleData is small data for contenders that share the machine's CPUs with other tests.
const littleData = "isolation: off\n" + requestsOfCities

func readFile(t testing.TB, path string) string {
	t.Helper()
	data := testenv.Must(os.ReadFile(path))(t)
	return string(data)
}

// writeFile writes an executable file, and its folder.
func writeFile(t testing.TB, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o755)
	}
	testenv.OK(t, err)
}

// editFile replaces texts of a file.
func editFile(t testing.TB, path string, oldnew ...string) {
	t.Helper()
	writeFile(t, path, strings.NewReplacer(oldnew...).Replace(readFile(t, path)))
}

// profileFile writes a profile and returns its path.
func profileFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.yaml")
	writeFile(t, path, text)
	return path
}

// faulty creates a folder with the contender of testdata/faulty that misbehaves as fault says, and
// returns it.
func faulty(t testing.TB, fault string, after int) string {
	t.Helper()
	return made(t, "faulty", map[string]string{"FAULT": fault, "AFTER": fmt.Sprint(after)}, nil)
}

// made creates a folder with a contender that is one binary, and returns it; each variant adds its
// environment to env.
func made(t testing.TB, name string, env map[string]string, variants map[string]map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	env = maps.Clone(env)
	env["PORT"] = "{{.Port}}"
	manifest := map[string]any{
		"name": name, "language": "Go", "framework": "none", "version": "1", "endpoints": []string{"get"}, "port": 8080, "env": env,
		"ready": map[string]string{"path": "/", "timeout": "10s"}, "docker": map[string]string{"dockerfile": "Dockerfile"},
		"process": map[string][]string{"command": {"{{.Dir}}/service"}},
	}
	var all []any
	for _, variant := range slices.Sorted(maps.Keys(variants)) {
		all = append(all, map[string]any{"name": variant, "env": variants[variant]})
	}
	if all != nil {
		manifest["variants"] = all
	}
	writeFile(t, filepath.Join(dir, "service"), readFile(t, built(t, name)))
	writeFile(t, filepath.Join(dir, "Dockerfile"), "FROM scratch\nCOPY service /service\nENTRYPOINT [\"/service\"]\n")
	writeFile(t, filepath.Join(dir, "service.yaml"), string(testenv.Must(json.Marshal(manifest))(t)))
	return dir
}

// runtimes calls f for every runtime of this machine, in parallel to other tests.
func runtimes(t *testing.T, f func(t *testing.T, runtime string)) {
	t.Parallel()
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			if runtime == "docker" {
				testenv.Docker(t)
			}
			f(t, runtime)
		})
	}
}

// images skips the test unless the Docker engine has these images, the bases of what the test
// builds: a test does not pull gigabytes.
func images(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := exec.Command("docker", "image", "inspect", name).Run(); err != nil {
			testenv.Missing(t, "images", "the Docker engine has no image "+name+" (docker pull "+name+", or .ci/images)")
		}
	}
}

// lastSeq returns the last sequence number of the event log in dir.
func lastSeq(dir string) int64 {
	last, _ := results.LastSeq(dir)
	return last
}

func runState(dir string) bench.RunState {
	run, _, _ := results.Read(dir)
	return run.State
}

// twoInterleaved returns a profile of two variants of one contender, interleaved every 100 ms.
func twoInterleaved(t testing.TB, runtime string, rounds string) string {
	t.Helper()
	return profileFile(t, "contenders: ['faulty:a', 'faulty:b']\nrounds: "+rounds+"\nruntime: "+runtime+"\nlimits: {cpus: 1, memory: 64MiB}\ninterleave: 100ms\n"+littleData+
		"timeout: 500ms\ncompare_bodies: none\nchecks: {lifecycle: none, suites: []}\nstep_duration: 1s\nsteps: [2, {rate: 300}, 4]\n")
}

// wellAndTwice returns a contender with two correct variants.
func wellAndTwice(t testing.TB) string {
	t.Helper()
	return made(t, "faulty", map[string]string{"FAULT": "", "AFTER": "0"}, map[string]map[string]string{"a": {}, "b": {}})
}

// short returns options for a quick search: little data, probes of a second, the coarsest
// resolution.
func short(more ...string) []string {
	return append([]string{"capacity", "go-nethttp", "--no-checks", "--cities", "200", "--vertices", "12", "--probe", "1s", "--warm-up", "300ms",
		"--resolution", "100%", "--confirm", "1/3", "--guess", "100", "--max-rate", "200", "-o", "out"}, more...)
}

func capacityRecord(t testing.TB, data []byte) capacity.Record {
	t.Helper()
	var r capacity.Record
	err := json.Unmarshal(data, &r)
	testenv.Need(t, err == nil, "%v\n%s", err, data)
	testenv.OK(t, r.Valid())
	return r
}

// wentWell fails unless a trial went well from start to stop, and returns the number of checks that
// passed in each group.
func wentWell(t *testing.T, trial bench.TrialResult) (passed map[string]int) {
	t.Helper()
	if trial.State != bench.TrialComplete || trial.Instance == nil || os.Getuid() == 0 &&
		!trial.Instance.LimitsEnforced {
		t.Fatalf("%s: %s, %+v", trial.State, trial.Failure, trial.Instance)
	}
	passed = map[string]int{}
	for _, c := range trial.Checks {
		switch c.Status {
		case bench.CheckPassed:
			passed[c.Group]++
		case bench.CheckFailed:
			t.Errorf("check %s %s: %s", c.Group, c.Name, c.Detail)
		}
	}
	for _, s := range trial.Steps {
		testenv.Check(t, s.Load.Succeeded != 0 && s.Load.FailedTotal() <= 0,
			"step %s: %d successes, errors %v %v", s.Step.Name, s.Load.Succeeded, s.Load.Failed, s.Load.Examples)
		if s.After == nil || s.After.Memory == nil || s.After.Memory.OOMKills > 0 || s.After.Memory.Peak > 512<<20 ||
			s.After.Memory.Peak < s.After.Memory.Used/2 {
			t.Errorf("step %s: readings %+v", s.Step.Name, s.After)
		}
	}
	if t.Failed() {
		for _, l := range trial.LastLog {
			t.Log(l.Text)
		}
	}
	return passed
}

const ordersPassword = "let-me-in-please"

// ordersFolder returns a folder with the two services of docs/your-service.md and its files.
func ordersFolder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc"), os.DirFS(root+"/testdata/orders")))
	for _, file := range []string{"svc/orders-go/service.yaml", "svc/orders-node/service.yaml", "bench.yaml"} {
		writeFile(t, filepath.Join(dir, file), pageFile(t, yourService, file))
	}
	return dir
}

// typeInto runs lines of a shell in dir.
func typeInto(t *testing.T, dir, block string) {
	t.Helper()
	cmd := exec.Command("sh", "-eux", "-c", block)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(testenv.Locbench(t))+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	testenv.Check(t, err == nil, "%v\n%s\n%s", err, block, out)
}
