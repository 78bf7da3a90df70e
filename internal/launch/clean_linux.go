package launch

import "locbench/internal/cgroup"

// cleanGroups kills what runs in the groups that newSandbox has made for a run ("": for every one)
// and removes them, except those that keep returns true for. Of what may be the run's, since it does
// not tell, it removes only what nothing runs in.
func cleanGroups(tree cgroup.Tree, run string, keep func(what, owner string) bool) (c Cleaned, err error) {
	groups, err := tree.CleanLeft(func(name string) bool {
		owner, of, told, ours := parseGroup(name)
		return ours && (run == "" || told && of == groupRun(run)) && !keep("cgroup "+name, owner)
	})
	for _, g := range groups {
		c.Removed = append(c.Removed, "cgroup "+g)
	}
	if run == "" {
		return c, err
	}
	empty, busy := tree.RemoveEmpty(func(name string) bool {
		owner, _, told, ours := parseGroup(name)
		state, _ := fateOf(owner, true)
		return ours && !told && state == dead
	})
	for _, g := range empty {
		c.Removed = append(c.Removed, "cgroup "+g+", which was empty")
	}
	for _, g := range busy {
		const why = "processes run in it, of which run it does not say; \"locbench clean\" ends them"
		c.Kept = append(c.Kept, "cgroup "+g+": "+why)
	}
	return c, err
}
