package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
)

func newVersion(env Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  locbench version",
		Args:    args(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return printVersion(env) },
	}
}

// printVersion is also what --version does.
func printVersion(env Env) error {
	_, err := io.WriteString(env.Stdout, app.Built().String())
	return err
}
