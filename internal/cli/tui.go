package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"locbench/internal/exit"
	"locbench/internal/results"
	"locbench/internal/tui"
	"locbench/internal/tui/ui"
)

// tuiFlags are the options of locbench tui.
type tuiFlags struct {
	screen   screenFlags
	browse   bool
	services []string
}

func newTUI(env Env) *cobra.Command {
	var f tuiFlags
	cmd := &cobra.Command{
		Use:   "tui [RESULTS_DIR | -- RUN_FLAGS...]",
		Short: "Set a benchmark up, watch it live, browse and replay past ones: the dashboard",
		Long: `Without an argument the set-up screen opens: choose profile, contenders, limits, steps and store, see what is impossible
on this machine and how to bring it, start, and watch. What stands behind -- are options of 'locbench run' that the set-up begins with.

With a results folder, a run in progress is watched (whoever started it), and a finished one is shown at its end, to be replayed at
any speed. A folder of results folders is browsed.

The run lives in a process of its own: Ctrl-Z stops only the screen, and closing the terminal ends the run in order; finished steps
are kept. Press ? on any screen for its keys. Colours follow the terminal's background; NO_COLOR leaves them out.`,
		Example: `  locbench tui                                  # set up, start, watch
  locbench tui -- --profile locations --rounds 6
  locbench tui results/20261121-080000-quick    # watch or replay
  locbench tui --browse                         # past results
  locbench tui --ascii --theme light`,
		RunE: func(cmd *cobra.Command, words []string) error {
			dash := cmd.ArgsLenAtDash()
			var dir string
			var initial []string
			switch {
			case dash >= 0:
				initial, words = words[dash:], words[:dash]
			}
			if len(words) > 1 {
				return exit.Usagef("one results folder, not %d: %q", len(words), words)
			}
			if len(words) == 1 {
				dir = words[0]
			}
			if dir != "" && (len(initial) > 0 || f.browse) {
				return exit.Usagef("a results folder is shown as it is: it takes no --browse and no options of a run")
			}
			return dashboard(cmd.Context(), env, f, dir, initial)
		},
	}
	f.screen.add(cmd)
	cmd.Flags().BoolVar(&f.browse, "browse", false, "begin with the list of past results")
	cmd.Flags().StringSliceVar(&f.services, "services", nil, "`DIR` with more contenders; may be repeated")
	_ = cmd.MarkFlagDirname("services")
	return cmd
}

// dashboard is locbench tui.
func dashboard(ctx context.Context, env Env, f tuiFlags, dir string, initial []string) error {
	if !env.HasScreen() {
		return exit.Usagef("locbench tui needs a terminal for input and output; without one: locbench run --headless")
	}
	var roots []string
	if dir != "" {
		roots = append(roots, filepath.Dir(filepath.Clean(dir)))
	}
	opener := newOpener(env, roots...)
	screens := tui.Screens{Opener: opener, Source: opener, Roots: opener.Roots()}
	first, err := firstScreen(screens, opener, f, dir, initial)
	if err != nil {
		return err
	}
	o, err := f.screen.options(env, first)
	if err != nil {
		return err
	}
	err = tui.Run(ctx, o)
	return also(err, afterTUI(ctx, env, opener))
}

func firstScreen(screens tui.Screens, opener *opener, f tuiFlags, dir string, initial []string) (ui.Screen, error) {
	switch {
	case dir != "":
		return dirScreen(screens, opener, dir)
	case f.browse:
		return screens.Browse(), nil
	}
	return newSetup(withServices(initial, f.services), screens.SetUp())
}

// withServices puts the folders with contenders into the options that a set-up begins with.
func withServices(args, dirs []string) []string {
	for _, d := range dirs {
		args = append(args, "--services", d)
	}
	return args
}

// dirScreen shows what is in dir: a run in progress, a finished one, or a folder of such.
func dirScreen(screens tui.Screens, opener *opener, dir string) (ui.Screen, error) {
	if filepath.Base(dir) == results.RunFile {
		dir = filepath.Dir(dir)
	}
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
	running := results.Running(dir)
	if !running {
		return screens.Replay(dir), nil
	}
	session, err := opener.Watch(dir)
	if err != nil {
		return nil, err
	}
	return screens.Live(session, false), nil
}

// afterTUI ends what still runs, and tells on the normal screen what the runs of this dashboard have found. How they went was seen
// there; the exit code only says whether the dashboard itself was ended by a signal.
func afterTUI(ctx context.Context, env Env, opener *opener) error {
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
