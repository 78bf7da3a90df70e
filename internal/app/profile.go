package app

import (
	"locbench/internal/bench"
	"locbench/internal/run/profile"
	"locbench/internal/text/console"
	"locbench/profiles"
)

// PlannedProfile returns the profile with the changes of the command line, valid and complete.
func PlannedProfile(o RunOptions) (p bench.Profile, err error) {
	if o.ProfileText != nil {
		p, err = profile.Parse(o.Profile, o.ProfileText)
	} else {
		p, err = profile.Load(o.Profile, profiles.FS)
	}
	if err != nil {
		return p, console.WithCode(console.ExitUsage, err)
	}
	return profile.Change(p, o.Changes.With("contenders", o.Contenders...), o.Getenv)
}
