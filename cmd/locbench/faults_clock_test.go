//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results"
)

// jumpingBinary is locbench with a clock that is set three hours forward 6 s after its start, and a
// day back two seconds later: the clock of the machine, which others use, stays as it is. Only
// time.Now of the standard library is another; the monotonic clock goes on.
var jumpingBinary = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	const place = "	mono -= startNano\n"
	if bytes.Count(text, []byte(place)) != 1 {
		return "", errClock
	}
	text = bytes.Replace(text, []byte(place), []byte(place+"	sec += clockSet(mono)\n"), 1)
	text = append(text, `
func clockSet(mono int64) int64 {
	switch {
	case mono > 8000e6:
		return 3*3600 - 86400
	case mono > 6000e6:
		return 3 * 3600
	}
	return 0
}
`...)
	dir, err := os.MkdirTemp("", "locbench-test-")
	if err != nil {
		return "", err
	}
	other, overlay, binary := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "locbench")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {source: other}})
	if err != nil {
		return "", err
	}
	for path, data := range map[string][]byte{other: text, overlay: list} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return "", err
		}
	}
	return goBuildWith(binary, "locbench/cmd/locbench", "-overlay", overlay)
})

type clockError string

func (e clockError) Error() string { return string(e) }

const errClock = clockError("this Go's time.Now is not the one that the test knows how to set")

// TestClockThatIsSet runs with that clock: durations and rates are right all the same, in the run
// and when it is read from disk.
func TestClockThatIsSet(t *testing.T) {
	t.Parallel()
	binary, err := jumpingBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(binary, "run", "--headless", "-p", quiet(t, "process", 1, 2, 1, 2, 4, 8), "-o", "out")
	cmd.Dir = dir
	c := begin(t, cmd)
	if code := c.wait(2 * time.Minute); code != 0 {
		t.Fatalf("exit code %d\n%s", code, c.stderr.String())
	}
	says(t, "standard error", c.stderr.String(), "this machine's clock was set ", "durations are right all the same") // which way, depends on when its steps began
	out := filepath.Join(dir, "out")
	run, legs := read(t, out)
	if took := run.Ended.Sub(run.Started); took < 14*time.Second || took > 2*time.Minute {
		t.Errorf("the run took %v by its times of day", took)
	}
	leg := legs[0]
	if leg.StartUp == nil || *leg.StartUp <= 0 || *leg.StartUp > time.Minute || leg.Stop == nil || leg.Stop.Took > time.Minute {
		t.Errorf("start-up %v, stop %+v", leg.StartUp, leg.Stop)
	}
	for _, s := range leg.Steps {
		if s.Load.Elapsed < s.Step.Duration/2 || s.Load.Elapsed > s.Step.Duration+5*time.Second {
			t.Errorf("%s of %v took %v", s.Step.Name, s.Step.Duration, s.Load.Elapsed)
		}
		if between := s.After.At.Sub(s.Before.At); between < s.Load.Elapsed/2 || between > 2*s.Load.Elapsed+time.Second {
			t.Errorf("%s: %v between the two readings on disk, %v of load", s.Step.Name, between, s.Load.Elapsed)
		}
	}
	ordered(t, out)
	if code, _, stderr := locbench(t, dir, "report", "out"); code != 0 {
		t.Errorf("report: exit code %d\n%s", code, stderr)
	}
}

// ordered fails if the times of an event log run backwards.
func ordered(t *testing.T, out string) {
	t.Helper()
	var last bench.Record
	err := results.Events(out, func(r bench.Record) error {
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

// TestClockSetBackBeforeResume goes on with a run from the future: its time stamps run backwards,
// and harm nothing that reads them.
func TestClockSetBackBeforeResume(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "process", 2, 1, 1, 2))
	d.waitEvent(d.out, func(r bench.Record) bool { return r.Leg != nil && r.Leg.Round == 2 && stepStarted(1)(r) })
	d.signal(syscall.SIGINT)
	d.ends(130, "--resume out")
	year := time.Now().Year()
	files, err := filepath.Glob(filepath.Join(d.out, "*.json*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%v: %q", err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte(`"`+strconv.Itoa(year)+"-"), []byte(`"`+strconv.Itoa(year+5)+"-"))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	legs := d.resumes()
	if legs[0].Started.Year() != year+5 || legs[1].Started.Year() != year {
		t.Errorf("the first leg is of %v, the second of %v", legs[0].Started, legs[1].Started)
	}
	for _, args := range [][]string{{"report", "out"}, {"compare", "out", "out"}, {"export", "--format", "csv", "out"}} {
		if code, _, stderr := locbench(t, d.dir, args...); code != 0 {
			t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
		}
	}
}
