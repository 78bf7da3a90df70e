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

// loaded waits until the contender has responded for a second of a step of the first trial: harm
// after that falls into the step.
func (d *disturbed) loaded(step int) bench.InstanceInfo {
	d.t.Helper()
	d.waitEvent(d.out, answered(step))
	return lastInstance(d.t, d.out)
}

// lastInstance returns the contender that was started last.
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

// ends waits for the end and checks the exit code, the words on standard error, and that nothing is left.
func (d *disturbed) ends(code int, words ...string) (bench.Run, []bench.TrialResult) {
	d.t.Helper()
	run, trials := d.concludes(code, words...)
	d.clean(run.ID)
	if d.t.Failed() {
		d.t.Logf("it said:\n%s", d.stderr.String())
	}
	return run, trials
}

// concludes is ends if something may be left, such as in an engine that is away.
func (d *disturbed) concludes(code int, words ...string) (bench.Run, []bench.TrialResult) {
	d.t.Helper()
	testenv.Equal(d.t, d.wait(2*time.Minute), code, "exit code")
	testenv.Contains(d.t, d.stderr.String(), words...)
	return read(d.t, d.out)
}

// clean fails if anything of the run is left: containers, networks, volumes, processes, temporary
// files.
func (d *disturbed) clean(runID string) {
	d.t.Helper()
	for _, left := range leftOf(runID, d.env...) {
		d.t.Error(left)
	}
	files, _ := filepath.Glob(filepath.Join(d.dir, "tmp", "*"))
	unfinished, _ := filepath.Glob(filepath.Join(d.out, "*.tmp*"))
	testenv.Check(d.t, len(files)+len(unfinished) == 0, "temporary files left: %v %v", files, unfinished)
}

// endsBy sends a signal in a phase and checks what is left: of SIGKILL, by clean. phase "load" is after the first step.
func (d *disturbed) endsBy(s syscall.Signal, phase string) {
	d.t.Helper()
	if d.signal(s); s == syscall.SIGKILL {
		d.killed(phase)
	} else {
		d.interrupted(phase)
	}
}

// killed checks what is left of a run after SIGKILL, and after 'locbench clean'.
func (d *disturbed) killed(phase string) {
	d.t.Helper()
	d.wait(time.Minute)
	run, trials := read(d.t, d.out)
	testenv.Check(d.t, run.State == bench.RunRunning, "a killed run says it is %s", run.State)
	testenv.Need(d.t, phase != "load" || len(trials) == 1 && len(trials[0].Steps) >= 1,
		"the finished step is not on disk: %+v", trials)
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
	testenv.Check(d.t, run.State == bench.RunInterrupted, "run %s", run.State)
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
	testenv.Check(d.t, run.State == bench.RunComplete && len(trials) == len(run.Trials),
		"after resuming: run %s, %d of %d trials", run.State, len(trials), len(run.Trials))
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
	data := testenv.Must(os.ReadFile(filepath.Join(d.out, results.SummaryFile)))(d.t)
	testenv.Contains(d.t, strings.ReplaceAll(string(data), `\`, ""), words...)
}

// dockerDo runs the docker command.
func dockerDo(t testing.TB, args ...string) string {
	t.Helper()
	var out []byte
	var err error
	for range 10 {
		// With cgroup v1 runc gives up if the processes of a group keep it busy.
		if out, err = exec.Command("docker", args...).CombinedOutput(); err == nil || !strings.Contains(string(out), "unable to freeze") {
			break
		}
	}
	testenv.Check(t, err == nil, "docker %q: %v: %s", args, err, out)
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

// never is a number of responses that the faulty contender does not reach: the test triggers the
// fault.
const never = 1 << 30

// quiet returns a profile of the built-in contender without checks, with steps as in a profile: a second each if they
// do not say. Eight seconds more of a second step are for a busy engine, which takes a while to do the intended harm.
func quiet(t testing.TB, runtime string, rounds int, steps string) string {
	t.Helper()
	return profileFile(t, fmt.Sprintf(`contenders: [go-nethttp]
rounds: %d
runtime: %s
%s%stimeout: 500ms
compare_bodies: none
checks: {lifecycle: none, suites: []}
step_duration: 1s
steps: [%s]
`, rounds, runtime, quarter, littleData, steps))
}

func states(trials []bench.TrialResult) string {
	var all []string
	for _, l := range trials {
		all = append(all, l.Trial.String()+" "+string(l.State)+" ("+l.Failure+")")
	}
	return strings.Join(all, ", ")
}

// fault is what people, kernels and engines do to a run in the second step of its first trial, and what is left of it:
// exit code 3, the steps before, the cause in all outputs, and a run that --resume completes.
type fault struct {
	name  string
	harm  func(d *disturbed, info bench.InstanceInfo)
	undo  func()             // once the run says that it waits; at its end, if it is of one round
	words []string           // of standard error, the trial's failure and the summary
	kind  bench.IncidentKind // of an incident in the step
	steps int                // recorded; 0: two or more
	lost  string             // what the trial lost
}

// happens harms a run of one round, or of two: then the second is complete.
func (f fault) happens(d *disturbed, rounds int) {
	t := d.t
	t.Helper()
	f.harm(d, d.loaded(1))
	conclusion := d.ends
	switch {
	case f.undo != nil && rounds == 1:
		conclusion = d.concludes
		d.wait(2 * time.Minute)
		f.undo()
	case f.undo != nil:
		d.waitEvent(d.out, when(func(e bench.Notice) bool { return strings.HasPrefix(e.Text, "waiting up to") }))
		f.undo()
	}
	run, trials := conclusion(3, f.words...)
	state := []bench.RunState{bench.RunFailed, bench.RunComplete}[rounds-1]
	if run.State != state || len(trials) != rounds || trials[0].State != bench.TrialFailed || trials[rounds-1].State == bench.TrialComplete != (rounds == 2) {
		t.Fatalf("run %s: %s", run.State, states(trials))
	}
	trial := trials[0]
	testenv.Contains(t, trial.Failure, f.words...)
	n := len(trial.Steps)
	testenv.Need(t, n >= 2 && (f.steps <= 0 || n == f.steps), "%d steps recorded, want %d", n, f.steps)
	first := trial.Steps[0]
	testenv.Check(t, first.Aborted == "" && first.Load.Succeeded > 0 && first.Load.FailedTotal() == first.Load.Failed[bench.ErrTimeout], "the first step: %+v", first.Load)
	in := slices.IndexFunc(trial.Incidents, func(in bench.Incident) bool { return in.Kind == f.kind && in.Step != nil && *in.Step == 1 })
	testenv.Check(t, f.kind == "" || in >= 0, "incidents %v, want one of kind %q in step 2", trial.Incidents, f.kind)
	if f.lost != "" {
		testenv.Check(t, trial.Lost != nil && strings.Contains(trial.Lost.String(), f.lost), "lost: %v, want %q", trial.Lost, f.lost)
		testenv.Contains(t, d.stderr.String(), "lost  ")
		d.reported("Lost: ")
	}
	if len(trial.Steps) > 2 {
		endsOnTime(t, trial.Steps[1:])
	}
	d.reported(f.words...)
	d.resumes()
}

// endsOnTime checks that steps count the timeouts of a contender that does not respond, and end on
// time: after the step's duration and the requests in flight, with room for a busy machine.
func endsOnTime(t *testing.T, steps []bench.StepResult) {
	t.Helper()
	for _, s := range steps {
		took := s.Load.Elapsed
		testenv.Check(t, took <= s.Step.Duration+5*time.Second, "%s of %v took %v", s.Step.Name, s.Step.Duration, took)
		testenv.Check(t, s.Load.FailedTotal() > 0, "%s: no request is counted as failed", s.Step.Name)
	}
}

// storeGoes is a run whose store goes away, and comes back as soon as locbench waits for it.
func storeGoes(t *testing.T, runtime, url string, away, back func()) {
	t.Helper()
	f := fault{harm: func(*disturbed, bench.InstanceInfo) { away() }, undo: back, words: []string{"lost elasticsearch"}, kind: bench.IncidentNeed}
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, runtime, 2, "1, 2 for 9s, 4, 8"), "--elastic", url)
	f.happens(d, 2)
	testenv.Contains(t, d.stderr.String(), "waiting up to 30s", "elasticsearch responds again after", "lost  ")
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
