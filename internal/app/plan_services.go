package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// serviceFolders returns the folders of contenders of a run, as whole paths.
func serviceFolders(o RunOptions, p bench.Profile) (all []string, err error) {
	named := o.Services
	if len(named) == 0 && p.Services != "" {
		named = []string{p.Services}
	}
	for _, d := range named {
		full, err := filepath.Abs(d)
		if err != nil {
			return nil, fmt.Errorf("--services: %w", err)
		}
		all = append(all, full)
	}
	return all, nil
}

// servicesOf returns the services of the plan's contenders. A target may be unknown to locbench.
// Invalid manifests of other contenders become warnings of the plan.
func servicesOf(run *bench.Run, dirs []string) (map[bench.Selection]bench.Service, error) {
	if len(dirs) == 0 {
		dirs = run.Services
	}
	var named []bench.Selection // those whose manifest is looked for in dirs
	for _, sel := range run.Profile.Contenders {
		if run.Profile.SettingsOf(sel).Dir == "" {
			named = append(named, sel)
		}
	}
	var apart []string // folders that the profile names may be in dirs too, such as a worktree
	for _, s := range run.Profile.Settings {
		apart = append(apart, s.Dir)
	}
	all, left, err := DiscoverFor(dirs, named, apart...)
	if err != nil {
		return nil, err
	}
	for _, text := range left {
		run.Warnings.Add(bench.Warning{Text: text})
	}
	found := map[bench.Selection]bench.Service{}
	for _, sel := range run.Profile.Contenders {
		address := run.TargetOf(sel)
		svc, err := findSet(all, run.Profile.SettingsOf(sel))
		if address != "" && err != nil {
			svc, err = bench.Service{Name: sel.Contender, Ready: bench.Ready{Path: "/", Timeout: 10 * time.Second}}, nil
		}
		if isA[contender.UnknownError](err) && run.Profile.SettingsOf(sel).Dir == "" {
			err = notFound(all, sel, dirs)
		}
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		svc.URL = address
		found[sel] = svc
	}
	return found, nil
}

// notFound returns the error about a contender that is neither bundled nor in the folders.
func notFound(all []bench.Service, sel bench.Selection, dirs []string) error {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	what := fmt.Sprintf("unknown contender %q", safe.Line(sel.Contender, 120))
	if near := strictyaml.Nearest(sel.Contender, names); near != "" {
		what += fmt.Sprintf("; did you mean `%s`?", near)
	}
	if file := profile.FileOf(sel.Contender); file != "" && sel.Variant == "" {
		return fmt.Errorf("%s; did you mean the profile %s?", what, file)
	}
	if len(dirs) > 0 {
		return fmt.Errorf("%s; it is not in %s, and not bundled (see 'locbench services list')", what,
			safe.Line(strings.Join(dirs, " or "), 1000))
	}
	return fmt.Errorf("%s; for a contender that is not bundled (see 'locbench services list'), name its folder: "+
		"`services: DIR` in the profile, or --services DIR", what)
}
