package load

import (
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
	testenv.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &files))
	testenv.Fails(t, err, "io_uring: ")
}
