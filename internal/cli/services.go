package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locbench/internal/app"
	"locbench/internal/app/contenders"
	"locbench/internal/contender"
	"locbench/internal/exit"
	"locbench/internal/safe"
)

func newServices(env Env) *cobra.Command {
	var dirs []string
	cmd := &cobra.Command{
		Use:   "services",
		Short: "List, show, validate, build, verify and begin contenders",
		Long: `A contender is a folder with a service.yaml, a Dockerfile and sources: one implementation of the locations service,
often in several variants. Adding one needs no Go: see services/go-nethttp and 'locbench services show go-nethttp'.`,
		Example: `  locbench services list
  locbench services show go-nethttp
  locbench services validate ./my-contenders
  locbench services build go-nethttp:release`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringSliceVar(&dirs, "services", nil, "`DIR` with more contenders; may be repeated")
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return completeContenders(dirs), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the contenders and their variants",
			Example: "  locbench services list --services ./my-contenders",
			Args:    args(cobra.NoArgs),
			RunE:    func(*cobra.Command, []string) error { return listServices(env, dirs) },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Print what a contender's manifest says",
			Example:           "  locbench services show go-nethttp",
			Args:              args(cobra.ExactArgs(1)),
			ValidArgsFunction: complete,
			RunE:              func(_ *cobra.Command, names []string) error { return showService(env, dirs, names[0]) },
		},
		&cobra.Command{
			Use: "validate DIR...", Short: "Tell every mistake in manifests, with its line and what would be right",
			Example: "  locbench services validate ./my-contenders",
			Args:    args(cobra.MinimumNArgs(1)),
			RunE: func(_ *cobra.Command, folders []string) error {
				var sources []contender.Source
				for _, d := range folders {
					sources = append(sources, contender.Folder(d))
				}
				found, err := contender.Discover(sources...)
				for _, s := range found {
					fmt.Fprintf(env.Stdout, "%s: ok: %s, %s %s\n", s.Dir, s.Name, s.Framework, s.Version)
				}
				return exit.With(exit.Usage, err)
			},
		},
		newServicesBuild(env, &dirs, complete),
		newServicesVerify(env, &dirs, complete),
		newServicesNew(env, &dirs),
	)
	return cmd
}

func listServices(env Env, dirs []string) error {
	all, err := app.Discover(dirs)
	known, knownErr := contenders.KnownStates()
	if knownErr != nil {
		env.Warn(knownErr)
	}
	tw := tabwriter.NewWriter(env.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tLANGUAGE\tFRAMEWORK\tENDPOINTS\tVERIFIED\tVARIANTS\tTAGS")
	for _, s := range all {
		variants := make([]string, len(s.Variants))
		for i, v := range s.Variants {
			variants[i] = v.Name
		}
		note := strings.Join(s.Tags, " ")
		if s.Unverified != "" {
			note += " UNVERIFIED"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s %s\t%d\t%s\t%s\t%s\n", s.Name, s.Language, s.Framework, s.Version, len(s.Endpoints), contenders.VerifiedText(s, known), strings.Join(variants, " "), note)
	}
	return errors.Join(tw.Flush(), exit.With(exit.Usage, err))
}

func showService(env Env, dirs []string, name string) error {
	all, err := app.Discover(dirs)
	if err != nil {
		fmt.Fprintf(env.Stderr, "warning: %s\n", safe.Line(err.Error(), 2000))
	}
	svc, err := contender.Find(all, name)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	text, err := fs.ReadFile(svc.Files, contender.ManifestName)
	if err != nil {
		return fmt.Errorf("read the manifest of %s: %w", svc.Name, err)
	}
	fmt.Fprintf(env.Stdout, "# %s\n", svc.Dir)
	_, err = env.Stdout.Write(text)
	return err
}

func completeContenders(dirs []string) []string {
	all, _ := app.Discover(dirs)
	var names []string
	for _, s := range all {
		names = append(names, s.Name+"\t"+s.Framework)
		for _, v := range s.Variants {
			names = append(names, s.Name+":"+v.Name+"\t"+v.Title)
		}
	}
	return names
}
