package load

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/load/fast"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRingNeedsFiles takes away the open files that a ring needs.
func TestRingNeedsFiles(t *testing.T) {
	var files unix.Rlimit
	testenv.OK(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	testenv.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: files.Max}))
	err := fast.Has(true)
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &files); back != nil {
		t.Fatal(back)
	}
	if err == nil || !strings.Contains(err.Error(), "io_uring: ") {
		t.Errorf("without files: %v", err)
	}
}
