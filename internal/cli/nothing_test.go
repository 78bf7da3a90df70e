package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/exit"
)

// nobody is an address of this machine that refuses connections.
const nobody = "http://127.0.0.1:1"

// runsNothing runs locbench in a folder of its own and fails unless it ends with code and leaves
// nothing there.
func runsNothing(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	var out, talk bytes.Buffer
	args = append(args, "-o", filepath.Join(dir, "results", "x"))
	if got := Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }}); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if !strings.Contains(talk.String(), "nothing ran, so nothing is kept") {
		t.Errorf("it says:\n%s", talk.String())
	}
	return out.String(), talk.String()
}

func TestNothingRanWithoutItsStore(t *testing.T) {
	_, talk := runsNothing(t, exit.Failure, "run", "--headless", "--runtime", "process", "--elastic", nobody)
	if n := strings.Count(talk, "connection refused"); n != 1 {
		t.Errorf("it says %d times why:\n%s", n, talk)
	}
}

// A target that does not answer is reported while it is still asked, and why it failed is said
// once.
func TestNothingRanWithoutItsTarget(t *testing.T) {
	t.Parallel()
	out, talk := runsNothing(t, exit.Contender, "run", "--headless", "--target", nobody)
	if early, end := strings.Count(talk, "no answer at "+nobody+" yet: connection refused"), strings.Count(talk, "connection refused"); out != "" || early != 1 || end != 2 {
		t.Errorf("standard output %q; it says %d times that it waits, and %d times why:\n%s", out, early, end-early, talk)
	}
	out, _ = runsNothing(t, exit.Contender, "run", "--json", "--target", nobody)
	var began, got time.Time
	for line := range strings.Lines(out) {
		var rec bench.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case bench.RunStarted:
			began = rec.At
		case bench.Notice:
			if got.IsZero() && strings.Contains(e.Text, "no answer") {
				got = rec.At
			}
		}
	}
	if after := got.Sub(began); began.IsZero() || got.IsZero() || after > 2*time.Second {
		t.Errorf("reported after %v", after)
	}
}

func TestNothingRanOfASearch(t *testing.T) {
	t.Parallel()
	out, talk := runsNothing(t, exit.Contender, "capacity", "--target", nobody, "--slo", "p99<1s")
	if out != "" || !strings.Contains(talk, "no answer at "+nobody+" yet: connection refused") {
		t.Errorf("it says:\n%s%s", out, talk)
	}
}
