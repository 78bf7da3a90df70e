package machine

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/locbench/locbench/internal/text/safe"
)

// RunsVariable is the environment variable for the folder of the lock that all runs share. It is
// read from the process itself: tests that pass another environment share one lock, too.
const RunsVariable = "LOCBENCH_RUNS_DIR"

// Busy is a lock shared by all runs on a machine, on an empty file that stays. The kernel releases
// it when the process that holds it ends for any reason.
type Busy struct{ file *os.File }

// OpenBusy opens the lock in dir; "" stands for the machine's folder. Other users may write there,
// so it returns an error unless the file is a regular one, not a link, and readable.
func OpenBusy(dir string) (*Busy, error) {
	if dir == "" && runtime.GOOS != "windows" {
		dir = "/tmp" // TMPDIR differs between sessions
	}
	path := filepath.Join(cmp.Or(dir, os.TempDir()), "locbench.lock")
	f, err := safe.OpenItself(path)
	if errors.Is(err, os.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			err = f.Chmod(0o644) // other users must be able to read it, whatever the umask
		} else if errors.Is(err, os.ErrExist) { // another run has made it since
			f, err = safe.OpenItself(path)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &Busy{f}, nil
}

// Others reports whether another run is in progress, and holds the lock from then on; false if nil.
func (b *Busy) Others() bool {
	if b == nil {
		return false
	}
	alone, _ := safe.TryLock(b.file, true) // exclusive: fails while another run holds the lock
	for range 10 {
		if held, err := safe.TryLock(b.file, false); held || err != nil {
			return held && !alone
		}
		alone = false // another run is trying the lock now, and would not be seen later
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// Close releases the lock.
func (b *Busy) Close() error {
	if b == nil {
		return nil
	}
	return b.file.Close()
}
