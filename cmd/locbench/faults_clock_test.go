//go:build acceptance && faults && linux

package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// TestResume_ClockSetBack resumes a run from the future: its time stamps run backwards, and
// nothing that reads them fails.
func TestResume_ClockSetBack(t *testing.T) {
	t.Parallel()
	d := disturb(t, nil, "run", "--headless", "-p", quiet(t, "process", 2, 1, 1, 2))
	d.waitEvent(d.out, func(r bench.Record) bool { return r.Trial != nil && r.Trial.Round == 2 && stepStarted(1)(r) })
	d.signal(syscall.SIGINT)
	d.ends(130, "--resume out")
	year := time.Now().Year()
	files, err := filepath.Glob(filepath.Join(d.out, "*.json*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%v: %q", err, files)
	}
	for _, file := range files {
		editFile(t, file, fmt.Sprintf(`"%d-`, year), fmt.Sprintf(`"%d-`, year+5))
	}
	trials := d.resumes()
	if trials[0].Started.Year() != year+5 || trials[1].Started.Year() != year {
		t.Errorf("the first trial is of %v, the second of %v", trials[0].Started, trials[1].Started)
	}
	for _, args := range [][]string{{"report", "out"}, {"compare", "out", "out"}, {"export", "--format", "csv", "out"}} {
		succeeds(t, d.dir, args...)
	}
}
