package results

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

var at = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func plan() bench.Run {
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r1", State: bench.RunRunning, Seed: 7, Started: at}
	for round := 1; round <= 2; round++ {
		trial := bench.Trial{Contender: "go-nethttp", Round: round}
		run.Trials = append(run.Trials, bench.TrialEntry{Trial: trial, State: bench.TrialPending, File: trial.String() + ".json"})
	}
	return run
}

func mustCreate(t *testing.T, dir string) *Writer {
	t.Helper()
	w := testenv.Must(Create(dir, plan(), func(err error) { t.Errorf("writing failed: %v", err) }))(t)
	t.Cleanup(func() { w.Close() })
	return w
}

func mustReopen(t *testing.T, dir string, run bench.Run) *Writer {
	t.Helper()
	h := testenv.Must(Acquire(dir))(t)
	w := testenv.Must(h.Reopen(run, func(err error) { t.Error(err) }))(t)
	t.Cleanup(func() { w.Close() })
	return w
}

// feed passes events of a trial to the writer, numbered from seq.
func feed(w *Writer, seq int64, trial *bench.Trial, events ...bench.Event) {
	for i, e := range events {
		w.Handle(bench.Record{Seq: seq + int64(i), At: at.Add(time.Duration(i) * time.Second), Trial: trial, Event: e})
	}
}

func step(n int) bench.StepEnded {
	return bench.StepEnded{Result: bench.StepResult{Index: n, Step: bench.Step{Connections: 1 << n, Duration: time.Second}, Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: int64(100 * (n + 1))}, Elapsed: time.Second}}}
}

func TestEveryFinishedStepIsOnDiskAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	w := mustCreate(t, dir)
	trial := plan().Trials[0].Trial
	feed(w, 1, nil, bench.RunStarted{Run: plan(), Dir: dir})
	feed(w, 2, &trial, bench.TrialStarted{Number: 1, Of: 2}, bench.InstanceReady{StartUp: time.Millisecond}, step(0), step(1))

	// Read what a reader finds if locbench is killed exactly now.
	run, trials, err := Read(dir)
	testenv.OK(t, err)
	testenv.Check(t, run.Trials[0].State == bench.TrialRunning && run.Trials[1].State == bench.TrialPending,
		"states %s, %s; want running, pending", run.Trials[0].State, run.Trials[1].State)
	testenv.Need(t, len(trials) == 1 && len(trials[0].Steps) == 2 && trials[0].Steps[1].Load.Succeeded == 200 && trials[0].StartUp != nil,
		"finished steps are not all there: %+v", trials)

	feed(w, 6, &trial, bench.TrialEnded{State: bench.TrialComplete})
	feed(w, 7, nil, bench.Notice{Level: "warning", Text: "small machine"}, bench.ChangedManually{Control: bench.Control{Kind: bench.ControlPause}}, bench.RunEnded{State: bench.RunComplete})
	run, trials, err = Read(dir)
	testenv.OK(t, err)
	testenv.Check(t, run.State == bench.RunComplete && run.Trials[0].State == bench.TrialComplete && trials[0].State == bench.TrialComplete,
		"states after the end: run %s, trial %s / %s", run.State, run.Trials[0].State, trials[0].State)
	testenv.Equal(t, len(run.Warnings), 1, "warnings", run.Warnings)
	i := run.ManualChanges
	testenv.Check(t, len(i) == 1 && i[0].Control.Kind == bench.ControlPause && i[0].At.Equal(at.Add(time.Second)), "manual changes %+v", i)
	leftovers, _ := filepath.Glob(filepath.Join(dir, ".*"))
	testenv.Check(t, len(leftovers) == 0, "temporary files left: %v", leftovers)
	var seen []int64
	l := &follower{handle: func(batch []bench.Record) error {
		for _, r := range batch {
			seen = append(seen, r.Seq)
		}
		return nil
	}}
	log, err := os.ReadFile(filepath.Join(dir, EventsFile))
	err = errors.Join(err, l.add(log), l.flush())
	testenv.Check(t, err == nil && len(seen) == 9, "event log holds %v (%v), want 1 to 9", seen, err)
}

func TestResumeKeepsTheUnfinishedTrial(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir)
	trial := plan().Trials[0].Trial
	feed(w, 1, &trial, bench.TrialStarted{}, step(0), step(1))
	// The killed run leaves half a line in the log.
	testenv.OK(t, testenv.Err(w.events.WriteString(`{"seq":4,"ty`)))
	w.Close()

	run, _, err := Read(dir)
	testenv.OK(t, err)
	if last, err := LastSeq(dir); err != nil || last != 4 { // the half line has a number
		t.Errorf("last event %d, want 4 (%v)", last, err)
	}
	w2 := mustReopen(t, dir, run)
	defer w2.Close()
	feed(w2, 4, &trial, bench.TrialStarted{}, step(0), bench.TrialEnded{State: bench.TrialComplete})
	_, trials, err := Read(dir)
	testenv.OK(t, err)
	testenv.Need(t, len(trials) == 1 && len(trials[0].Steps) == 1, "the steps of two trials were mixed: %+v", trials)
	var partial bench.TrialResult
	if err := readTrial(t, dir, "go-nethttp-1.partial1.json", &partial); err != nil || len(partial.Steps) != 2 {
		t.Errorf("the unfinished trial is lost: %v, %d steps", err, len(partial.Steps))
	}
	testenv.Equal(t, testenv.Must(LastSeq(dir))(t), 6, "last event", "6: the half line must not swallow the next one")
}

// TestKilledBetweenTheTrialAndTheRun checks that a trial whose file is complete does not run again,
// although run.json does not say so yet.
func TestKilledBetweenTheTrialAndTheRun(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir)
	trial := plan().Trials[0].Trial
	failed := bench.StepEnded{Result: bench.StepResult{Load: bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{"5xx": 9}, Checked: 5}, Elapsed: time.Second}}}
	feed(w, 1, &trial, bench.TrialStarted{}, failed)
	before := testenv.Must(os.ReadFile(filepath.Join(dir, RunFile)))(t)
	feed(w, 3, &trial, bench.TrialEnded{State: bench.TrialComplete, Excluded: &bench.Exclusion{NoValidStep: true, Errors: 1}})
	w.Close()
	want, _, err := Read(dir)
	testenv.OK(t, err)
	testenv.OK(t, os.WriteFile(filepath.Join(dir, RunFile), before, 0o600))
	run, _, err := Read(dir)
	for when, entry := range map[string]bench.TrialEntry{"written": want.Trials[0], "read": run.Trials[0]} {
		testenv.Check(t, entry.Bodies != nil && entry.Bodies.Compared == 5, "%s: compared bodies: %+v", when,
			entry.Bodies)
	}
	if got := run.Trials[0]; err != nil || got.State != bench.TrialComplete || got.Excluded == nil || !got.Excluded.NoValidStep || got.Excluded.Errors != want.Trials[0].Excluded.Errors {
		t.Errorf("%+v, %v", got, err)
	}
	testenv.Equal(t, run.Trials[1].State, bench.TrialPending, "the other trial")
}

func TestCreateRefusesAFolderWithARun(t *testing.T) {
	dir := t.TempDir()
	mustCreate(t, dir)
	testenv.Fails(t, testenv.Err(Create(dir, plan(), nil)), "--resume")
	// No other process may write to the folder before the first writer is closed.
	testenv.Fails(t, testenv.Err(Acquire(dir)), "another locbench")
}

func TestWriteErrorIsReportedOnceAndAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var got []error
	w := testenv.Must(Create(dir, plan(), func(err error) { got = append(got, err) }))(t)
	defer w.Close()
	testenv.OK(t, os.RemoveAll(dir))
	trial := plan().Trials[0].Trial
	feed(w, 1, &trial, bench.TrialStarted{}, step(0))
	testenv.Check(t, len(got) == 1 && w.Err() != nil, "reported %v, Err %v; want one error", got, w.Err())
}

// What comes after Close changes nothing: the folder may be removed, or resumed by another locbench.
func TestNothingIsWrittenAfterClose(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir)
	feed(w, 1, nil, bench.RunStarted{Run: plan(), Dir: dir})
	testenv.OK(t, w.Close())
	before := map[string]string{}
	for _, name := range []string{RunFile, EventsFile} {
		before[name] = string(testenv.Must(os.ReadFile(filepath.Join(dir, name)))(t))
	}
	w.Interrupted()
	feed(w, 2, nil, bench.RunEnded{State: bench.RunFailed})
	for name, want := range before {
		testenv.Equal(t, string(testenv.Must(os.ReadFile(filepath.Join(dir, name)))(t)), want)
	}
	testenv.OK(t, w.Err())
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	write := func(t *testing.T, name, content string, more ...string) string {
		dir := t.TempDir()
		for i := 0; i < len(more); i += 2 {
			testenv.OK(t, os.WriteFile(filepath.Join(dir, more[i]), []byte(more[i+1]), 0o600))
		}
		if name != "" {
			testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
		return dir
	}
	for _, c := range []struct{ name, run, want string }{
		{"no folder", "", "is not a results folder"},
		{"broken", "{\n \"schema\": 1,\n \"id\": ]", "line 3"},
		{"wrong type", "{\n \"schema\": \"one\"}", "line 2"},
		{"other JSON", `{"name":"x"}`, "not a locbench run"},
		{"newer", `{"schema": 99}`, "update locbench"},
		{"older", `{"schema": 3}`, "this locbench reads schema 4: run the benchmark again"},
		{"escape", `{"schema":4,"trials":[{"trial":{"round":1},"file":"../../etc/x.json"}]}`, `trial 1: file "../../etc/x.json" is not a plain name`},
		{"absolute", `{"schema":4,"trials":[{"trial":{"round":1},"file":"/etc/passwd.json"}]}`, "not a plain name"},
		{"twice", `{"schema":4,"trials":[{"trial":{"round":1},"file":"a.json"},{"trial":{"round":2},"file":"a.json"}]}`, `trial 2: file "a.json" belongs to another trial`},
		{"round", `{"schema":4,"trials":[{"trial":{"contender":"a","round":-9223372036854775808},"state":"complete","file":"a.json"}]}`, "trial 1: round -9223372036854775808; rounds count from 1"},
		{"round 0", `{"schema":4,"trials":[{"trial":{"round":1},"file":"a.json"},{"trial":{"round":0},"file":"b.json"}]}`, "trial 2: round 0;"},
		{"no schema", `{"schema":0}`, "not a locbench run"},
		{"first schema", `{"schema":1}`, "run the benchmark again"},
		{"missing trial", `{"schema":4,"trials":[{"trial":{"contender":"a","round":1},"state":"complete","file":"a-1.json"}]}`, "a-1.json is missing…locbench run --resume "},
		{"of a search", `{"schema":4,"state":"complete","search":"s","trials":[{"trial":{"contender":"a","round":1},"state":"complete","file":"a-1.json"}]}`, "a-1.json is missing…!--resume"},
		{"running", `{"schema":4,"state":"running","trials":[{"trial":{"contender":"a","round":1},"state":"complete","file":"a-1.json"}]}`, "a-1.json is missing…!--resume"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := RunFile
			if c.run == "" {
				file = ""
			}
			_, _, err := Read(write(t, file, c.run))
			testenv.Contains(t, err.Error(), strings.Split(c.want, "…")...)
		})
	}

	t.Run("one bad trial does not hide the other", func(t *testing.T) {
		run := plan()
		run.Trials[0].State, run.Trials[1].State = bench.TrialComplete, bench.TrialComplete
		data, _ := json.Marshal(run)
		good, _ := json.Marshal(bench.TrialResult{Schema: bench.SchemaVersion, Trial: run.Trials[1].Trial})
		dir := write(t, RunFile, string(data), run.Trials[0].File, "{", run.Trials[1].File, string(good))
		_, trials, err := Read(dir)
		testenv.Check(t, err != nil && len(trials) == 1 && trials[0].Trial.Round == 2, "trials %+v, error %v",
			trials, err)
	})
}

func FuzzRead(f *testing.F) {
	run, _ := json.Marshal(plan())
	trial, _ := json.Marshal(bench.TrialResult{Schema: bench.SchemaVersion, Trial: plan().Trials[0].Trial, Steps: []bench.StepResult{step(3).Result}})
	event, _ := json.Marshal(bench.Record{Seq: 1, At: at, Event: step(2)})
	f.Add(run, trial, event)
	f.Add([]byte(`{"schema":4,"trials":[{"file":"go-nethttp-1.json","state":"running","trial":{"contender":"go-nethttp","round":1}}]}`), []byte(`{"schema":4,"steps":[{"load":{"failed":{"":-1}}}]}`), []byte(`{"type":"step_ended"}`))
	f.Add([]byte(`{"schema":4,"trials":[{"file":"x.json","state":"complete","trial":{"contender":"a","round":-9223372036854775808}}]}`), []byte(`{}`), []byte(`{}`))
	f.Add([]byte(`[]`), []byte(`null`), []byte("\n\n{}"))
	f.Fuzz(func(t *testing.T, run, trial, events []byte) {
		l := &follower{handle: func([]bench.Record) error { return nil }}
		_ = errors.Join(l.add(events), l.flush(), l.finish())
		got, trials, err := readFiles(t, run, trial)
		if err != nil {
			return
		}
		// The derived values do not panic, and results can be written and read again.
		for _, l := range trials {
			for _, s := range l.Steps {
				s.CPUPerRequest()
				s.Throttling()
				s.MemorySeconds()
				s.Load.ErrorRate()
			}
		}
		again := testenv.Must(json.Marshal(got))(t)
		_, _, err = readFiles(t, again, trial)
		testenv.Need(t, err == nil, "written results cannot be read again: %v", err)
	})
}

// A killed run may leave an unfinished file next to the one that it replaces.
func TestReopenRemovesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r"}
	fail := func(err error) { t.Error(err) }
	w := testenv.Must(Create(dir, run, fail))(t)
	w.Close()
	mine := []string{".notes.tmp", ".other.txt.tmp12", "a.json.tmp1"}
	for _, name := range append([]string{".run.json.tmp123", ".rs-actix-1.json.tmp4", ".report.html.tmp5", ".summary.md.tmp6"}, mine...) {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600))
	}
	mustReopen(t, dir, run).Close()
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := append(mine, EventsFile, RunFile)
	slices.Sort(want)
	testenv.Equal(t, left, want, "left")
}

// With interleaving each contender has its own file, in whichever order events come.
func TestTrialsAtTheSameTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	w := mustCreate(t, dir)
	a, b := plan().Trials[0].Trial, plan().Trials[1].Trial
	feed(w, 1, nil, bench.RunStarted{Run: plan(), Dir: dir})
	feed(w, 2, &a, bench.TrialStarted{Number: 1, Of: 2}, bench.InstanceReady{StartUp: 1})
	feed(w, 4, &b, bench.TrialStarted{Number: 2, Of: 2}, bench.InstanceReady{StartUp: 2})
	feed(w, 6, &b, step(0))
	feed(w, 7, &a, step(0))
	feed(w, 8, &a, step(1))
	feed(w, 9, &b, bench.TrialEnded{State: bench.TrialFailed, Failure: "gone"})
	feed(w, 10, &a, bench.TrialEnded{State: bench.TrialComplete})
	run, trials, err := Read(dir)
	testenv.Need(t, err == nil && len(trials) == 2, "%d trials, %v", len(trials), err)
	testenv.Check(t, trials[0].State == bench.TrialComplete && len(trials[0].Steps) == 2 && *trials[0].StartUp == 1 && run.Trials[0].State == bench.TrialComplete,
		"a: %+v", trials[0])
	testenv.Check(t, trials[1].State == bench.TrialFailed && len(trials[1].Steps) == 1 && *trials[1].StartUp == 2 && run.Trials[1].State == bench.TrialFailed,
		"b: %+v", trials[1])
}

// The number of an unreadable line, and the numbers after it, are not used again.
func TestLastSeqAfterALineThatIsTooLong(t *testing.T) {
	short := func(seq string) string {
		return `{"seq":` + seq + `,"type":"notice","event":{"level":"info","text":"x"}}` + "\n"
	}
	long := func(seq string) string {
		return `{"seq":` + seq + `,"type":"notice","text":"` + strings.Repeat("x", maxLine) + "\"}\n"
	}
	for name, tt := range map[string]struct {
		log  string
		want int64
	}{
		"before others":      {short("1") + long("2") + short("3"), 3},
		"the last":           {short("1") + long("7"), 7},
		"without a number":   {short("1") + strings.Repeat("7", maxLine+1) + "\n", 1},
		"more than a number": {short("1") + long(strings.Repeat("9", 40)), 1},
	} {
		dir := t.TempDir()
		testenv.OK(t, os.WriteFile(filepath.Join(dir, EventsFile), []byte(tt.log), 0o600))
		last, err := LastSeq(dir)
		testenv.Check(t, err == nil && last == tt.want, "%s: %d, want %d (%v)", name, last, tt.want, err)
	}
	last, err := LastSeq(t.TempDir())
	testenv.Check(t, err == nil && last == 0, "no log: %d, %v", last, err)
}

// A resumed run locks its folder before reading it.
func TestAcquireKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	testenv.Fails(t, testenv.Err(Acquire(dir)), "is not a results folder")
	entries, _ := os.ReadDir(dir)
	testenv.Check(t, len(entries) == 0, "left in it: %v", entries)
	run := bench.Run{Schema: bench.SchemaVersion, ID: "r"}
	mustCreate(t, dir).Close()
	h, err := Acquire(filepath.Join(dir, RunFile))
	testenv.OK(t, err)
	testenv.Fails(t, testenv.Err(Acquire(dir)), "another locbench is writing to "+dir)
	h.Close()
	w := mustReopen(t, dir, run)
	testenv.Check(t, testenv.Err(Acquire(dir)) != nil, "the folder of a writer is locked again")
	w.Close()
	h, err = Acquire(dir)
	testenv.Need(t, err == nil, "%v", err)
	h.Close()
}

// All subscribers share the plan in an event: the writer changes only its own copy.
func TestWriterDoesNotChangeThePlanOfAnEvent(t *testing.T) {
	run := plan()
	w := mustCreate(t, filepath.Join(t.TempDir(), "out"))
	trial := run.Trials[0].Trial
	before := run.Trials[0].State
	feed(w, 1, nil, bench.RunStarted{Run: run})
	feed(w, 2, &trial, bench.TrialStarted{Number: 1, Of: 2}, bench.TrialEnded{State: bench.TrialFailed})
	testenv.Equal(t, run.Trials[0].State, before, "the trial of the event")
}

func TestResumeCommand(t *testing.T) {
	testenv.Equal(t, ResumeCommand("a b"), "locbench run --resume 'a b'")
	testenv.Equal(t, WatchCommand("-x"), "locbench tui ./-x")
}
