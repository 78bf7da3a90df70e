package launch

import (
	"strings"

	"locbench/internal/cgroup"
)

// cleanGroups removes the groups that newSandbox has made, except those that keep returns true for.
func cleanGroups(keep func(what, owner string) bool) (removed []string, err error) {
	groups, err := cgroup.Tree{}.CleanLeft(func(name string) bool {
		id, ok := strings.CutPrefix(name, groupPrefix)
		owner, ours := instanceOwner(id)
		return ok && ours && !keep("cgroup "+name, owner)
	})
	for _, g := range groups {
		removed = append(removed, "cgroup "+g)
	}
	return removed, err
}

// cleanEmptyGroups removes those groups of dead owners in which nothing runs any more: a group does
// not tell its run.
func cleanEmptyGroups() {
	cgroup.Tree{}.RemoveEmpty(func(name string) bool {
		id, ok := strings.CutPrefix(name, groupPrefix)
		owner, ours := instanceOwner(id)
		if !ok || !ours {
			return false
		}
		state, _ := fateOf(owner)
		return state == dead
	})
}

// parent is the number of a process's parent, 0 where there is none to be seen.
func parent(pid int) int {
	s, err := readStat(pid)
	if err != nil {
		return 0
	}
	return s.parent
}
