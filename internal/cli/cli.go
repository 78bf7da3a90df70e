// Package cli is the command line of locbench: it reads flags, wires the other packages together and turns errors into
// exit codes. Nothing is measured, stored or drawn here.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"locbench/internal/bench"
	"locbench/internal/safe"
	"locbench/internal/secret"
)

// Exit codes, for scripts.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2   // wrong flags, arguments, profile or manifest
	ExitContender   = 3   // the legs had begun, but not all are complete: a contender failed, or the run ended early
	ExitThreshold   = 4   // checks failed (locbench check), no rate keeps the objective (locbench capacity), threshold or regression
	ExitInterrupted = 130 // Ctrl-C or SIGTERM
)

// Env is what the process was given.
type Env struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer // data
	Stderr io.Writer // talk
	Getenv func(string) string
}

// errInterrupted is the cause of a context that a signal has cancelled.
type errInterrupted struct{ signal os.Signal }

func (e errInterrupted) Error() string { return "interrupted by " + signalName(e.signal) }

func signalName(s os.Signal) string {
	switch s {
	case os.Interrupt:
		return "Ctrl-C"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.String()
}

// codeError carries an exit code other than ExitFailure.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codeError{code, err}
}

func usage(format string, args ...any) error {
	return withCode(ExitUsage, fmt.Errorf(format, args...))
}

// forceWithin is how long an end by force may take: an engine that hangs must not hold up who wants to leave.
const forceWithin = 15 * time.Second

// Main runs the command line and returns the exit code. The first SIGINT, SIGTERM or SIGHUP ends what runs in order. A second SIGINT or
// SIGTERM ends it by force: what does not stop is killed, everything is removed, and Main returns within forceWithin; a third one
// ends the process at once (then "locbench clean" removes what is left). A SIGHUP hurries nothing: a terminal that is closed sends
// several, and sends them to a run that is being stopped as well.
func Main(ctx context.Context, env Env) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	force := make(chan struct{})
	ctx = bench.WithForce(ctx, force)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks for that
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	// A reader that goes away ("locbench run --json | head") must not kill a run that has containers to stop: writing fails instead.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)

	tell := func(format string, args ...any) {
		if !slices.Contains(env.Args, controlledFlag) { // then the screen says so
			fmt.Fprintf(env.Stderr, "\n"+format+"\n", args...)
		}
	}
	ended := make(chan int, 1)
	go func() { ended <- command(ctx, env) }()
	var late <-chan time.Time
	for asked := 0; ; {
		select {
		case code := <-ended:
			return code
		case <-late:
			tell("not everything has ended within %v; \"locbench clean\" removes what is left", forceWithin)
			return ExitInterrupted
		case s := <-signals:
			if s == syscall.SIGHUP && asked > 0 {
				continue
			}
			switch asked++; asked {
			case 1:
				tell("%s: stopping in order; once more to end by force", signalName(s))
				cancel(errInterrupted{s})
			case 2:
				signal.Reset(os.Interrupt, syscall.SIGTERM) // the next one has its default action
				tell("%s: ending by force; once more to leave at once, with whatever is left", signalName(s))
				close(force)
				late = time.After(forceWithin)
			}
		}
	}
}

// command runs the command line to its end.
func command(ctx context.Context, env Env) int {
	err := newRoot(env).ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	code := exitCode(ctx, err)
	if _, told := err.(toldError); !told {
		tellError(env.Stderr, err)
	}
	return code
}

func exitCode(ctx context.Context, err error) int {
	var interrupted errInterrupted
	if errors.As(err, &interrupted) || errors.As(context.Cause(ctx), &interrupted) {
		return ExitInterrupted
	}
	if c, ok := errors.AsType[*codeError](err); ok {
		return c.code
	}
	if c, ok := errors.AsType[toldError](err); ok {
		return c.code
	}
	return ExitFailure
}

func tellError(w io.Writer, err error) {
	for i, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		prefix := "locbench: "
		if i > 0 {
			prefix = "  "
		}
		fmt.Fprintln(w, prefix+safe.Line(secret.Masker{}.Text(line), 4000))
	}
}

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "locbench",
		Short: "Tell which implementation of a microservice to run, and what it will cost",
		Long: `locbench runs implementations ("contenders") of one microservice under CPU and memory limits, as a dense cluster
would, checks that their answers are right, drives load at them step by step, and records throughput, latency,
errors, CPU time, throttling and memory of every step.

With nothing else installed it uses an embedded store and its built-in contender; Docker and a real
Elasticsearch are used wherever they are there.`,
		Example: `  locbench run --headless                        # the quick profile, on whatever this machine has
  locbench tui                                   # set a run up on the screen, watch it, look at past ones
  locbench seed --elastic http://127.0.0.1:9200  # load the cities into an Elasticsearch of one's own
  locbench run --profile locations go-nethttp --elastic http://127.0.0.1:9200   # and the full procedure against it
  locbench doctor                                # what this machine can do, and what is missing
  locbench report results/20261121-080000-quick  # write report.html again`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSubcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w (see '%s --help')", flagError(err), cmd.CommandPath())
	})
	root.AddCommand(
		newRun(env), newTUI(env), newCapacity(env), newSeed(env), newCheck(env), newServices(env), newProfiles(env), newReport(env), newExport(env), newImport(env), newCompare(env), newHistory(env), newCalibrate(env),
		newDoctor(env), newClean(env), newServe(env), newVersion(env),
	)
	// cobra's own command comes without examples.
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Example = `  source <(locbench completion bash)
  locbench completion zsh > "${fpath[1]}/_locbench"
  locbench completion fish > ~/.config/fish/completions/locbench.fish`
	}
	return root
}

// noSubcommand refuses words after a command that only has subcommands, with a suggestion.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean '%s %s'?", cmd.CommandPath(), near[0])
	}
	return usage("unknown command %q for '%s'%s (see '%s --help')", args[0], cmd.CommandPath(), hint, cmd.CommandPath())
}

// args wraps one of cobra's argument validators so that its error counts as wrong usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// terminal tells whether w is one, and how wide.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// colored tells whether to use ANSI colours on w: a terminal, and neither NO_COLOR nor TERM=dumb forbids.
func colored(env Env, w io.Writer) bool {
	_, ok := terminal(w)
	return ok && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
}
