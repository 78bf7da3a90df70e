package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/export"
	"github.com/locbench/locbench/internal/show/report"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
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

// exportFlags are the flags of "locbench export".
type exportFlags struct {
	format, output string
}

func newExport(env Env) *cobra.Command {
	var f exportFlags
	var formats strings.Builder
	for _, x := range export.Formats() {
		fmt.Fprintf(&formats, "  %-12s %s\n", x.Name, x.Title)
		if x.Note != "" {
			fmt.Fprintf(&formats, "  %-12s (%s)\n", "", x.Note)
		}
	}
	cmd := &cobra.Command{
		Use:   "export DIR --format FORMAT",
		Short: "Export results to the formats of other tools",
		Long: `Writes the results of a folder in one of these formats:

` + formats.String() + `
Single-file formats go to standard output or to --out FILE; the others write one file per trial or step into the
folder --out. Values that a format has no field for are left out.`,
		Example: `  locbench export results/20261121-080000-quick --format csv > new.csv
  locbench export results/20261121-080000-quick --format hgrm -o curves
  locbench export results/20261121-080000-quick --format vegeta-json -o requests`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error { return f.run(env, dirs[0]) },
	}
	cmd.Flags().StringVarP(&f.format, "format", "f", "", "`FORMAT` to write: "+strings.Join(export.FormatNames(), ", "))
	cmd.Flags().StringVarP(&f.output, "out", "o", "", "`FILE` or folder to write to")
	return cmd
}

func (f exportFlags) run(env Env, dir string) error {
	if f.format == "" {
		return console.Usagef("--format is missing: one of %s", strings.Join(export.FormatNames(), ", "))
	}
	format, err := export.Lookup(f.format)
	if err != nil {
		return console.Usagef("--format: %w", err)
	}
	if format.Many && f.output == "" {
		return console.Usagef("format %s writes several files: set --out FOLDER", format.Name)
	}
	run, trials, err := readFolder(env, dir)
	if err != nil {
		return err
	}
	files, err := format.Files(run, trials)
	if err != nil {
		return err
	}
	if format.Note != "" {
		fmt.Fprintf(env.Stderr, "note: %s\n", format.Note)
	}
	if !format.Many {
		return exportTo(env, f.output, files[0])
	}
	if err := os.MkdirAll(f.output, 0o755); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	for _, file := range files {
		path := filepath.Join(f.output, file.Name)
		if err := exportTo(env, path, file); err != nil {
			return err
		}
		fmt.Fprintln(env.Stdout, path)
	}
	return nil
}

// readFolder reads a results folder; it reports unreadable trials and skips them.
func readFolder(env Env, dir string) (bench.Run, []bench.TrialResult, error) {
	run, trials, err := results.Read(dir)
	if err != nil && len(trials) > 0 {
		env.Warn(err)
		err = nil
	}
	return run, trials, err
}

// exportTo writes a file to a path, or to standard output without one. It removes an incomplete file
// after an error.
func exportTo(env Env, path string, file export.File) error {
	if path == "" {
		return file.Write(env.Stdout)
	}
	out, err := os.Create(path)
	if err == nil {
		if err = errors.Join(file.Write(out), out.Close()); err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// reportAs writes the results of dir to standard output, or to the file out, as Markdown, CSV or
// JSON.
func reportAs(env Env, dir, format, out string) error {
	var file export.File
	if format == "md" {
		a, err := readAnalyzed(env, dir)
		if err != nil {
			return err
		}
		opts, err := app.ReportOptions(dir, a.Run)
		if err != nil {
			return err
		}
		file.Write = func(w io.Writer) error { return report.Markdown(w, a, opts) }
		return exportTo(env, out, file)
	}
	run, trials, err := readFolder(env, dir)
	if err != nil {
		return err
	}
	switch format {
	case "csv", "json":
		f, err := export.Lookup(format)
		if err != nil {
			return err
		}
		files, err := f.Files(run, trials)
		if err != nil {
			return err
		}
		file = files[0]
	default:
		return console.Usagef("--format %s: must be html, md, csv or json", safe.Line(format, 40))
	}
	return exportTo(env, out, file)
}

// historyFlags are the flags of "locbench history".
type historyFlags struct {
	contenders, measures []string
	format               string
}

func newHistory(env Env) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history [DIR...]",
		Short: "Show results over time",
		Long: `Finds results folders in these folders and below (default ./results) and shows each contender's headline
measures over time: ` + compare.Titles() + `, as medians of the complete rounds with their 95% CIs.

It marks where two results are not comparable (other limits, profile, machine or data).

Unreadable folders, runs without a complete round, copies and capacity searches are listed on standard error and
skipped.`,
		Example: `  locbench history
  locbench history results/nightly --contender rs-actix --measure throughput,p99
  locbench history results --format csv > history.csv`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(_ *cobra.Command, dirs []string) error { return f.run(env, dirs) },
	}
	cmd.Flags().StringSliceVar(&f.contenders, "contender", nil, "only this `CONTENDER`; repeatable")
	cmd.Flags().StringSliceVar(&f.measures, "measure", nil,
		"only these `measures`: "+strings.Join(compare.Measures(), ", "))
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORMAT`: text, md, csv or json")
	_ = cmd.RegisterFlagCompletionFunc("format", fixed("text", "md", "csv", "json"))
	_ = cmd.RegisterFlagCompletionFunc("measure", fixed(compare.Measures()...))
	return cmd
}

func (f historyFlags) run(env Env, dirs []string) error {
	write := map[string]func(io.Writer, []compare.Series) error{
		"text": compare.HistoryText, "md": compare.HistoryMarkdown, "csv": compare.HistoryCSV, "json": historyJSON,
	}[f.format]
	if write == nil {
		return console.Usagef("--format %q: expected text, md, csv or json", f.format)
	}
	var measures []measure.ID
	for _, text := range f.measures {
		m, err := compare.ParseMeasure(text)
		if err != nil {
			return console.Usagef("--measure: %w", err)
		}
		measures = append(measures, m)
	}
	if len(dirs) == 0 {
		dirs = []string{"results"}
		if _, err := os.Stat("results"); errors.Is(err, os.ErrNotExist) {
			return console.Usagef("no folder ./results: name your results folders")
		}
	}
	history, found := readHistory(env, dirs)
	if len(history.Labels()) == 0 {
		what := "no results folder"
		if found > 0 {
			what = fmt.Sprintf("none of %d results folders has a complete round", found)
		}
		return fmt.Errorf("%s in %s; runs write theirs to results/<time>-<profile>",
			what, strings.Join(dirs, ", "))
	}
	series, err := history.Series(f.contenders, measures)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if err := write(env.Stdout, series); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// readHistory reads the results folders in dirs and below; it reports skipped ones on standard
// error.
func readHistory(env Env, dirs []string) (history *compare.History, found int) {
	history = &compare.History{}
	folders, problems := results.Find(dirs...)
	for _, p := range problems {
		env.Warn(p)
	}
	for _, folder := range folders {
		skip := func(why string) {
			fmt.Fprintf(env.Stderr, "skipped: %s: %s\n", safe.Line(folder, 400), safe.Line(why, 400))
		}
		run, trials, err := results.Read(folder)
		if err != nil {
			skip(err.Error())
			if len(trials) == 0 {
				continue
			}
		}
		if run.State == bench.RunRunning && results.Running(folder) {
			skip("still running")
			continue
		}
		for _, why := range history.Add(folder, run, trials) {
			skip(why)
		}
	}
	return history, len(folders)
}

func historyJSON(w io.Writer, series []compare.Series) error {
	return writeJSON(w, "  ", struct {
		Contenders []compare.Series `json:"contenders"`
	}{series})
}
