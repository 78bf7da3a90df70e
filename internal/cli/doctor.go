package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"locbench/internal/run/machine"
	"locbench/internal/run/profile"
)

func newDoctor(env Env) *cobra.Command {
	var o machine.DoctorOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this machine can do, what is missing, and the command that brings it",
		Long: `Looks at everything that a run may need: Docker and the limits that it can enforce, cgroups, CPUs, memory,
load, frequency governor, turbo, SMT, virtualisation, swap, heat, other containers, limits of open files and ports,
Elasticsearch, the Go toolchain. It starts and changes nothing.

Nothing of it is needed for 'locbench run', which makes do with what is there and says what that means.`,
		Example: `  locbench doctor
  locbench doctor --elastic http://127.0.0.1:9200
  locbench doctor --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Elasticsearch != "" {
				var err error
				if o.Elasticsearch, err = profile.StoreURL(o.Elasticsearch, env.Getenv); err != nil {
					return err
				}
			}
			findings := machine.Doctor(cmd.Context(), o)
			if asJSON {
				return writeJSON(env.Stdout, " ", findings)
			}
			for _, f := range findings {
				fmt.Fprintf(env.Stdout, "%-8s %-20s %s\n", f.Status, f.Name, f.Value)
				if f.Fix != "" {
					fmt.Fprintf(env.Stdout, "%29s → %s\n", "", f.Fix)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Elasticsearch, "elastic", "", "`URL` of an Elasticsearch to look at")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}
