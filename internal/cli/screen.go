package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"locbench/internal/bench"
	"locbench/internal/results"
	"locbench/internal/safe"
	"locbench/internal/tui"
	"locbench/internal/tui/ui"
)

// screenFlags say how the dashboard looks.
type screenFlags struct {
	ascii bool
	theme string
	mouse bool
}

func (f *screenFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.ascii, "ascii", false, "draw with ASCII alone (default where the locale is not UTF-8)")
	fl.StringVar(&f.theme, "theme", "", "dark or light (default: the terminal is asked)")
	fl.BoolVar(&f.mouse, "mouse", true, "take clicks and the wheel; with --mouse=false the terminal selects text as usual")
	_ = cmd.RegisterFlagCompletionFunc("theme", fixed("dark", "light"))
}

// options are the dashboard's, for the terminal of env.
func (f screenFlags) options(env Env, first ui.Screen) (tui.Options, error) {
	switch f.theme {
	case "", "dark", "light":
	default:
		return tui.Options{}, usage("--theme %q: dark or light", f.theme)
	}
	return tui.Options{
		Input: env.Stdin, Output: env.Stdout, Env: os.Environ(), First: first,
		ASCII: f.ascii || !utf8Locale(env), NoColor: env.Getenv("NO_COLOR") != "", Theme: f.theme, Mouse: f.mouse,
	}, nil
}

// utf8Locale tells whether the terminal reads UTF-8, as the locale says. Without any locale it is taken for granted.
func utf8Locale(env Env) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env.Getenv(name); v != "" {
			v = strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "utf8")
		}
	}
	return true
}

// hasScreen tells whether env is a terminal that a dashboard can be drawn on and steered from.
func hasScreen(env Env) bool {
	return isTerminal(env.Stdin) && isTerminal(env.Stdout) && isTerminal(env.Stderr) && env.Getenv("TERM") != "dumb"
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// watchRun is locbench run on a terminal: the run in a process of its own, the screen in this one. When it has ended, what it
// found is on the normal screen, and its exit code is this one's.
func watchRun(ctx context.Context, env Env, f screenFlags) error {
	if _, err := f.options(env, nil); err != nil {
		return err
	}
	opener := newOpener(env)
	session, err := opener.run(env.Args[1:]) // behind "run"
	if err != nil {
		return err
	}
	defer session.Close()
	screen := tui.Screens{Opener: opener}.Live(session, true)
	o, err := f.options(env, screen)
	if err != nil {
		return err
	}
	screenErr := tui.Run(ctx, o)
	code, talk, ended := screen.Outcome()
	if !ended {
		if !session.toldEnd() {
			fmt.Fprintln(env.Stderr, "stopping the run in order …")
		}
		code, talk = end(ctx, session)
	}
	return also(screenErr, afterwards(env, session.Dir(), code, talk))
}

// end ends a run whose screen is gone, for the reason for which ctx has ended. One that stops already is only waited for, and so is one
// that has told its end: it is complete, and writes its reports.
func end(ctx context.Context, s *session) (code int, talk string) {
	sig := os.Signal(syscall.SIGTERM)
	if interrupted, ok := errors.AsType[errInterrupted](context.Cause(ctx)); ok {
		sig = interrupted.signal
	}
	if !s.toldEnd() && !s.stopping() {
		s.Stop(sig)
	}
	select {
	case <-s.exited:
	case <-bench.Forced(ctx):
		s.Stop(sig)
	}
	return s.Wait()
}

// afterwards tells on the normal screen what a run has found, and ends with its code.
func afterwards(env Env, dir string, code int, talk string) error {
	told := map[string]bool{} // by the summary
	if dir != "" {
		run, legs, err := results.Read(dir)
		if err != nil && len(legs) == 0 {
			return err
		}
		if results.NothingRan(run, legs) {
			tellTalk(env.Stderr, talk, nil)
			return toldError{code}
		}
		if err := summary(env, dir, run, legs, false); err != nil {
			return err
		}
		for _, w := range run.Warnings {
			told["warning: "+w.Text] = len(legs) > 0
		}
		for _, leg := range legs { // its failure is beside the table, what it wrote last in the results
			for _, l := range leg.LastLog {
				told["    | "+safe.Line(l.Text, 300)] = true
			}
			told[fmt.Sprintf("  %s: %s", leg.State, safe.Line(leg.Failure, 4000))], told["  its last log lines:"] = true, true
		}
	}
	tellTalk(env.Stderr, talk, told)
	if code == ExitOK {
		return nil
	}
	return toldError{code}
}

// tellTalk writes what another locbench has written to standard error, harmless for a terminal, but for lines that have been told.
func tellTalk(w io.Writer, talk string, told map[string]bool) {
	for line := range strings.Lines(talk) {
		if line = strings.TrimRight(line, "\r\n"); !told[line] {
			fmt.Fprintln(w, safe.Line(line, 4000))
		}
	}
}

// toldError is a failure that has been told already: only its exit code is left to say.
type toldError struct{ code int }

func (e toldError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// also is err, after what went wrong with the screen, if anything did.
func also(screenErr, err error) error {
	if screenErr == nil {
		return err
	}
	return errors.Join(screenErr, err)
}
