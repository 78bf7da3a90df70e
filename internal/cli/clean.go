package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"locbench/internal/docker"
	"locbench/internal/launch"
	"locbench/internal/safe"
)

func newClean(env Env) *cobra.Command {
	var o launch.CleanOptions
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs have left: containers, networks, processes",
		Long: `Removes containers and networks that carry the label locbench.run, processes that carry LOCBENCH_RUN in their
environment, and the cgroups of the latter. Nothing else is touched: no image, no volume, no index, no results.
What belongs to a locbench that still runs is kept, unless --all is given.`,
		Example: `  locbench clean
  locbench clean --run 20261121-080000-1a2b
  locbench clean --all`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			engine, dockerErr := docker.Connect(ctx)
			if dockerErr == nil {
				defer engine.Close()
			}
			removed, err := launch.Clean(ctx, engine, o)
			for _, r := range removed {
				fmt.Fprintln(env.Stdout, "removed", safe.Line(r, 300))
			}
			if len(removed) == 0 && err == nil {
				fmt.Fprintln(env.Stdout, "nothing was left")
			}
			if dockerErr != nil {
				fmt.Fprintf(env.Stderr, "containers were not looked at: %s\n", safe.Line(dockerErr.Error(), 500))
			}
			return errors.Join(err)
		},
	}
	cmd.Flags().StringVar(&o.Run, "run", "", "only what the run with this `ID` has left (see run.json)")
	cmd.Flags().BoolVar(&o.All, "all", false, "also what belongs to a locbench that still runs, or to one on another machine")
	return cmd
}
