//go:build acceptance && linux

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// disturbed is a run of locbench that a test harms from outside.
type disturbed struct {
	*command
	t   *testing.T
	dir string // working directory
	out string // results folder
	env []string
}

// disturb starts a run in its own folder, with its own folder for temporary files, which must be
// empty at the end.
func disturb(t *testing.T, env []string, args ...string) *disturbed {
	t.Helper()
	return disturbIn(t, t.TempDir(), env, args...)
}

func disturbIn(t *testing.T, dir string, env []string, args ...string) *disturbed {
	t.Helper()
	d := &disturbed{t: t, dir: dir, out: filepath.Join(dir, "out"), env: append(env, "TMPDIR="+filepath.Join(dir, "tmp"))}
	testenv.OK(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o755))
	if signal.Ignored(syscall.SIGHUP) { // as under nohup, which child processes inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	d.command = startIn(t, dir, d.env, append(args, "-o", "out")...)
	return d
}

// instance waits for step (from 0) of the first trial and returns its contender.
func (d *disturbed) instance(step int) bench.InstanceInfo {
	d.t.Helper()
	d.waitEvent(d.out, stepStarted(step))
	return lastInstance(d.t, d.out)
}

// loaded waits until the contender has responded for a second of a step of the first trial: harm
// after that falls into the step.
func (d *disturbed) loaded(step int) bench.InstanceInfo {
	d.t.Helper()
	d.waitEvent(d.out, answered(step))
	return lastInstance(d.t, d.out)
}

func lastInstance(t *testing.T, out string) (info bench.InstanceInfo) {
	t.Helper()
	err := eachEvent(out, func(r bench.Record) error {
		if e, ok := r.Event.(bench.InstanceStarted); ok {
			info = e.Info
		}
		return nil
	})
	testenv.OK(t, err)
	return info
}

// ends waits for the end and checks the exit code and the words on standard error.
func (d *disturbed) ends(code int, words ...string) (bench.Run, []bench.TrialResult) {
	d.t.Helper()
	if got := d.wait(2 * time.Minute); got != code {
		d.t.Errorf("exit code %d, want %d", got, code)
	}
	says(d.t, "standard error", d.stderr.String(), words...)
	run, trials := read(d.t, d.out)
	d.clean(run.ID)
	if d.t.Failed() {
		d.t.Logf("it said:\n%s", d.stderr.String())
	}
	return run, trials
}

func says(t *testing.T, who, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q", who, w)
		}
	}
}

// clean fails if anything of the run is left: containers, networks, volumes, processes, temporary
// files.
func (d *disturbed) clean(runID string) {
	d.t.Helper()
	for _, e := range d.env {
		if host, ok := strings.CutPrefix(e, "DOCKER_HOST="); ok {
			for _, what := range [][]string{{"ps", "-aq"}, {"network", "ls", "-q"}, {"volume", "ls", "-q"}} {
				if out := dockerTo(d.t, host, append(what, "--filter", "label=locbench.run="+runID)...); out != "" {
					d.t.Errorf("left by %s in the engine: %s", strings.Join(what, " "), out)
				}
			}
		}
	}
	nothingLeft(d.t, runID)
	for _, dir := range []string{filepath.Join(d.dir, "tmp"), d.out} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			d.t.Error(err)
		}
		for _, e := range entries {
			if dir != d.out || strings.Contains(e.Name(), ".tmp") {
				d.t.Errorf("temporary file left: %s", filepath.Join(dir, e.Name()))
			}
		}
	}
}

// killed checks what is left of a run after SIGKILL, and after 'locbench clean'.
func (d *disturbed) killed(phase string) {
	d.t.Helper()
	d.wait(time.Minute)
	run, trials := read(d.t, d.out)
	if run.State != bench.RunRunning {
		d.t.Errorf("a killed run says it is %s", run.State)
	}
	if phase == "load" && (len(trials) != 1 || len(trials[0].Steps) < 1) {
		d.t.Fatalf("the finished step is not on disk: %+v", trials)
	}
	d.cleaned(run.ID)
}

// cleaned removes the leftovers of a killed run until there are none: the engine finishes its last
// request even if the client is gone.
func (d *disturbed) cleaned(runID string) {
	d.t.Helper()
	testenv.Until(d.t, time.Minute, "clean leaves nothing", func() bool {
		succeeds(d.t, d.dir, "clean", "--run", runID)
		return len(leftOf(runID)) == 0
	})
}

// interrupted checks a run that was stopped gracefully.
func (d *disturbed) interrupted(phase string) {
	d.t.Helper()
	run, trials := d.ends(130, "interrupted", "--resume out", "stopping gracefully")
	if run.State != bench.RunInterrupted {
		d.t.Errorf("run %s", run.State)
	}
	if phase == "load" && (len(trials) == 0 || len(trials[0].Steps) < 2 || trials[0].State != bench.TrialAborted || trials[0].Lost == nil) {
		d.t.Errorf("trials %+v", trials)
	}
}

// resumes checks that --resume completes the run, does not touch complete trials, and keeps earlier
// measurements.
func (d *disturbed) resumes(args ...string) []bench.TrialResult {
	d.t.Helper()
	_, before := read(d.t, d.out)
	complete := map[string]string{}
	for _, trial := range before {
		if name := trial.Trial.String() + ".json"; trial.State == bench.TrialComplete {
			data := readFile(d.t, filepath.Join(d.out, name))
			complete[name] = string(data)
		}
	}
	c := startIn(d.t, d.dir, d.env, append([]string{"run", "--headless", "--resume", "out"}, args...)...)
	c.succeeds(2 * time.Minute)
	run, trials := read(d.t, d.out)
	if run.State != bench.RunComplete || len(trials) != len(run.Trials) {
		d.t.Errorf("after resuming: run %s, %d of %d trials", run.State, len(trials), len(run.Trials))
	}
	for _, trial := range trials {
		if trial.State != bench.TrialComplete || len(trial.Steps) != len(run.Profile.Steps) || trial.Lost != nil {
			d.t.Errorf("after resuming: trial %s is %s, has %d steps, lost %v", trial.Trial, trial.State, len(trial.Steps), trial.Lost)
		}
	}
	for name, text := range complete {
		if again, err := os.ReadFile(filepath.Join(d.out, name)); err != nil || string(again) != text {
			d.t.Errorf("%s was complete and has changed: %v", name, err)
		}
	}
	for _, trial := range before {
		if trial.State == bench.TrialComplete || len(trial.Steps) == 0 {
			continue
		}
		if _, err := os.Stat(filepath.Join(d.out, trial.Trial.String()+".partial1.json")); err != nil {
			d.t.Errorf("the first measurements of %s are lost: %v", trial.Trial, err)
		}
	}
	d.clean(run.ID)
	return trials
}

// reported checks for words in the report and in the summary.
func (d *disturbed) reported(words ...string) {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.out, results.SummaryFile))
	if err != nil {
		d.t.Error(err)
	}
	says(d.t, results.SummaryFile, strings.ReplaceAll(string(data), `\`, ""), words...)
}

func dockerDo(t testing.TB, args ...string) string { return dockerTo(t, "", args...) }

// dockerTo runs the docker command against an engine ("": the machine's).
func dockerTo(t testing.TB, host string, args ...string) string {
	t.Helper()
	var out []byte
	var err error
	for range 10 {
		cmd := exec.Command("docker", args...)
		if host != "" {
			cmd.Env = append(os.Environ(), "DOCKER_HOST="+host)
		}
		// With cgroup v1 runc gives up if the processes of a group keep it busy.
		if out, err = cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "unable to freeze") {
			break
		}
	}
	if err != nil {
		t.Errorf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// misbehave makes the faulty contender do what its FAULT says. It need not respond.
func misbehave(t testing.TB, info bench.InstanceInfo) {
	t.Helper()
	client := http.Client{Timeout: 2 * time.Second}
	resp, err := client.Get("http://" + info.Address + "/misbehave")
	if err == nil {
		resp.Body.Close()
	}
}

// incident returns the first incident of a kind.
func incident(trial bench.TrialResult, kind bench.IncidentKind) (bench.Incident, bool) {
	i := slices.IndexFunc(trial.Incidents, func(in bench.Incident) bool { return in.Kind == kind })
	if i < 0 {
		return bench.Incident{}, false
	}
	return trial.Incidents[i], true
}

// never is a number of responses that the faulty contender does not reach: the test triggers the
// fault.
const never = 1 << 30

// quiet returns a profile of the built-in contender without checks, with steps of that many
// seconds. The second step has eight seconds more: a busy engine takes a while to do the intended
// harm.
func quiet(t testing.TB, runtime string, rounds, seconds int, connections ...int) string {
	t.Helper()
	return quietOf(t, "go-nethttp", runtime, rounds, seconds, connections...)
}

func quietOf(t testing.TB, contender, runtime string, rounds, seconds int, connections ...int) string {
	t.Helper()
	steps := make([]string, len(connections))
	for i, n := range connections {
		steps[i] = fmt.Sprintf("{connections: %d, duration: %ds}", n, seconds)
		if i == 1 {
			steps[i] = fmt.Sprintf("{connections: %d, duration: %ds}", n, seconds+8)
		}
	}
	return quietSteps(t, contender, runtime, rounds, steps...)
}

// quietSteps is quietOf with steps as in a profile; without a duration a step takes a second.
func quietSteps(t testing.TB, contender, runtime string, rounds int, steps ...string) string {
	t.Helper()
	return profileFile(t, `contenders: [`+contender+`]
rounds: `+strconv.Itoa(rounds)+`
runtime: `+runtime+`
`+quarter+littleData+`timeout: 500ms
compare_bodies: none
checks: {lifecycle: none, suites: []}
step_duration: 1s
steps: [`+strings.Join(steps, ", ")+`]
`)
}

func states(trials []bench.TrialResult) string {
	var all []string
	for _, l := range trials {
		all = append(all, l.Trial.String()+" "+string(l.State)+" ("+l.Failure+")")
	}
	return strings.Join(all, ", ")
}

func storeGoesAndComesBack(t *testing.T, runtime, url string, away, back func()) {
	t.Helper()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, runtime, 2, 1, 1, 2, 4, 8), "--elastic", url)
	d.loaded(1)
	away()
	d.waitEvent(d.out, when(func(e bench.Notice) bool { return strings.HasPrefix(e.Text, "waiting up to") }))
	back()
	_, trials := d.ends(3, "lost elasticsearch", "waiting up to 30s", "elasticsearch responds again after", "lost  ")
	if len(trials) != 2 || trials[0].State != bench.TrialFailed || trials[1].State != bench.TrialComplete {
		t.Fatal(states(trials))
	}
	trial := trials[0]
	if len(trial.Steps) < 2 || trial.Steps[0].Load.Succeeded == 0 || trial.Steps[0].Aborted != "" {
		t.Errorf("the finished step is lost: %d steps", len(trial.Steps))
	}
	if in, ok := incident(trial, bench.IncidentNeed); !ok || in.Step == nil {
		t.Errorf("incidents %v", trial.Incidents)
	}
	d.reported("lost elasticsearch")
	d.resumes()
}

// reachable waits until url responds.
func reachable(t *testing.T, url string) {
	t.Helper()
	testenv.Until(t, 2*time.Minute, url+" responds", func() bool {
		resp, err := http.Get(url)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// ordered fails if the times of an event log run backwards.
func ordered(t *testing.T, out string) {
	t.Helper()
	var last bench.Record
	err := eachEvent(out, func(r bench.Record) error {
		if r.At.Before(last.At) {
			t.Errorf("event %d is of %v, event %d of %v", last.Seq, last.At, r.Seq, r.At)
		}
		last = r
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
