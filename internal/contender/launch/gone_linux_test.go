package launch

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"locbench/internal/testenv"
)

// TestProcessGone: one that has ended is gone, also while nobody has waited for it.
func TestProcessGone(t *testing.T) {
	if processGone(os.Getpid()) {
		t.Error("this process is gone")
	}
	child := exec.Command("true")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, time.Minute, "nobody has waited for it, and it is gone", func() bool { return processGone(child.Process.Pid) })
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if !processGone(child.Process.Pid) {
		t.Error("it was waited for, and is not gone")
	}
}
