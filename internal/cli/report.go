package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"locbench/internal/analysis"
	"locbench/internal/app"
	"locbench/internal/app/search"
	"locbench/internal/bench"
	"locbench/internal/capacity"
	"locbench/internal/exit"
	"locbench/internal/live"
	"locbench/internal/report"
	"locbench/internal/results"
	"locbench/internal/safe"
)

func newReport(env Env) *cobra.Command {
	var out, format string
	var served serveFlags
	cmd := &cobra.Command{
		Use:   "report DIR | --serve [DIR]",
		Short: "Write the HTML report of a results folder",
		Long: `Writes one self-contained HTML file with every figure and the table of checks of a run, and summary.md beside it. It
needs no network to be read. The end of every run writes both, so this is for results that were copied, or for a
newer locbench.

With --format md, csv or json the tables go to standard output instead, for a pull request or another program.

With --serve the report is shown by a small web server on this machine, and follows a run while it goes on: what runs now each second, and
the whole page again when a step has finished, with scroll position, open tables and hidden contenders kept. Without DIR it is the
newest folder in ./results. Only loopback addresses are served, and nothing can be started or changed. Drawing the page takes some tenths of
a second of CPU time after a step, and only while a browser looks: where the figures count, look after the run. Ctrl-C ends it.`,
		Example: `  locbench report results/20261121-080000-quick
  locbench report results/20261121-080000-quick -o /tmp/quick.html
  locbench report results/20261121-080000-quick --format md
  locbench report --serve                                    # the newest run, also while it goes on
  locbench report --serve results/20261121-080000-quick --listen 127.0.0.1:8080`,
		Args: args(func(cmd *cobra.Command, dirs []string) error {
			if served.serve {
				return cobra.MaximumNArgs(1)(cmd, dirs)
			}
			return cobra.ExactArgs(1)(cmd, dirs)
		}),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if served.serve {
				if cmd.Flags().Changed("output") || cmd.Flags().Changed("format") {
					return exit.Usagef("--serve shows the page: it takes neither --output nor --format")
				}
				return serveReport(cmd.Context(), env, served, dirs)
			}
			if cmd.Flags().Changed("listen") {
				return exit.Usagef("--listen goes with --serve")
			}
			if format != "html" {
				return reportAs(env, dirs[0], format, out)
			}
			if done, err := reportSearches(env, dirs[0], out); done {
				return err
			}
			run, legs, err := readFolder(env, dirs[0])
			if err != nil {
				return err
			}
			files, err := app.WriteReports(dirs[0], out, analysis.Of(run, legs))
			for _, f := range files {
				fmt.Fprintln(env.Stdout, f)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&served.serve, "serve", false, "show the report by a web server on this machine, and follow a run while it goes on")
	cmd.Flags().StringVar(&served.listen, "listen", "127.0.0.1:0", "loopback `ADDRESS` for --serve; port 0 takes any free one")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE` instead of DIR/"+results.ReportFile)
	cmd.Flags().StringVar(&format, "format", "html", "`FORMAT`: html, or md, csv or json to standard output")
	return cmd
}

// reportSearches writes the reports of a folder of 'locbench capacity --limits', which holds a
// results folder for each of them; done is false when dir is none.
func reportSearches(env Env, dir, out string) (done bool, err error) {
	if results.Has(dir, results.RunFile) || !results.Has(dir, capacity.File) {
		return false, nil
	}
	r, err := search.Read(dir)
	if err != nil {
		return true, err
	}
	if out != "" {
		return true, exit.Usagef("%s holds several results folders, which one --output cannot take: name one of them", dir)
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

// serveFlags say whether and where a report is shown.
type serveFlags struct {
	serve  bool
	listen string
}

// serveReport shows the report of a results folder until ctx ends, which is how it is meant to end.
func serveReport(ctx context.Context, env Env, f serveFlags, dirs []string) error {
	dir, err := served(dirs)
	if err != nil {
		return err
	}
	l, err := live.Listen(ctx, f.listen)
	if err != nil {
		return exit.Usagef("--listen: %w", err)
	}
	fmt.Fprintf(env.Stdout, "http://%s/\n", l.Addr())
	fmt.Fprintf(env.Stderr, "shows %s; Ctrl-C ends it\n", safe.Line(dir, 1000))
	return live.Serve(ctx, live.Options{
		Listener: l,
		Render: func() ([]byte, error) {
			run, legs, err := results.Read(dir)
			if err != nil && run.Schema == 0 {
				return nil, err
			}
			var page bytes.Buffer
			running := run.State == bench.RunRunning && results.Running(dir)
			options := report.Options{Folder: dir, Floor: app.FindFloor(run, run, dir), Live: running}
			err = report.HTML(&page, analysis.Of(run, legs), options)
			return page.Bytes(), err
		},
		Follow: func(ctx context.Context, from int64, handle func([]bench.Record) error) error {
			_, err := results.Follow(ctx, dir, from, handle)
			return err
		},
		Running: func() bool { return results.Running(dir) },
	})
}

// served is the folder that is named, or the one of the newest run.
func served(dirs []string) (string, error) {
	if len(dirs) == 0 {
		entries, _ := results.List("results")
		for _, e := range entries {
			if e.Err == nil {
				return e.Dir, nil
			}
		}
		return "", exit.Usagef("there is no results folder in ./results: name one")
	}
	dir := results.Folder(dirs[0])
	if _, _, err := results.Read(dir); err != nil && !results.Has(dir, results.RunFile) {
		return "", exit.With(exit.Usage, err)
	}
	return dir, nil
}
