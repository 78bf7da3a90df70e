// Package screens gives the dashboard what only the program can do: start and watch runs, find past
// ones, look at this machine.
package screens

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"locbench/internal/analysis"
	"locbench/internal/app"
	"locbench/internal/results"
	"locbench/internal/show/tui"
	"locbench/internal/show/tui/setup"
	"locbench/internal/show/tui/ui"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

// Options say how the dashboard looks.
type Options struct {
	ASCII bool
	Theme string // "dark", "light", or "" to ask the terminal
	Mouse bool
}

// drawn returns the options of the dashboard on the terminal of env.
func (o Options) drawn(env console.Env, first ui.Screen) (tui.Options, error) {
	switch o.Theme {
	case "", "dark", "light":
	default:
		return tui.Options{}, console.Usagef("--theme %q: dark or light", o.Theme)
	}
	return tui.Options{
		Input: env.Stdin, Output: console.Terminal(env.Stdout), Env: os.Environ(), First: first,
		ASCII: o.ASCII || !utf8Locale(env), NoColor: env.Getenv("NO_COLOR") != "", Theme: o.Theme, Mouse: o.Mouse,
	}, nil
}

// utf8Locale reports whether the terminal reads UTF-8, as the locale says. Without any locale it is
// taken for granted.
func utf8Locale(env console.Env) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env.Getenv(name); v != "" {
			v = strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "utf8")
		}
	}
	return true
}

// Run returns locbench run on a terminal: the run in its own process, the screen in this one. When
// it has ended, what it found is on the normal screen, and its exit code is this one's.
func Run(ctx context.Context, env console.Env, looks Options) error {
	if _, err := looks.drawn(env, nil); err != nil {
		return err
	}
	opener := newOpener(env)
	session, err := opener.run(env.Args[1:]) // after "run"
	if err != nil {
		return err
	}
	defer session.Close()
	screen := tui.Screens{Opener: opener}.Live(session, true)
	o, err := looks.drawn(env, screen)
	if err != nil {
		return err
	}
	screenErr := tui.Run(ctx, o)
	code, talk, ended := screen.Outcome()
	if !ended {
		if !session.ReportedEnd() {
			fmt.Fprintln(env.Stderr, "stopping the run …")
		}
		code, talk = session.End(ctx)
	}
	err = afterwards(env, session.Dir(), code, talk)
	if screenErr == nil {
		return err
	}
	return errors.Join(screenErr, err)
}

// afterwards reports on the normal screen what a run has found, and ends with its code.
func afterwards(env console.Env, dir string, code int, talk string) error {
	reported := map[string]bool{} // by the summary
	if dir != "" {
		run, trials, err := results.Read(dir)
		if err != nil && len(trials) == 0 {
			return err
		}
		if results.NothingRan(run, trials) {
			writeTalk(env.Stderr, talk, nil)
			return console.Reported{Code: code}
		}
		if err := app.Summary(env, dir, analysis.Of(run, trials), false); err != nil {
			return err
		}
		for _, w := range run.Warnings {
			reported["warning: "+w.Text] = len(trials) > 0
		}
		for _, trial := range trials { // its failure is next to the table, what it wrote last in the results
			for _, l := range trial.LastLog {
				reported["    | "+safe.Line(l.Text, 300)] = true
			}
			reported["  its last log lines:"] = true
			reported[fmt.Sprintf("  %s: %s", trial.State, safe.Line(trial.Failure, 4000))] = true
		}
	}
	writeTalk(env.Stderr, talk, reported)
	if code == console.ExitOK {
		return nil
	}
	return console.Reported{Code: code}
}

// writeTalk writes what another locbench has written to standard error, harmless for a terminal, but
// for lines that have been reported.
func writeTalk(w io.Writer, talk string, reported map[string]bool) {
	for line := range strings.Lines(talk) {
		if line = strings.TrimRight(line, "\r\n"); !reported[line] {
			fmt.Fprintln(w, safe.Line(line, 4000))
		}
	}
}

// DashboardOptions say what the dashboard begins with.
type DashboardOptions struct {
	Options
	Dir    string // results folder, or folder of such; "": none
	Browse bool   // past results
	SetUp  func(setup.Options) (ui.Screen, error)
}

// Dashboard returns locbench tui.
func Dashboard(ctx context.Context, env console.Env, d DashboardOptions) error {
	if !env.HasScreen() {
		return console.Usagef("locbench tui needs a terminal; without one use: locbench run --headless")
	}
	var roots []string
	if d.Dir != "" {
		roots = append(roots, filepath.Dir(filepath.Clean(d.Dir)))
	}
	opener := newOpener(env, roots...)
	screens := tui.Screens{Opener: opener, Source: opener, Roots: opener.Roots()}
	var first ui.Screen
	var err error
	switch {
	case d.Dir != "":
		first, err = dirScreen(screens, opener, d.Dir)
	case d.Browse:
		first = screens.Browse()
	default:
		first, err = d.SetUp(screens.SetUp())
	}
	if err != nil {
		return err
	}
	o, err := d.drawn(env, first)
	if err != nil {
		return err
	}
	if err := tui.Run(ctx, o); err != nil {
		return errors.Join(err, afterTUI(ctx, env, opener))
	}
	return afterTUI(ctx, env, opener)
}

// dirScreen shows what is in dir: a run in progress, a finished one, or a folder of such.
func dirScreen(screens tui.Screens, opener *opener, dir string) (ui.Screen, error) {
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
		screens.Source, screens.Roots = opener, opener.Roots()
		return screens.Browse(), nil
	}
	session, err := opener.Watch(dir)
	if err != nil {
		return nil, err
	}
	return screens.Live(session, false), nil
}

// afterTUI ends what still runs, and reports on the normal screen what the runs of this dashboard
// have found. How they went was seen there; the exit code only says whether the dashboard itself
// was ended by a signal.
func afterTUI(ctx context.Context, env console.Env, opener *opener) error {
	var last error
	for _, s := range opener.started() {
		if !s.CanSteer() {
			s.Close()
			continue
		}
		code, talk := s.End(ctx)
		s.Close()
		if err := afterwards(env, s.Dir(), code, talk); ctx.Err() != nil {
			last = err
		}
	}
	return last
}
