package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// optionFlag is an option of a run as a flag. Planning the run reads its value.
type optionFlag struct {
	option *profile.Option
	given  profile.Changes
}

func (f optionFlag) String() string { return strings.Join(f.given[f.option.Name], ",") }
func (f optionFlag) Type() string   { return f.option.Type }

func (f optionFlag) Set(text string) error {
	all := f.given[f.option.Name]
	switch {
	case f.Type() == "stringSlice" && len(all) > 0:
		all[0] += "," + text
	case f.Type() == profile.Several || len(all) == 0:
		all = append(all, text)
	default: // the last one counts
		all[0] = text
	}
	f.given[f.option.Name] = all
	return nil
}

// bindOptions gives cmd flags for the options of a run that include accepts; values go into
// o.Changes.
func bindOptions(cmd *cobra.Command, o *app.RunOptions, include func(profile.Option) bool) {
	if o.Changes == nil {
		o.Changes = profile.Changes{}
	}
	options := profile.Options()
	for i := range options {
		option := &options[i]
		if option.Usage == "" || !include(*option) {
			continue
		}
		flag := cmd.Flags().VarPF(optionFlag{option, o.Changes}, option.Name, "", option.Usage)
		flag.DefValue = option.Default
		if option.Type == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// completeOptions registers what a shell completes as the values of a run's options. cobra never
// forgets such a flag, so commands that only make plans, as for the setup screen, do without.
func completeOptions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		f, ok := flag.Value.(optionFlag)
		if !ok {
			return
		}
		complete := cobra.CompletionFunc(cobra.NoFileCompletions)
		switch {
		case f.option.Folder:
			complete = cobra.FixedCompletions(f.option.Values, cobra.ShellCompDirectiveDefault)
		case f.option.Values != nil:
			complete = fixed(f.option.Values...)
		case f.option.Name == "targets":
			return // files
		}
		_ = cmd.RegisterFlagCompletionFunc(flag.Name, complete)
	})
	for _, sub := range cmd.Commands() {
		completeOptions(sub)
	}
}

// bindPlace gives cmd the options for the profile and for where it runs.
func bindPlace(cmd *cobra.Command, o *app.RunOptions) {
	fl := cmd.Flags()
	bindSite(cmd, o)
	fl.StringVarP(&o.Profile, "profile", "p", "quick",
		"bundled profile `NAME` or YAML file (see 'locbench profiles list')")
	fl.BoolVar(&o.Accept, "accept-failed-checks", false,
		"compare contenders even if checks failed; marked in every output")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
}

// bindSite gives cmd the options for where contenders run and where they are found.
func bindSite(cmd *cobra.Command, o *app.RunOptions) {
	fl := cmd.Flags()
	bindOptions(cmd, o, func(option profile.Option) bool { return option.Group == profile.OfAll })
	fl.StringVar(&o.CACert, "cacert", "",
		"PEM `FILE` of additional CA certificates, for https targets")
	fl.BoolVar(&o.Insecure, "insecure", false, "skip certificate checks of targets; recorded")
	fl.StringSliceVar(&o.Services, "services", nil,
		"`DIR` of contender folders (each with a service.yaml); repeatable")
	_ = cmd.MarkFlagDirname("services")
	bindAllowed(cmd, &o.AllowFiles)
}

// bindAllowed gives cmd the option for files outside of the folder of a profile or suite.
func bindAllowed(cmd *cobra.Command, folders *[]string) {
	cmd.Flags().StringSliceVar(folders, "allow-files", nil,
		"`DIR` with files that a profile or suite may name, in addition to its own folder; repeatable")
	_ = cmd.MarkFlagDirname("allow-files")
}

// profileFirst returns the words after the profile, which may be the first of them: a YAML file, as
// 'locbench try' has it.
func profileFirst(fl *pflag.FlagSet, words []string) ([]string, error) {
	if len(words) == 0 || !profile.IsFile(words[0]) {
		return words, nil
	}
	if fl.Changed("profile") {
		return nil, console.Usagef("two profiles: %s and --profile %s; write one", safe.Line(words[0], 300),
			safe.Line(fl.Lookup("profile").Value.String(), 300))
	}
	return words[1:], fl.Set("profile", words[0])
}

// contenderOf is profileFirst for commands of at most one contender.
func contenderOf(cmd *cobra.Command, words []string) ([]string, error) {
	words, err := profileFirst(cmd.Flags(), words)
	if len(words) > 1 {
		return nil, console.Usagef("expected one contender, not %d: %s", len(words), safe.Line(strings.Join(words, " "), 300))
	}
	return words, err
}

// forContenders returns o with these contenders.
func forContenders(o app.RunOptions, fl *pflag.FlagSet, contenders []string) app.RunOptions {
	o.Contenders, o.ProfileNamed = contenders, fl.Changed("profile")
	return o
}

func fixed(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}
