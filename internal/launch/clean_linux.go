package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"locbench/internal/cgroup"
)

// cleanProcesses kills the marked processes and removes the groups, except those whose owner keep returns true for. A group
// does not tell its run, so groups are removed only where no run is named.
func cleanProcesses(run string, keep func(owner string) bool) (removed []string, err error) {
	var told []int
	err = killMarked(func() (all []found) {
		for _, f := range marked(envRun+"="+run, envInstance+"=") {
			if keep(f.owner) {
				continue
			}
			all = append(all, f)
			if !slices.Contains(told, f.pid) {
				told = append(told, f.pid)
				removed = append(removed, fmt.Sprintf("process %d (run %s)", f.pid, f.run))
			}
		}
		return all
	})
	if run != "" {
		return removed, err
	}
	groups, e := cgroup.Tree{}.CleanLeft(groupPrefix, func(name string) bool {
		id := strings.TrimPrefix(name, groupPrefix)
		return keep(id[:max(0, strings.LastIndexByte(id, '-'))])
	})
	for _, g := range groups {
		removed = append(removed, "cgroup "+g)
	}
	return removed, errors.Join(err, e)
}

// killMarked kills what find finds until it finds nothing more: what is killed may have just started another.
func killMarked(find func() []found) error {
	for try := range 60 {
		left := find()
		if len(left) == 0 {
			return nil
		}
		for _, f := range left {
			_ = syscall.Kill(f.pid, syscall.SIGKILL) // one that is gone meanwhile is no longer found
		}
		time.Sleep(min(time.Duration(1+try)*time.Millisecond, 50*time.Millisecond))
	}
	return errors.New("processes are left that SIGKILL does not end, or that start ever new ones")
}
