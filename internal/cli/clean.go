package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/text/safe"
)

func newClean(env Env) *cobra.Command {
	var o launch.CleanOptions
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove containers, networks, volumes and processes of killed runs",
		Long: `Removes containers, networks and volumes (found by label and name), processes of contenders and builds (by environment),
their working directories, and cgroups (by name) that a killed locbench left behind. Images, other volumes, indices and results are
never touched.

What belongs to a running locbench is kept, and so is what cannot be seen from here (another machine or PID namespace):
clean lists it with the reason. --all removes it too.`,
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
				fmt.Fprintln(env.Stdout, "nothing to remove")
			}
			if dockerErr != nil {
				fmt.Fprintf(env.Stderr, "containers not checked: %s\n", safe.Line(dockerErr.Error(), 500))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.Run, "run", "", "only leftovers of run `ID` (see run.json)")
	cmd.Flags().BoolVar(&o.All, "all", false,
		"also leftovers of a running locbench, or one that cannot be seen from here")
	return cmd
}
