package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"locbench/internal/contender/docker"
	"locbench/internal/contender/launch"
	"locbench/internal/text/safe"
)

func newClean(env Env) *cobra.Command {
	var o launch.CleanOptions
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs have left: containers, networks, processes",
		Long: `Removes containers and networks by their labels and names, processes of contenders and builds by their
environment, and cgroups by their names with all that runs in them, where these say which locbench made them.
Nothing else is touched: no image, no volume, no index, no results.
What belongs to a locbench that still runs is kept, unless --all is given, and so is what belongs to one that cannot
be seen from here: on another machine, or in another PID namespace. What is kept is listed with the reason.`,
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
			cleaned, err := launch.Clean(ctx, engine, o)
			for _, r := range cleaned.Removed {
				fmt.Fprintln(env.Stdout, "removed", safe.Line(r, 300))
			}
			for _, k := range cleaned.Kept {
				fmt.Fprintln(env.Stdout, "kept", safe.Line(k, 500))
			}
			switch {
			case len(cleaned.Removed) > 0 || err != nil:
			case len(cleaned.Kept) > 0:
				fmt.Fprintln(env.Stdout, "nothing was removed")
			default:
				fmt.Fprintln(env.Stdout, "nothing was left")
			}
			if dockerErr != nil {
				fmt.Fprintf(env.Stderr, "containers were not looked at: %s\n", safe.Line(dockerErr.Error(), 500))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.Run, "run", "", "only what the run with this `ID` has left (see run.json)")
	cmd.Flags().BoolVar(&o.All, "all", false,
		"also what belongs to a locbench that still runs, or that cannot be seen from here")
	return cmd
}
