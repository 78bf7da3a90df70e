//go:build acceptance && timing && linux

package testenv

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestJudge_SeesDisturbances: an attempt next to a spinning process does not count; an undisturbed
// one decides.
func TestJudge_SeesDisturbances(t *testing.T) {
	if by := busyWith(); by != "" {
		t.Skip("disturbed: ", by)
	}
	stop := watchMachine()
	time.Sleep(200 * time.Millisecond)
	if by := stop(50 * time.Millisecond); by != "" {
		t.Skip("disturbed: ", by)
	}
	spinner := exec.Command("sh", "-c", "while :; do :; done")
	if err := spinner.Start(); err != nil {
		t.Fatal(err)
	}
	defer spinner.Wait()
	defer spinner.Process.Kill()
	if by := busyWith(); !strings.Contains(by, "busy without the test") {
		t.Errorf("next to a spinning process: %q", by)
	}
}

func TestJudge_UndisturbedAttemptDecides(t *testing.T) {
	attempts := 0
	Judge(t, 3, time.Second, func(testing.TB) error {
		attempts++
		return nil
	})
	if attempts != 1 && !t.Failed() {
		t.Errorf("%d attempts, though the first was undisturbed", attempts)
	}
}
