package contenders

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// choose returns the contenders to build. With All it skips those that cannot be built here, and
// reports why.
func (o BuildOptions) choose(env console.Env) ([]bench.Service, error) {
	switch {
	case o.All && len(o.Names) > 0:
		return nil, console.Usagef("use either --all or names")
	case !o.All && len(o.Names) == 0:
		return nil, console.Usagef("name contenders (see 'locbench services list') or use --all")
	case o.Defaults && !o.All:
		return nil, console.Usagef("--defaults needs --all; a name alone is the default variant")
	case !o.All:
		return named(env, o.Dirs, o.Names)
	}
	all, err := app.Discover(o.Dirs)
	if err != nil {
		return nil, console.WithCode(console.ExitUsage, err)
	}
	var list []bench.Service
	for _, svc := range all {
		list = append(list, o.variants(env, svc)...)
	}
	return list, nil
}

// named returns the contenders with these names, each NAME or NAME:VARIANT, also those in dirs.
func named(env console.Env, dirs, names []string) (list []bench.Service, err error) {
	var chosen []bench.Selection
	for _, name := range names {
		sel, err := profile.ParseSelection(name)
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		chosen = append(chosen, sel)
	}
	all, left, err := app.DiscoverFor(dirs, chosen)
	if err != nil {
		return nil, err
	}
	for _, text := range left {
		env.Warn(errors.New(text))
	}
	for _, sel := range chosen {
		svc, err := app.Find(all, sel)
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		same := func(o bench.Service) bool { return o.Name == svc.Name && o.Variant == svc.Variant }
		if !slices.ContainsFunc(list, same) {
			list = append(list, svc)
		}
	}
	return list, nil
}

// variants returns the variants of svc that can be built here.
func (o BuildOptions) variants(env console.Env, svc bench.Service) (list []bench.Service) {
	all := contender.Resolved(svc)
	if o.Defaults {
		all = all[:1]
	}
	for _, resolved := range all {
		if err := buildable(resolved, o.Runtime); err != nil {
			fmt.Fprintf(env.Stderr, "skipped %s: %s\n", selected(resolved), safe.Line(err.Error(), 500))
			continue
		}
		list = append(list, resolved)
	}
	return list
}

// buildable returns the reason why --all skips a resolved contender; nil if it does not.
func buildable(svc bench.Service, rt bench.Runtime) error {
	if svc.Unverified != "" {
		return fmt.Errorf("unverified: %s", svc.Unverified)
	}
	return platform.Buildable(rt, svc)
}

// selected returns the name of a resolved contender on the command line.
func selected(svc bench.Service) string {
	return bench.Selection{Contender: svc.Name, Variant: svc.Variant}.String()
}
