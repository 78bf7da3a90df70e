package launch

import (
	"strings"

	"locbench/internal/cgroup"
)

// groupOwner is the owner in the name of a group that newSandbox has made; ok is false for others.
func groupOwner(name string) (owner string, ok bool) {
	id, ok := strings.CutPrefix(name, groupPrefix)
	owner, ours := instanceOwner(id)
	return owner, ok && ours
}

// cleanGroups removes the groups that newSandbox has made, except those that keep returns true for.
func cleanGroups(keep func(what, owner string) bool) (removed []string, err error) {
	groups, err := cgroup.Tree{}.CleanLeft(func(name string) bool {
		owner, ours := groupOwner(name)
		return ours && !keep("cgroup "+name, owner)
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
		owner, ours := groupOwner(name)
		state, _ := fateOf(owner)
		return ours && state == dead
	})
}
