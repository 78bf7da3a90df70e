package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
)

func newVersion(env Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  locbench version",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(env.Stdout, "locbench %s %s %s/%s\n",
				app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
