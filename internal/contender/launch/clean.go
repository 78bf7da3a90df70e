package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
)

// CleanOptions choose what Clean removes.
type CleanOptions struct {
	Run    string // only what this run has left; "": of every run
	All    bool   // also what belongs to a locbench that runs, or may run
	NotOwn bool   // neither remove nor report what this process has made
}

// Cleaned is what Clean has done, with a line for each object.
type Cleaned struct {
	Removed []string
	Kept    []string // with the reason

	alive []string // objects of a locbench that runs, removed all the same
}

// Clean removes what killed runs have left: containers, networks and volumes of the engine (may be
// nil) by names and labels, processes of this machine by their environment, their folders, and
// cgroups by their names. It leaves what does not name the locbench that made it, and continues
// after a failure.
func Clean(ctx context.Context, engine *docker.Engine, o CleanOptions) (c Cleaned, err error) {
	c, err = cleanIn(ctx, cgroup.Tree{}, engine, o)
	dir, e := folders()
	if e == nil {
		gone, e := cleanFolders(dir, o.Run, c.keeping(o))
		c.Removed, err = append(c.Removed, gone...), errors.Join(err, e)
	}
	return c.named(), err
}

// named says of what was removed whether its locbench was running.
func (c Cleaned) named() Cleaned {
	for i, what := range c.Removed {
		if slices.Contains(c.alive, what) {
			c.Removed[i] += " (its locbench is running)"
		}
	}
	c.alive = nil
	return c
}

func cleanIn(ctx context.Context, tree cgroup.Tree, engine *docker.Engine, o CleanOptions) (c Cleaned, err error) {
	keep := c.keeping(o)
	if engine != nil {
		gone, e := engine.Clean(ctx, o.Run, func(l docker.Left) bool {
			return c.keep(o, leftText(l), l.Owner, engine.Near())
		})
		err = errors.Join(err, e)
		for _, l := range gone {
			c.Removed = append(c.Removed, leftText(l))
		}
	}
	gone, e := cleanProcesses(o.Run, keep)
	c.Removed, err = append(c.Removed, gone...), errors.Join(err, e)
	groups, e := tree.CleanLeft(func(name string) bool {
		owner, of, ours := parseGroup(name)
		return ours && (o.Run == "" || of == groupRun(o.Run)) && !keep("cgroup "+name, owner)
	})
	for _, g := range groups {
		c.Removed = append(c.Removed, "cgroup "+g)
	}
	return c.named(), errors.Join(err, e)
}

// keep reports whether an object of that owner is kept, and records why. near says that it is on
// this machine.
func (c *Cleaned) keep(o CleanOptions, what, of string, near bool) bool {
	if o.NotOwn && of == owner() {
		return true
	}
	state, why := stateOf(of, near)
	if _, ours := parseOwner(of); state == dead || o.All && ours {
		if state == alive {
			c.alive = append(c.alive, what)
		}
		return false
	}
	if line := what + ": " + why; !slices.Contains(c.Kept, line) {
		c.Kept = append(c.Kept, line)
	}
	return true
}

// keeping returns keep for objects of this machine.
func (c *Cleaned) keeping(o CleanOptions) func(what, owner string) bool {
	return func(what, owner string) bool { return c.keep(o, what, owner, true) }
}

func leftText(l docker.Left) string { return fmt.Sprintf("%s %s %s", l.Kind, l.Name, ofRun(l.Run)) }

func ofRun(run string) string {
	if run == "" {
		return "(of no run)"
	}
	return "(run " + run + ")"
}
