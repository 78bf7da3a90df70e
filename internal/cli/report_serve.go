package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"locbench/internal/analysis"
	"locbench/internal/app"
	"locbench/internal/bench"
	"locbench/internal/exit"
	"locbench/internal/live"
	"locbench/internal/report"
	"locbench/internal/results"
	"locbench/internal/safe"
)

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
			err = report.HTML(&page, analysis.Of(run, legs), report.Options{Folder: dir, Floor: app.FindFloor(run, run, dir), Live: run.State == bench.RunRunning && results.Running(dir)})
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
	dir := dirs[0]
	if filepath.Base(dir) == results.RunFile {
		dir = filepath.Dir(dir)
	}
	if _, _, err := results.Read(dir); err != nil && !results.Has(dir, results.RunFile) {
		return "", exit.With(exit.Usage, err)
	}
	return dir, nil
}
