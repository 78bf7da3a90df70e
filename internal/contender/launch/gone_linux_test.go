package launch

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestProcessGone: a process that has exited is gone, also before its parent has waited for it.
func TestProcessGone(t *testing.T) {
	if processGone(os.Getpid()) {
		t.Error("this process is gone")
	}
	child := exec.Command("true")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, time.Minute, "gone before its parent has waited for it", func() bool { return processGone(child.Process.Pid) })
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if !processGone(child.Process.Pid) {
		t.Error("it was waited for, and is not gone")
	}
}
