package machine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// RunsVariable is the environment variable for the folder of the files by which runs know each
// other. It is read from the process itself: tests that pass another environment share one, too.
const RunsVariable = "LOCBENCH_RUNS_DIR"

// Active is a run in progress.
type Active struct {
	PID int    `json:"pid"`
	Dir string `json:"dir"` // its results folder
}

func (a Active) String() string { return fmt.Sprintf("process %d, %s", a.PID, safe.Line(a.Dir, 300)) }

const (
	activePrefix = "locbench-run-"
	maxActive    = 4 << 10 // bytes of such a file
	mostActive   = 100     // files that are looked at
)

// Busy is a run's own file, which says what it is and is locked while it is in progress. The kernel
// releases the lock when the process ends for any reason.
type Busy struct {
	file *os.File
	path string
}

// OpenBusy makes the file of this run in a folder; "" stands for the machine's.
func OpenBusy(folder string, of Active) (b *Busy, err error) {
	if folder == "" && runtime.GOOS != "windows" {
		folder = "/tmp" // TMPDIR differs between sessions
	}
	// Others look at it once it is locked, and named like this.
	f, err := os.CreateTemp(cmp.Or(folder, os.TempDir()), "locbench-new-")
	if err != nil {
		return nil, err
	}
	b = &Busy{f, f.Name()}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
			b = nil
		}
	}()
	text, err := json.Marshal(of)
	if err != nil {
		return b, err
	}
	if _, err = f.Write(text); err != nil {
		return b, err
	}
	if err = f.Chmod(0o644); err != nil { // other users must be able to read it, whatever the umask
		return b, err
	}
	if _, err = safe.TryLock(f, true); err != nil {
		return b, err
	}
	path := filepath.Join(filepath.Dir(b.path), activePrefix+strings.TrimPrefix(filepath.Base(b.path), "locbench-new-"))
	if err = os.Rename(b.path, path); err == nil {
		b.path = path
	}
	return b, err
}

// Others returns the other runs in progress; none if nil. It removes files of runs that were
// killed. Anything else in the folder, where other users may write, is left alone.
func (b *Busy) Others() (all []Active) {
	if b == nil {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(b.path), activePrefix+"*")) // the pattern is well formed
	for _, path := range paths[:min(len(paths), mostActive)] {
		if path == b.path {
			continue
		}
		if a, active := activeAt(path); active && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// activeAt reads the file of another run, and removes it if that run has ended.
func activeAt(path string) (a Active, active bool) {
	f, err := safe.OpenItself(path)
	if err != nil {
		return a, false
	}
	defer f.Close()
	ended, err := safe.TryLock(f, false) // shared: two runs that look do not see each other
	if err != nil {
		return a, false
	}
	text, err := safe.ReadAll(f, path, maxActive)
	if err != nil || json.Unmarshal(text, &a) != nil || a.PID <= 0 || a.Dir == "" {
		return a, false
	}
	if ended {
		_ = os.Remove(path) // fails for the file of another user, which is not needed
	}
	return a, !ended
}

// Close says that the run has ended.
func (b *Busy) Close() error {
	if b == nil {
		return nil
	}
	err := b.file.Close()                                                  // first: Windows removes no open file
	if removed := os.Remove(b.path); !errors.Is(removed, os.ErrNotExist) { // another run may have been faster
		err = errors.Join(err, removed)
	}
	return err
}
