package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

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
