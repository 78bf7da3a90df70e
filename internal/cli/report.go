package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/app/search"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/text/console"
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
			if done, err := reportSearches(env, dirs[0], out); done {
				return err
			}
			run, trials, err := readFolder(env, dirs[0])
			if err != nil {
				return err
			}
			files, err := app.WriteReports(dirs[0], out, analysis.Of(run, trials))
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

// reportSearches writes the reports of a folder of 'locbench capacity --limits', which has a
// results folder per limit; done is false if dir is not such a folder.
func reportSearches(env Env, dir, out string) (done bool, err error) {
	if results.Has(dir, results.RunFile) || !results.Has(dir, capacity.File) {
		return false, nil
	}
	r, err := search.Read(dir)
	if err != nil {
		return true, err
	}
	if out != "" {
		return true, console.Usagef("%s holds several results folders: name one, or omit --out", dir)
	}
	for _, folder := range search.Folders(dir, r) {
		files, failure := app.RewriteReports(folder)
		for _, f := range files {
			fmt.Fprintln(env.Stdout, f)
		}
		err = errors.Join(err, failure)
	}
	return true, err
}
