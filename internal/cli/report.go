package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/results"
)

func newReport(env Env) *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the HTML report of a results folder",
		Long: `Writes report.html (one self-contained page with every chart, table and check of the run) and summary.md. Every run
writes both at its end; use this for copied results or after an update of locbench.

--format md, csv or json prints the tables to standard output instead.`,
		Example: `  locbench report results/20261121-080000-quick
  locbench report results/20261121-080000-quick -o /tmp/quick.html
  locbench report results/20261121-080000-quick --format md`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error {
			if format != "html" {
				return reportAs(env, dirs[0], format, out)
			}
			files, err := writeReports(env, dirs[0], out)
			for _, f := range files {
				fmt.Fprintln(env.Stdout, f)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to `FILE` instead of DIR/"+results.ReportFile)
	cmd.Flags().StringVar(&format, "format", "html", "`FORMAT`: html, or md, csv or json to standard output")
	return cmd
}

// writeReports writes the reports of a run, or of a search for capacity and of its runs.
func writeReports(env Env, dir, out string) ([]string, error) {
	if app.SearchesLimits(dir) && out == "" {
		return app.RewriteSearchReports(dir)
	}
	a, err := readAnalyzed(env, dir)
	if err != nil {
		return nil, err
	}
	return app.WriteReports(dir, out, a)
}

// readAnalyzed reads a results folder, or that of a search for capacity with several limits.
func readAnalyzed(env Env, dir string) (*analysis.Run, error) {
	if app.SearchesLimits(dir) {
		return app.SearchRun(dir)
	}
	run, trials, err := readFolder(env, dir)
	return analysis.Of(run, trials), err
}
