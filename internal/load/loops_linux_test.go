package load

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHasLoop takes away the open files that a ring needs.
func TestHasLoop(t *testing.T) {
	for _, loop := range []string{LoopPortable, LoopEpoll} {
		if err := HasLoop(loop); err != nil {
			t.Error(err)
		}
	}
	if err := HasLoop("threads"); err == nil || !strings.Contains(err.Error(), `"threads" is not a loop`) {
		t.Errorf("%v", err)
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: files.Max}); err != nil {
		t.Fatal(err)
	}
	err := HasLoop(LoopRing)
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &files); back != nil {
		t.Fatal(back)
	}
	if err == nil || !strings.Contains(err.Error(), "loop io_uring is not available here: io_uring: ") {
		t.Errorf("without files: %v", err)
	}
}
