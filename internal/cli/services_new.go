package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"locbench/internal/app"
	"locbench/internal/contender"
	"locbench/internal/exit"
)

func newServicesNew(env Env, dirs *[]string) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "new NAME --from TEMPLATE [DIR]",
		Short: "Begin a contender of your own as a copy of another",
		Long: `Copies the folder of the contender TEMPLATE to DIR/NAME (DIR is the working folder by default), with its name replaced in
manifest, Dockerfile and sources, ready to build and run. What exists is never changed.`,
		Example: `  locbench services new go-mine --from go-nethttp ./my-contenders
  locbench services new rs-mine --from rs-axum`,
		Args: args(cobra.RangeArgs(1, 2)),
		RunE: func(_ *cobra.Command, words []string) error {
			parent := "."
			if len(words) == 2 {
				parent = words[1]
			}
			return newService(env, *dirs, words[0], from, parent)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the `contender` to copy (see 'locbench services list')")
	_ = cmd.RegisterFlagCompletionFunc("from", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return completeContenders(*dirs), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func newService(env Env, dirs []string, name, from, parent string) error {
	if from == "" {
		return exit.Usagef("say with --from which contender to copy (see 'locbench services list')")
	}
	all, err := app.Discover(dirs)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	template, err := contender.Find(all, from)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if other, err := contender.Find(all, name); err == nil {
		return exit.Usagef("there is a contender %s already, in %s: choose another name", name, other.Dir)
	}
	svc, err := contender.Scaffold(template, name, parent)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	dir := filepath.Join(parent, name)
	fmt.Fprintf(env.Stdout, "%s\n", dir)
	fmt.Fprintf(env.Stderr, `%s is a copy of %s. Next:
  1. edit title, framework, version and endpoints in %s
  2. locbench services verify %s --services %s
  3. locbench run %s --services %s
`, svc.Name, template.Name, filepath.Join(dir, contender.ManifestName), name, dir, name, dir)
	return nil
}
