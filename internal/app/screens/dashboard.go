package screens

import (
	"context"
	"os"
	"path/filepath"

	"locbench/internal/console"
	"locbench/internal/exit"
	"locbench/internal/results"
	"locbench/internal/tui"
	"locbench/internal/tui/setup"
	"locbench/internal/tui/ui"
)

// DashboardOptions say what the dashboard begins with.
type DashboardOptions struct {
	Options
	Dir    string // results folder, or folder of such; "": none
	Browse bool   // past results
	SetUp  func(setup.Options) (ui.Screen, error)
}

// Dashboard is locbench tui.
func Dashboard(ctx context.Context, env console.Env, d DashboardOptions) error {
	if !env.HasScreen() {
		return exit.Usagef("locbench tui needs a terminal for input and output; without one: locbench run --headless")
	}
	var roots []string
	if d.Dir != "" {
		roots = append(roots, filepath.Dir(filepath.Clean(d.Dir)))
	}
	opener := newOpener(env, roots...)
	screens := tui.Screens{Opener: opener, Source: opener, Roots: opener.Roots()}
	var first ui.Screen
	var err error
	switch {
	case d.Dir != "":
		first, err = dirScreen(screens, opener, d.Dir)
	case d.Browse:
		first = screens.Browse()
	default:
		first, err = d.SetUp(screens.SetUp())
	}
	if err != nil {
		return err
	}
	o, err := d.drawn(env, first)
	if err != nil {
		return err
	}
	err = tui.Run(ctx, o)
	return also(err, afterTUI(ctx, env, opener))
}

// dirScreen shows what is in dir: a run in progress, a finished one, or a folder of such.
func dirScreen(screens tui.Screens, opener *opener, dir string) (ui.Screen, error) {
	dir = results.Folder(dir)
	st, err := os.Stat(dir)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	if !st.IsDir() {
		return nil, exit.Usagef("%s is no results folder", dir)
	}
	if !results.Has(dir, results.RunFile) {
		opener.archive = newArchive(opener.env, dir)
		screens.Source, screens.Roots = opener, opener.Roots()
		return screens.Browse(), nil
	}
	if !results.Running(dir) {
		return screens.Replay(dir), nil
	}
	session, err := opener.Watch(dir)
	if err != nil {
		return nil, err
	}
	return screens.Live(session, false), nil
}

// afterTUI ends what still runs, and tells on the normal screen what the runs of this dashboard
// have found. How they went was seen there; the exit code only says whether the dashboard itself
// was ended by a signal.
func afterTUI(ctx context.Context, env console.Env, opener *opener) error {
	var last error
	for _, s := range opener.started() {
		if !s.Steered() {
			s.Close()
			continue
		}
		code, talk := s.End(ctx)
		s.Close()
		if err := afterwards(env, s.Dir(), code, talk); ctx.Err() != nil {
			last = err
		}
	}
	return last
}
