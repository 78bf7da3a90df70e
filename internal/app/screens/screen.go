// Package screens connects the dashboard to the program: it starts and watches runs, finds past
// ones and describes this machine.
package screens

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui"
	"github.com/locbench/locbench/internal/show/tui/pages"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// Options are the appearance of the dashboard.
type Options struct {
	ASCII bool
	Theme string // "dark", "light", or "" to detect it
}

// drawn returns the options of a dashboard on the terminal of env.
func (o Options) drawn(env console.Env, first ui.Page) (tui.Options, error) {
	switch o.Theme {
	case "", "dark", "light":
	default:
		return tui.Options{}, console.Usagef("--theme %q: expected dark or light", o.Theme)
	}
	return tui.Options{
		Input: env.Stdin, Output: console.Terminal(env.Stdout), Env: os.Environ(), First: first,
		ASCII: o.ASCII || !utf8Locale(env), NoColor: env.Getenv("NO_COLOR") != "", Theme: o.Theme,
	}, nil
}

// utf8Locale reports whether the locale has UTF-8. Without a locale it is true.
func utf8Locale(env console.Env) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env.Getenv(name); v != "" {
			v = strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "utf8")
		}
	}
	return true
}

// Run runs 'locbench run' on a terminal: the run in its own process, the screen in this one. At the
// end it prints the summary on the normal screen and returns the exit code of the run.
func Run(ctx context.Context, env console.Env, looks Options) error {
	if _, err := looks.drawn(env, nil); err != nil {
		return err
	}
	opener := newOpener(env)
	session, err := opener.run(env.Args[1:]) // after "run"
	if err != nil {
		return err
	}
	shown, ended := looks.show(ctx, env, opener, pages.Pages{Opener: opener}.Live(session, true))
	return errors.Join(shown, ended)
}

// show shows the dashboard from a page on. Then it stops the run in progress and prints the
// summaries of this dashboard's runs on the normal screen. ended is the exit code of the last run.
func (o Options) show(ctx context.Context, env console.Env, opener *opener, first ui.Page) (shown, ended error) {
	drawn, err := o.drawn(env, first)
	if err != nil {
		return err, nil
	}
	shown = tui.Run(ctx, drawn)
	for _, s := range opener.started() {
		switch {
		case s.Detached():
			fmt.Fprintln(env.Stdout, detached(runtime.GOOS, s.Process(), s.Dir()))
			continue
		case !s.CanSteer():
			s.Close()
			continue
		case s.Running() && !s.ReportedEnd():
			fmt.Fprintln(env.Stderr, "stopping the run …")
		}
		code, stderr := s.End(ctx)
		s.Close()
		ended = afterwards(env, s.Dir(), code, stderr)
	}
	return shown, ended
}

// detached says where a run continues whose screen has let it go, and how to stop it on a system.
func detached(system string, process int, dir string) string {
	stop := fmt.Sprint("kill ", process)
	if system == "windows" { // without /F it closes windows, and a run has none
		stop = fmt.Sprintf("taskkill /F /PID %d, then: locbench clean", process)
	}
	return fmt.Sprintf("The run continues as process %d.\nWatch it: %s\nStop it:  %s", process, results.WatchCommand(dir), stop)
}

// afterwards prints the results in dir and what the run wrote to standard error, which repeats none
// of them, and returns the run's exit code.
func afterwards(env console.Env, dir string, code int, stderr string) error {
	if dir != "" {
		run, trials, err := results.Read(dir)
		if err != nil && len(trials) == 0 {
			return err
		}
		nothing := results.NothingRan(run, trials)
		if nothing || len(trials) == 0 { // the summary has no table with warnings and failures
			printer := app.Output{Quiet: true}.Printer(env, nil)
			for _, w := range run.Warnings {
				printer.Handle(bench.Record{Event: bench.WarningNotice(w)})
			}
			for _, t := range trials {
				printer.Handle(bench.Record{Trial: &t.Trial, Event: bench.TrialEnded{State: t.State, Failure: t.Failure, Exit: t.Exit, LastLog: t.LastLog}})
			}
		}
		if !nothing {
			if err := app.Summary(env, dir, analysis.Of(run, trials), false); err != nil {
				return err
			}
		}
	}
	for line := range strings.Lines(stderr) {
		fmt.Fprintln(env.Stderr, safe.Line(strings.TrimRight(line, "\r\n"), 4000))
	}
	if code == console.ExitOK {
		return nil
	}
	return console.Reported{Code: code}
}

// DashboardOptions choose the first screen of the dashboard.
type DashboardOptions struct {
	Options
	Dir    string // a results folder, or a folder of results folders; "": none
	Browse bool   // begin with the list of past runs
	SetUp  func(setup.Options) (ui.Page, error)
}

// Dashboard runs 'locbench tui'.
func Dashboard(ctx context.Context, env console.Env, d DashboardOptions) error {
	if !env.HasScreen() {
		return console.Usagef("locbench tui needs a terminal; without one use: locbench run --headless")
	}
	var roots []string
	if d.Dir != "" {
		roots = append(roots, filepath.Dir(filepath.Clean(d.Dir)))
	}
	opener := newOpener(env, roots...)
	all := pages.Pages{Opener: opener, Source: opener, Roots: opener.Roots()}
	var first ui.Page
	var err error
	switch {
	case d.Dir != "":
		first, err = dirPage(all, opener, d.Dir)
	case d.Browse:
		first = all.Browse()
	default:
		first, err = d.SetUp(all.SetUp())
	}
	if err != nil {
		return err
	}
	shown, ended := d.show(ctx, env, opener, first)
	if ctx.Err() == nil {
		ended = nil // the dashboard has shown how its runs ended
	}
	return errors.Join(shown, ended)
}

// dirPage returns the page for dir: of the run in it, or of a list of results folders.
func dirPage(all pages.Pages, opener *opener, dir string) (ui.Page, error) {
	dir = results.Folder(dir)
	st, err := os.Stat(dir)
	if err != nil {
		return nil, console.Usagef("%w", err)
	}
	if !st.IsDir() {
		return nil, console.Usagef("%s is not a results folder", dir)
	}
	if !results.Has(dir, results.RunFile) {
		opener.roots = []string{dir, defaultRoot}
		all.Source, all.Roots = opener, opener.Roots()
		return all.Browse(), nil
	}
	session, err := opener.Watch(dir)
	if err != nil {
		return nil, err
	}
	return all.Live(session, false), nil
}
