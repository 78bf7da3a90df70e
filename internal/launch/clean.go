package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locbench/internal/docker"
)

// CleanOptions choose what Clean removes.
type CleanOptions struct {
	Run string // only what this run has left; "" for every run
	All bool   // also what belongs to a locbench that lives, or of which that is not known here
}

// Cleaned is what Clean has done, a line for each thing.
type Cleaned struct {
	Removed []string
	Kept    []string // with the reason
}

// Clean removes what killed runs have left: containers and networks of the engine (nil: none is
// asked) by their labels, processes of this machine by their environment, cgroups by their names.
// All of them tell which locbench made them; what names none is not touched. It goes on after a
// failure.
func Clean(ctx context.Context, engine *docker.Engine, o CleanOptions) (c Cleaned, err error) {
	keep := func(what, owner string) bool {
		state, why := fateOf(owner)
		if _, ours := parseOwner(owner); state == dead || o.All && ours {
			return false
		}
		if line := what + ": " + why; !slices.Contains(c.Kept, line) {
			c.Kept = append(c.Kept, line)
		}
		return true
	}
	if engine != nil {
		gone, e := engine.Clean(ctx, docker.CleanFilter{Run: o.Run, Keep: func(l docker.Left) bool { return keep(leftText(l), l.Owner) }})
		err = errors.Join(err, e)
		for _, l := range gone {
			c.Removed = append(c.Removed, leftText(l))
		}
	}
	gone, e := cleanProcesses(o.Run, keep)
	c.Removed, err = append(c.Removed, gone...), errors.Join(err, e)
	if o.Run != "" { // which a group does not tell
		cleanEmptyGroups()
		return c, err
	}
	gone, e = cleanGroups(keep)
	return Cleaned{append(c.Removed, gone...), c.Kept}, errors.Join(err, e)
}

func leftText(l docker.Left) string { return fmt.Sprintf("%s %s (run %s)", l.Kind, l.Name, l.Run) }
