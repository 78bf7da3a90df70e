package cli

import (
	"context"
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
