package cli

import (
	"github.com/spf13/cobra"

	"locbench/internal/app/screens"
	"locbench/internal/show/tui/setup"
	"locbench/internal/show/tui/ui"
	"locbench/internal/text/console"
)

func newTUI(env Env) *cobra.Command {
	var f screens.DashboardOptions
	var services []string
	cmd := &cobra.Command{
		Use:   "tui [RESULTS_DIR | -- RUN_FLAGS...]",
		Short: "Set a benchmark up, watch it live, browse past ones: the dashboard",
		Long: `Without an argument the set-up screen opens: choose profile, contenders, limits, steps and store, see what is
impossible on this machine and how to bring it, start, and watch. After -- stand options of 'locbench run' that the
set-up begins with.

With a results folder, a run in progress is watched (whoever started it), and a finished one is shown as it ended. A
folder of results folders is browsed.

The run lives in a process of its own: Ctrl-Z stops only the screen, and closing the terminal ends the run in order;
finished steps are kept. Press ? on any screen for its keys. Colours follow the terminal's background; NO_COLOR leaves
them out.`,
		Example: `  locbench tui                                  # set up, start, watch
  locbench tui -- --profile locations --rounds 6
  locbench tui results/20261121-080000-quick    # watch, or see how it ended
  locbench tui --browse                         # past results
  locbench tui --ascii --theme light`,
		RunE: func(cmd *cobra.Command, words []string) error {
			var initial []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				initial, words = words[dash:], words[:dash]
			}
			if len(words) > 1 {
				return console.Usagef("one results folder, not %d: %q", len(words), words)
			}
			if len(words) == 1 {
				f.Dir = words[0]
			}
			if f.Dir != "" && (len(initial) > 0 || f.Browse) {
				return console.Usagef("a results folder is shown as it is: it takes no --browse and no options of a run")
			}
			for _, d := range services {
				initial = append(initial, "--services", d)
			}
			f.SetUp = func(o setup.Options) (ui.Screen, error) { return newSetup(initial, o) }
			return screens.Dashboard(cmd.Context(), env, f)
		},
	}
	bindScreen(cmd, &f.Options)
	cmd.Flags().BoolVar(&f.Browse, "browse", false, "begin with the list of past results")
	cmd.Flags().StringSliceVar(&services, "services", nil, "`DIR` with more contenders; may be repeated")
	_ = cmd.MarkFlagDirname("services")
	return cmd
}

// bindScreen gives cmd the options that say how the dashboard looks.
func bindScreen(cmd *cobra.Command, o *screens.Options) {
	fl := cmd.Flags()
	fl.BoolVar(&o.ASCII, "ascii", false, "draw with ASCII alone (default where the locale is not UTF-8)")
	fl.StringVar(&o.Theme, "theme", "", "dark or light (default: the terminal is asked)")
	fl.BoolVar(&o.Mouse, "mouse", true, "take clicks and the wheel; with --mouse=false the terminal selects text as usual")
	_ = cmd.RegisterFlagCompletionFunc("theme", fixed("dark", "light"))
}
