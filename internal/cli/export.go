package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis"
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
	format, output, trial string
	step                  int
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
		Example: `  locbench export results/20261121-080000-quick --format gobench > new.txt
  locbench export results/20261121-080000-quick --format hgrm -o curves
  locbench export results/20261121-080000-quick --format vegeta-json --trial go-nethttp-1 --step 3 -o requests`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error { return f.run(env, dirs[0], cmd.Flags().Changed("step")) },
	}
	cmd.Flags().StringVarP(&f.format, "format", "f", "", "`FORMAT` to write: "+strings.Join(export.FormatNames(), ", "))
	cmd.Flags().StringVarP(&f.output, "out", "o", "", "`FILE` or folder to write to")
	cmd.Flags().StringVar(&f.trial, "trial", "", "only this `TRIAL`, such as go-nethttp-1")
	cmd.Flags().IntVar(&f.step, "step", 0, "only step `NUMBER`, from 1")
	return cmd
}

func (f exportFlags) run(env Env, dir string, oneStep bool) error {
	if f.format == "" {
		return console.Usagef("--format is missing: one of %s", strings.Join(export.FormatNames(), ", "))
	}
	format, err := export.Lookup(f.format)
	if err != nil {
		return console.Usagef("--format: %w", err)
	}
	opt := export.Options{Trial: f.trial}
	if oneStep {
		index := f.step - 1
		opt.Step = &index
	}
	if format.Many && f.output == "" {
		return console.Usagef("format %s writes several files: set --out FOLDER", format.Name)
	}
	run, trials, err := readFolder(env, dir)
	if err != nil {
		return err
	}
	files, err := format.Files(run, trials, opt)
	if err != nil {
		return err
	}
	if format.Note != "" {
		fmt.Fprintf(env.Stderr, "note: %s\n", format.Note)
	}
	if !format.Many {
		if f.output == "" {
			return files[0].Write(env.Stdout)
		}
		return exportFile(f.output, files[0])
	}
	if err := os.MkdirAll(f.output, 0o755); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	for _, file := range files {
		path := filepath.Join(f.output, file.Name)
		if err := exportFile(path, file); err != nil {
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

// exportFile writes a file, and removes an incomplete one after an error.
func exportFile(path string, file export.File) error {
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
	run, trials, err := readFolder(env, dir)
	if err != nil {
		return err
	}
	switch format {
	case "md":
		file.Write = func(w io.Writer) error {
			return report.Markdown(w, analysis.Of(run, trials), report.Options{Floor: app.FindFloor(run, run, dir)})
		}
	case "csv", "json":
		f, err := export.Lookup(format)
		if err != nil {
			return err
		}
		files, err := f.Files(run, trials, export.Options{})
		if err != nil {
			return err
		}
		file = files[0]
	default:
		return console.Usagef("--format %s: must be html, md, csv or json", safe.Line(format, 40))
	}
	if out == "" {
		return file.Write(env.Stdout)
	}
	return exportFile(out, file)
}

func newImport(env Env) *cobra.Command {
	var from, output string
	cmd := &cobra.Command{
		Use:   "import FILE... --out DIR",
		Short: "Import results of other tools",
		Long: `Imports results of other tools into a results folder, for 'locbench report', 'compare' and 'export'. Each file is one
trial; its name gives contender and round: "rs-actix-2.bin" is round 2 of rs-actix.

Two formats are supported:

  harness      files of the published comparison's harness, <name>-<n>.checks.bench.json
  vegeta       output of 'vegeta attack', or of 'vegeta encode' as JSON or CSV; each attack is a step

What a format does not contain is listed in the warnings of the trial.`,
		Example: `  locbench import rs-actix-1.checks.bench.json rs-actix-2.checks.bench.json -o results/published
  locbench import rs-actix-1.bin rs-actix-2.bin -o results/vegeta`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error { return importFiles(env, files, from, output) },
	}
	formats := strings.Join(export.ImportNames(), " or ")
	cmd.Flags().StringVar(&from, "from", "", "`FORMAT` of the files, "+formats+" (default: detected per file)")
	cmd.Flags().StringVarP(&output, "out", "o", "", "results `FOLDER` to create")
	return cmd
}

func importFiles(env Env, files []string, from, output string) error {
	if output == "" {
		return console.Usagef("--out is missing: name the results folder")
	}
	if _, err := os.Lstat(filepath.Join(output, results.RunFile)); err == nil {
		return console.Usagef("%s already holds a run: choose another --out", output)
	}
	read := func(name string) ([]byte, error) { return safe.ReadFile(name, export.MaxFile) }
	run, trials, err := export.Import(files, read, from, time.Now().UTC())
	if err != nil {
		return err
	}
	run.Command = append([]string{"locbench"}, env.Args...)
	if err := os.MkdirAll(output, 0o755); err != nil {
		return fmt.Errorf("create results folder: %w", err)
	}
	for i, trial := range trials {
		if err := results.WriteJSON(filepath.Join(output, run.Trials[i].File), trial); err != nil {
			return err
		}
		for _, w := range trial.Warnings {
			fmt.Fprintf(env.Stderr, "%s: %s\n", trial.Trial, safe.Line(w.Text, 400))
		}
	}
	// The last file: without it the folder is not a results folder.
	if err := results.WriteJSON(filepath.Join(output, results.RunFile), run); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, output)
	return nil
}
