package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// markedProcess is a process with locbench's marks.
type markedProcess struct {
	pid           int
	run, instance string
}

// matchEnv reads the marks in an environment. It reports whether all entries are in it
// ("KEY=value"; "KEY=" for any value).
func matchEnv(env []byte, entries []string) (f markedProcess, ok bool) {
	has := make([]bool, len(entries))
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		s := string(entry)
		for i, e := range entries {
			has[i] = has[i] || s == e || strings.HasSuffix(e, "=") && strings.HasPrefix(s, e)
		}
		switch key, v, _ := strings.Cut(s, "="); key {
		case envRun:
			f.run = v
		case envInstance:
			f.instance = v
		}
	}
	return f, !slices.Contains(has, false)
}

// cleanProcesses kills the marked processes, except those for which keep returns true.
func cleanProcesses(run string, keep func(what, owner string) bool) (removed []string, err error) {
	var named []int
	above := ancestors()
	err = killMarked(func() (all []markedProcess) {
		for _, f := range marked(envRun+"="+run, envInstance+"=") {
			what := fmt.Sprintf("process %d %s", f.pid, ofRun(f.run))
			if owner, ok := instanceOwner(f.instance); !ok || slices.Contains(above, f.pid) || keep(what, owner) {
				continue
			}
			all = append(all, f)
			if !slices.Contains(named, f.pid) {
				named = append(named, f.pid)
				removed = append(removed, what)
			}
		}
		return all
	})
	return removed, err
}

// ancestors returns the processes above this one, which a contender of locbench may have started.
func ancestors() (pids []int) {
	for pid := os.Getppid(); pid > 1 && !slices.Contains(pids, pid); pid = parent(pid) {
		pids = append(pids, pid)
	}
	return pids
}

// killMarked kills what find returns until it returns nothing, since children may appear meanwhile.
func killMarked(find func() []markedProcess) error {
	for try := range 60 {
		left := find()
		if len(left) == 0 {
			return nil
		}
		for _, f := range left {
			_ = syscall.Kill(f.pid, syscall.SIGKILL) // a process that has exited is not found again
		}
		time.Sleep(min(time.Duration(1+try)*time.Millisecond, 50*time.Millisecond))
	}
	return errors.New("some processes survive SIGKILL, or keep starting new ones")
}
