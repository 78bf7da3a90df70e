// Package cli is the command line of locbench: it reads flags into options, calls the packages that
// do the work, and maps errors to exit codes. It measures, stores and draws nothing.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/app/screens"
	"github.com/locbench/locbench/internal/app/search"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/apart"
	"github.com/locbench/locbench/internal/run/worker"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Env is the environment of the process.
type Env = console.Env

// Main runs the command line and returns the exit code. The first SIGINT, SIGTERM or SIGHUP stops
// it gracefully. A second SIGINT or SIGTERM forces it: Main kills what does not stop, removes
// everything, and returns within console.ForceWithin. A third one ends the process at once;
// 'locbench clean' removes what is left. A later SIGHUP has no effect: a closing terminal sends
// several.
func Main(ctx context.Context, env Env) int {
	if slices.Equal(env.Args, []string{apart.Command}) {
		if err := app.ServeLoad(env); err != nil {
			fmt.Fprintln(env.Guarded().Stderr, err)
			return console.ExitFailure
		}
		return 0
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	force := make(chan struct{})
	ctx = bench.WithForce(ctx, force)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	// A closed pipe ("locbench run --json | head") must not kill a run that has containers to stop:
	// writing fails instead (console.ErrGone).
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)

	log.SetOutput(io.Discard) // errors are returned and reported here, not written by libraries past us

	report := func(format string, args ...any) {
		if !slices.Contains(env.Args, worker.Flag) { // the screen of a worker reports it
			fmt.Fprintf(env.Stderr, "\n"+format+"\n", args...)
		}
	}
	ended := make(chan int, 1)
	env = env.Guarded()
	go func() { ended <- command(ctx, env) }()
	var late <-chan time.Time
	for received := 0; ; {
		select {
		case code := <-ended:
			return code
		case <-late:
			report("still running after %v; 'locbench clean' removes what is left", console.ForceWithin)
			return console.ExitInterrupted
		case s := <-signals:
			if s == syscall.SIGHUP && received > 0 {
				continue
			}
			switch received++; received {
			case 1:
				report("%s: stopping gracefully; press again to force", console.SignalName(s))
				cancel(console.Signal{Signal: s})
			case 2:
				signal.Reset(os.Interrupt, syscall.SIGTERM) // the next one has its default action
				report("%s: killing; press again to quit and leave the rest running", console.SignalName(s))
				close(force)
				late = time.After(console.ForceWithin)
			}
		}
	}
}

// command runs the command line, prints its error, and returns the exit code.
func command(ctx context.Context, env Env) int {
	root := newRoot(env)
	if len(env.Args) > 0 && strings.HasPrefix(env.Args[0], cobra.ShellCompRequestCmd) {
		completeOptions(root)
	}
	err := root.ExecuteContext(ctx)
	_, reported := errors.AsType[console.Reported](err)
	if err != nil && !reported && !errors.Is(err, console.ErrGone) {
		prefix := "locbench: "
		width, _ := console.Width(env.Stderr)
		given := secret.New(secret.Of(bench.Run{Command: env.Args}, nil)...)
		for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
			fmt.Fprintln(env.Stderr, fit.Paragraph(prefix+safe.Line(given.Text(line), 4000), width, "  "))
			prefix = "  "
		}
	}
	return console.ExitCode(ctx, err)
}

// Command returns the whole command line, for what documents it.
func Command(env Env) *cobra.Command { return newRoot(env) }

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "locbench",
		Short: "Benchmark HTTP services under CPU and memory limits",
		Long: `locbench benchmarks implementations ("contenders") of an HTTP service. It starts each one under CPU and memory limits,
checks its responses, loads it step by step, and measures throughput, latency, errors, CPU time, throttling and memory.

Nothing else needs to be installed: locbench has an embedded store and a built-in contender. It uses Docker and
Elasticsearch where they are available.`,
		Example: `  locbench run --headless                        # profile quick, on this machine
  locbench tui                                   # set up a run, watch it, browse past runs
  locbench seed --elastic http://127.0.0.1:9200  # load the city data into your Elasticsearch
  locbench run --profile locations go-nethttp --elastic http://127.0.0.1:9200   # full benchmark against it
  locbench doctor                                # check this machine
  locbench report results/20261121-080000-quick  # write report.html again`,
		Args: noSubcommand,
	}
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return printVersion(env)
		}
		return cmd.Help()
	}
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth(env)-5)))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = prose(cmp.Or(cmd.Long, cmd.Short), helpWidth(env))
		help(cmd, args)
	})
	asRoot(root)
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"run", "Run a benchmark", []*cobra.Command{
			newTry(env, app.Try), newRun(env, run), newTUI(env, screens.Dashboard), newCapacity(env, search.Run), newCalibrate(env, calibrate)}},
		{"results", "Look at results", []*cobra.Command{
			newCompare(env), newHistory(env), newReport(env), newExport(env)}},
		{"define", "Define what is benchmarked", []*cobra.Command{newValidate(env), newServices(env), newProfiles(env), newCheck(env), newSchema(env)}},
		{"maintain", "Maintain this machine", []*cobra.Command{newDoctor(env), newSeed(env, runSeed), newServe(env), newClean(env)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newVersion(env))
	// cobra's own command has no examples.
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Example = `  source <(locbench completion bash)
  locbench completion zsh > "${fpath[1]}/_locbench"
  locbench completion fish > ~/.config/fish/completions/locbench.fish`
	}
	return root
}

// asRoot lets errors of a command and of those below be returned, and not printed.
func asRoot(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.Usagef("%w (see '%s --help')", flagError(cmd.Flags(), err), cmd.CommandPath())
	})
}

// work does what a command is for, with its options. A test of the options replaces it.
type work[Options any] func(context.Context, Env, Options) error

// helpWidth returns the columns of help texts: those of the terminal, up to the width of lines that
// are easy to read.
func helpWidth(env Env) int { return max(40, min(120, console.Columns(env.Stdout))) }

// prose wraps paragraphs, but those with indented lines.
func prose(text string, width int) string {
	all := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, paragraph := range all {
		if !strings.HasPrefix(paragraph, " ") && !strings.Contains(paragraph, "\n ") {
			all[i] = fit.Paragraph(strings.ReplaceAll(paragraph, "\n", " "), width, "")
		}
	}
	return strings.Join(all, "\n\n")
}

// noSubcommand rejects unknown subcommands, with a suggestion.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean '%s %s'?", cmd.CommandPath(), near[0])
	}
	return console.Usagef("unknown command %q for '%s'%s (see '%[2]s --help')", args[0], cmd.CommandPath(), hint)
}

// args wraps one of cobra's argument validators: its error counts as wrong usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return console.Usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// writeJSON writes v as JSON with the indentation indent.
func writeJSON(w io.Writer, indent string, v any) error {
	encoder := json.NewEncoder(safe.JSONWriter(w))
	encoder.SetIndent("", indent)
	return encoder.Encode(v)
}
