package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/app/screens"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/console"
)

func newTUI(env Env, runF work[screens.DashboardOptions]) *cobra.Command {
	var f screens.DashboardOptions
	var services []string
	cmd := &cobra.Command{
		Use:   "tui [RESULTS_DIR | [PROFILE.yaml] -- RUN_FLAGS...]",
		Short: "Open the dashboard: set up, watch, browse and compare runs",
		Long: `Without an argument it opens the setup screen: choose profile, contenders, limits, steps and store, start, and
watch. A profile, and options of 'locbench run' after -- preset the fields.

With a results folder it shows that run, live if it is in progress. With a folder of results folders it lists them.

The run is a separate process: Ctrl-Z suspends only the screen. Closing the terminal stops the run gracefully; finished
steps are kept. Press ? on any screen for its keys. NO_COLOR disables colors.`,
		Example: `  locbench tui                                  # set up, start, watch
  locbench tui bench.yaml                       # the same with your profile
  locbench tui -- --profile locations --rounds 6
  locbench tui results/20261121-080000-quick    # watch a run, or see how it ended
  locbench tui --browse                         # past runs
  locbench tui --ascii --theme light`,
		RunE: func(cmd *cobra.Command, words []string) error {
			var initial []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				initial, words = words[dash:], words[:dash]
			}
			if len(words) > 1 {
				return console.Usagef("expected one results folder or profile, not %d: %q", len(words), words)
			}
			switch {
			case len(words) == 0:
			case profile.IsFile(words[0]):
				initial = append(words, initial...)
			default:
				f.Dir = words[0]
			}
			if f.Dir != "" && (len(initial) > 0 || f.Browse) {
				return console.Usagef("a results folder takes neither --browse nor run options")
			}
			for _, d := range services {
				initial = append(initial, "--services", d)
			}
			f.SetUp = func(o setup.Options) (ui.Page, error) { return newSetup(initial, o) }
			return runF(cmd.Context(), env, f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if text := afterDashes(err); text != "" {
			return console.Usagef("%w: an option of 'locbench run'; write it after --: locbench tui -- %s", err, text)
		}
		return cmd.Parent().FlagErrorFunc()(cmd, err)
	})
	bindScreen(cmd, &f.Options)
	cmd.Flags().BoolVar(&f.Browse, "browse", false, "start with the list of past runs")
	cmd.Flags().StringSliceVar(&services, "services", nil, "`DIR` of contender folders; repeatable")
	_ = cmd.MarkFlagDirname("services")
	return cmd
}

// afterDashes returns the option in an error about an unknown one, in the form of 'locbench run';
// "" if that does not have it.
func afterDashes(err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name, short := unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()
	run := &cobra.Command{}
	bindRun(run, &runFlags{})
	option := run.Flags().Lookup(name)
	if short != "" {
		option = run.Flags().ShorthandLookup(name)
	}
	switch {
	case option == nil:
		return ""
	case option.NoOptDefVal != "":
		return "--" + option.Name
	}
	value, _ := pflag.UnquoteUsage(option)
	return "--" + option.Name + " " + strings.ToUpper(value)
}

// bindScreen gives cmd the options for the appearance of the dashboard.
func bindScreen(cmd *cobra.Command, o *screens.Options) {
	fl := cmd.Flags()
	fl.BoolVar(&o.ASCII, "ascii", false, "draw with ASCII only (default without a UTF-8 locale)")
	fl.StringVar(&o.Theme, "theme", "", "dark or light (default: detected)")
	_ = cmd.RegisterFlagCompletionFunc("theme", fixed("dark", "light"))
}
