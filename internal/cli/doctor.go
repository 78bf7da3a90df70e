package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/fit"
)

func newDoctor(env Env) *cobra.Command {
	var address string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and show how to fix what is missing",
		Long: `Checks what a run may use: Docker and its limits, cgroups, CPUs, memory, load, CPU governor, turbo, SMT, virtualisation,
swap, heat, other containers, open files, local ports, Elasticsearch, the Go toolchain. It starts and changes nothing.

'locbench run' works without any of it, and reports what is missing.`,
		Example: `  locbench doctor
  locbench doctor --elastic http://127.0.0.1:9200
  locbench doctor --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			url := ""
			if address != "" {
				var err error
				if url, err = needs.URL(kinds.ByURL.AddressOption, address, env.Getenv); err != nil {
					return err
				}
			}
			warnings := machine.Doctor(cmd.Context(), url)
			if asJSON {
				return writeJSON(env.Stdout, " ", warnings)
			}
			width, indent := max(40, console.Columns(env.Stdout)), strings.Repeat(" ", 30)
			for _, w := range warnings {
				fmt.Fprintln(env.Stdout, fit.Paragraph(fmt.Sprintf("%-8s %-20s %s", w.Status, w.Name, w.Value), width, indent))
				if w.Fix != "" {
					fmt.Fprintln(env.Stdout, fit.Paragraph(indent+"→ "+w.Fix, width, indent))
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&address, kinds.ByURL.AddressOption, "", fmt.Sprintf("`URL` of an %s to check", kinds.ByURL.Title))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}
