package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/results/export"
	"github.com/locbench/locbench/internal/show/report"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

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
