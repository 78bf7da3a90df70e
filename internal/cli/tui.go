package cli

import (
	"context"
	"errors"
	"io"
	"slices"
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

// ofScreen are options of 'locbench run' that concern only what it prints.
var ofScreen = []string{"headless", "json", "quiet", "resume", "help", "ascii", "theme"}

// setupChoice returns the choice that args, options of 'locbench run', preset: options of the table
// are fields, other options are passed on. services are the values of --services.
func setupChoice(args []string) (c setup.Choice, services []string, err error) {
	var cmd *cobra.Command
	cmd = newRun(Env{}, func(_ context.Context, _ Env, f runFlags) error {
		c = setup.Choice{Set: f.Changes, Extra: extra(cmd.Flags())}
		if f.ProfileNamed {
			c.Profile = f.Profile
		}
		services = f.Services
		if given := f.Request.Given(); len(given) > 0 {
			return console.Usagef("%s: the setup screen has the requests of profiles; use 'locbench run' for a single request",
				strings.Join(given, ", "))
		}
		for _, name := range f.Contenders {
			sel, err := profile.ParseSelection(name)
			if err != nil {
				return console.WithCode(console.ExitUsage, err)
			}
			c.Contenders = append(c.Contenders, sel)
		}
		return nil
	})
	root := &cobra.Command{Use: "locbench"}
	asRoot(root)
	root.AddCommand(cmd)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{"run"}, args...))
	return c, services, root.Execute()
}

// extra returns the given options that are not in the table, as arguments.
func extra(flags *pflag.FlagSet) (args []string) {
	flags.Visit(func(f *pflag.Flag) {
		_, isOption := f.Value.(optionFlag)
		if !isOption && f.Name != "profile" && !slices.Contains(ofScreen, f.Name) {
			args = append(args, written(f)...)
		}
	})
	return args
}

// newSetup returns the setup page of this machine, with args, options of 'locbench run', as
// presets. o has the functions that start a run and open past ones.
func newSetup(args []string, o setup.Options) (ui.Page, error) {
	choice, services, err := setupChoice(args)
	if err != nil {
		return nil, err
	}
	o.Site, o.Initial = screens.Site{Services: services}, choice
	return setup.New(o), nil
}
