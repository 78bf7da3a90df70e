package cli

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locbench/internal/app"
	"locbench/internal/app/screens"
	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/profile"
	"locbench/internal/tui/setup"
)

// planSetup is the plan of "locbench run args…" with base for the profile that is named there: what
// the real flags make of it. It reads no file.
func planSetup(base bench.Profile, args []string) (bench.Profile, error) {
	var p bench.Profile
	err := readRun(args, flagError, func(f *runFlags, flags *pflag.FlagSet, contenders []string) (err error) {
		p, err = app.ChangedProfile(base, f.options(flags, contenders))
		return err
	})
	return p, err
}

// readRun reads args as options of locbench run and gives them to use; mistakes in them go through
// wrong.
func readRun(args []string, wrong func(error) error, use func(*runFlags, *pflag.FlagSet, []string) error) error {
	var f runFlags
	cmd := &cobra.Command{Use: "run", SilenceErrors: true, SilenceUsage: true}
	cmd.RunE = func(cmd *cobra.Command, contenders []string) error { return use(&f, cmd.Flags(), contenders) }
	bindRun(cmd, &f)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return wrong(err) })
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(append([]string{}, args...)) // nil would mean those of this process
	return cmd.Execute()
}

// notChosen are options of locbench run that say how it is shown, or that leave nothing to set up.
var notChosen = []string{
	"headless", "json", "quiet", "controlled", "resume", "help", "ascii", "mouse", "theme", "profile",
}

// chosen is the set-up that the command line has begun: flags with a field on the screen become its
// values, others of the plan are kept as they are.
func chosen(flags *pflag.FlagSet, contenders []string) (setup.Choice, error) {
	c := setup.Choice{Profile: "quick", Set: map[string]string{}}
	if f := flags.Lookup("profile"); f != nil {
		c.Profile = f.Value.String()
	}
	for _, name := range contenders {
		sel, ok := profile.ParseSelection(name)
		if !ok {
			return c, console.Usagef("%q is no contender; one is written name or name:variant (see 'locbench services list')", name)
		}
		c.Contenders = append(c.Contenders, sel)
	}
	flags.Visit(func(f *pflag.Flag) {
		list, several := f.Value.(pflag.SliceValue)
		known := slices.Contains(setup.Flags(), f.Name) // it has a field on the screen
		switch {
		case slices.Contains(notChosen, f.Name):
		case known && several:
			values := list.GetSlice()
			for i := range values {
				values[i] = strings.TrimSpace(values[i]) // or it would get quotes
			}
			c.Set[f.Name] = joinCSV(values)
		case known:
			c.Set[f.Name] = f.Value.String()
		case several:
			for _, v := range list.GetSlice() {
				c.Extra = append(c.Extra, "--"+f.Name+"="+joinCSV([]string{v}))
			}
		default:
			c.Extra = append(c.Extra, "--"+f.Name+"="+f.Value.String())
		}
	})
	return c, nil
}

// joinCSV writes a list as the flags that take several values read it.
func joinCSV(values []string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a buffer does not fail
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// setupChoice is the set-up that args, options of locbench run, begin; and the folders with
// contenders among them.
func setupChoice(args []string) (c setup.Choice, services []string, err error) {
	wrong := func(err error) error { return console.Usagef("%w (see 'locbench run --help')", flagError(err)) }
	err = readRun(args, wrong, func(f *runFlags, flags *pflag.FlagSet, contenders []string) (err error) {
		services = f.Services
		c, err = chosen(flags, contenders)
		return err
	})
	return c, services, err
}

// newSetup is the set-up screen of this machine, begun with args, options of locbench run. o says
// what starts a run and what opens the past ones.
func newSetup(args []string, o setup.Options) (*setup.Screen, error) {
	choice, services, err := setupChoice(args)
	if err != nil {
		return nil, err
	}
	o.Site, o.Plan, o.Initial = screens.Site{Services: services}, planSetup, choice
	return setup.New(o), nil
}
