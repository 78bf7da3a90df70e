package app

import (
	"regexp"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/exit"
	"locbench/internal/profile"
	"locbench/internal/results"
	"locbench/internal/secret"
)

// planResume reads the plan of a run that is to go on, with the little that may be said anew:
// addresses whose passwords are not on record, and where contenders outside the binary are.
func planResume(o RunOptions) (bench.Run, error) {
	run, err := resumable(o.Resume)
	if err != nil {
		return run, err
	}
	for _, r := range run.Profile.Requests {
		for name, value := range r.Header {
			if value == secret.Mask {
				return run, exit.Usagef("the header %s of request %q is not on record, since it is secret: the run cannot go on; begin it anew", name, r.Name)
			}
		}
	}
	if o.Elastic != "" {
		if !run.Profile.Store.Kind.Traits().ByURL {
			return run, exit.Usagef("this run was begun with the store %q: it takes no --elastic", run.Profile.Store.Kind)
		}
		if run.Profile.Store.URL, err = ServiceURL(o.Elastic); err != nil {
			return run, err
		}
	}
	if o.Target != "" {
		if run.Target == "" {
			return run, exit.Usagef("this run launches its contenders: it takes no --target")
		}
		if run.Target, err = ServiceURL(o.Target); err != nil {
			return run, err
		}
	}
	// A results folder may come from elsewhere. What it would build and run is for the user to
	// name.
	if len(run.Services) > 0 && len(o.Services) == 0 {
		return run, exit.Usagef("contenders of this run came from outside of locbench; name the folder again:  --services %s", strings.Join(run.Services, " --services "))
	}
	return run, nil
}

// resumable reads the results folder of a run. Every leg that is not complete runs again.
func resumable(dir string) (bench.Run, error) {
	run, _, err := results.Read(dir)
	if run.Schema == 0 {
		return run, exit.With(exit.Usage, err)
	}
	if run.Search != "" {
		return run, exit.Usagef("%s is a search for capacity, whose trials depend on each other: begin it anew with 'locbench capacity'", dir)
	}
	if !regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`).MatchString(run.ID) {
		return run, exit.Usagef("%s: %q is no id of a run", dir, run.ID)
	}
	if err := profile.Validate(run.Profile); err != nil && run.Target == "" {
		return run, exit.With(exit.Usage, err)
	}
	left := 0
	for i := range run.Legs {
		leg := run.Legs[i].Leg
		if !slices.Contains(run.Profile.Contenders, bench.Selection{Contender: leg.Contender, Variant: leg.Variant}) {
			return run, exit.Usagef("%s: leg %s is not of its profile", dir, leg)
		}
	}
	for _, group := range run.Groups() {
		if !slices.ContainsFunc(group, func(i int) bool { return run.Legs[i].State != bench.LegComplete }) {
			continue
		}
		for _, i := range group { // of those that take turns none is run again alone
			run.Legs[i].State = bench.LegPending
			left++
		}
	}
	if left == 0 {
		return run, exit.Usagef("nothing to resume: all %d legs in %s are complete", len(run.Legs), dir)
	}
	return run, nil
}
