package cli

import (
	"errors"
	"fmt"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/exit"
	"locbench/internal/profile"
	"locbench/internal/safe"
)

// selection is what the commands that work on several contenders were asked for.
type selection struct {
	names    []string // name or name:variant
	all      bool     // every contender in every variant
	defaults bool     // with all: only the first variant of each
	runtime  bench.Runtime
}

// choose resolves the selection. What nobody has named and cannot be built here is left out, and told why.
func (s selection) choose(env Env, dirs []string) ([]bench.Service, error) {
	switch {
	case s.all && len(s.names) > 0:
		return nil, exit.Usagef("--all and names: choose one")
	case !s.all && len(s.names) == 0:
		return nil, exit.Usagef("name contenders (see 'locbench services list'), or say --all")
	case s.defaults && !s.all:
		return nil, exit.Usagef("--defaults belongs to --all; a name without a variant means the default one")
	}
	var list []bench.Service
	if s.all {
		all, err := discover(dirs)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		for _, svc := range all {
			list = append(list, s.variants(env, svc)...)
		}
		return list, nil
	}
	var wanted []bench.Selection
	for _, name := range s.names {
		sel, ok := profile.ParseSelection(name)
		if !ok {
			return nil, exit.Usagef("%q is no contender; one is written name or name:variant", safe.Line(name, 200))
		}
		wanted = append(wanted, sel)
	}
	all, left, err := discoverFor(dirs, wanted)
	if err != nil {
		return nil, err
	}
	for _, text := range left {
		env.Warn(errors.New(text))
	}
	for _, sel := range wanted {
		svc, err := find(all, sel)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		same := func(o bench.Service) bool { return o.Name == svc.Name && o.Variant == svc.Variant }
		if !slices.ContainsFunc(list, same) {
			list = append(list, svc)
		}
	}
	return list, nil
}

// variants are those of svc that can be built here.
func (s selection) variants(env Env, svc bench.Service) (list []bench.Service) {
	names := []string{""}
	if !s.defaults && len(svc.Variants) > 0 {
		names = nil
		for _, v := range svc.Variants {
			names = append(names, v.Name)
		}
	}
	for _, name := range names {
		resolved, err := contender.Resolve(svc, name)
		if err == nil {
			err = buildable(resolved, s.runtime)
		}
		if err != nil {
			fmt.Fprintf(env.Stderr, "left out %s: %s\n", selected(resolved), safe.Line(err.Error(), 500))
			continue
		}
		list = append(list, resolved)
	}
	return list
}

// buildable says why --all leaves a resolved contender out; nil: it does not.
func buildable(svc bench.Service, rt bench.Runtime) error {
	if svc.Unverified != "" {
		return fmt.Errorf("unverified: %s", svc.Unverified)
	}
	if rt == bench.RuntimeProcess {
		_, _, err := contender.ProcessState(svc, contender.BuildOptions{})
		return err
	}
	if svc.Docker == nil && !svc.Builtin {
		return fmt.Errorf("its manifest has no `docker`")
	}
	return nil
}

// selected is how a resolved contender is named on the command line.
func selected(svc bench.Service) string {
	return bench.Selection{Contender: svc.Name, Variant: svc.Variant}.String()
}
