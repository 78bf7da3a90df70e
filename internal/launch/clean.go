package launch

import (
	"context"
	"errors"
	"fmt"

	"locbench/internal/docker"
)

// CleanOptions choose what Clean removes.
type CleanOptions struct {
	Run string // only what this run has left; "" for every run
	All bool   // also what belongs to a locbench that lives still, or to one on another machine
}

// Clean removes what killed runs have left: containers and networks of the engine (nil: none is asked) by label, processes of
// this machine by their environment, cgroups by their name. It returns a line for each thing, and goes on after a failure.
func Clean(ctx context.Context, engine *docker.Engine, o CleanOptions) (removed []string, err error) {
	keep := func(owner string) bool { return !o.All && owner != "" && alive(owner) }
	if engine != nil {
		gone, e := engine.Clean(ctx, docker.CleanFilter{Run: o.Run, Keep: func(l docker.Left) bool { return keep(l.Owner) }})
		err = errors.Join(err, e)
		for _, l := range gone {
			removed = append(removed, fmt.Sprintf("%s %s (run %s)", l.Kind, l.Name, l.Run))
		}
	}
	gone, e := cleanProcesses(o.Run, keep)
	return append(removed, gone...), errors.Join(err, e)
}
