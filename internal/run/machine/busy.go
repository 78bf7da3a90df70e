package machine

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"locbench/internal/text/safe"
)

// RunsVariable names the environment variable for another folder than the usual one of the lock by which
// the runs of a machine notice each other.
const RunsVariable = "LOCBENCH_RUNS_DIR"

// Busy is the lock that all runs on a machine share. It is on an empty file that stays, and the kernel
// lets it go when the process that holds it ends, however that ends.
type Busy struct{ file *os.File }

// OpenBusy opens the lock in a folder, "" for that of the machine. Where the file is anything but a
// regular one that may be read, such as a link, it returns an error: other users may write there too.
func OpenBusy(dir string) (*Busy, error) {
	if dir == "" && runtime.GOOS != "windows" {
		dir = "/tmp" // and not TMPDIR, which differs between sessions
	}
	path := filepath.Join(cmp.Or(dir, os.TempDir()), "locbench.lock")
	f, err := safe.OpenItself(path)
	if errors.Is(err, os.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			err = f.Chmod(0o644) // with a umask that keeps others out they could not ask
		} else if errors.Is(err, os.ErrExist) { // by now
			f, err = safe.OpenItself(path)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &Busy{f}, nil
}

// Others reports whether another run is on, and holds the lock from then on. Of nil that is not known.
func (b *Busy) Others() bool {
	if b == nil {
		return false
	}
	alone, _ := safe.TryLock(b.file, true) // which nobody gets while another one holds it
	for range 10 {
		if held, err := safe.TryLock(b.file, false); held || err != nil {
			return held && !alone
		}
		alone = false // somebody asks at this very moment, whom this run would not see later
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// Close lets go of the lock.
func (b *Busy) Close() error {
	if b == nil {
		return nil
	}
	return b.file.Close()
}
