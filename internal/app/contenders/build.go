// Package contenders builds and verifies the contenders that a user selects.
package contenders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/secret"
)

// BuildOptions are the options of Build.
type BuildOptions struct {
	Names    []string // NAME or NAME:VARIANT
	All      bool     // every contender in every variant
	Defaults bool     // with All: only the first variant of each
	Dirs     []string // folders with more contenders
	Runtime  bench.Runtime
	Jobs     int  // parallel builds; 0: half the CPUs, at most 4
	Rebuild  bool // also unchanged contenders
}

// Build builds the selected contenders.
func Build(ctx context.Context, env console.Env, o BuildOptions) error {
	if !platform.Builds(o.Runtime) {
		return console.Usagef("--runtime %q: expected docker or process", o.Runtime)
	}
	list, err := o.choose(env)
	if err != nil {
		return err
	}
	builder, closing, err := platform.OpenBuilder(ctx, o.Runtime)
	if err != nil {
		return err
	}
	defer closing()
	known := secret.New(secret.Of(bench.Run{}, list)...)
	jobs := o.Jobs
	if jobs == 0 {
		jobs = min(4, max(1, builder.CPUs()/2))
	}
	build := app.Builder{Builder: builder, Runtime: o.Runtime, Rebuild: o.Rebuild}.Build
	masked := func(ctx context.Context, svc bench.Service, say func(string)) (bench.Artifact, error) {
		return build(ctx, svc, func(line string) { say(known.Text(line)) }) // masks before lines are cut
	}
	return known.Error(buildAll(ctx, env.Masked(known), list, jobs, o.Runtime, masked))
}

type buildFunc = func(context.Context, bench.Service, func(line string)) (bench.Artifact, error)

// buildAll builds the contenders, jobs of them in parallel. Its error lists the failed builds.
func buildAll(
	ctx context.Context, env console.Env, list []bench.Service, jobs int, rt bench.Runtime, build buildFunc,
) error {
	groups := together(list)
	jobs = min(jobs, max(1, len(groups)))
	progress := &buildProgress{env: env, jobs: jobs, total: len(list), runtime: rt}
	failures := make([]error, len(list))
	var workers errgroup.Group
	workers.SetLimit(jobs)
	for _, group := range groups {
		workers.Go(func() error {
			for _, i := range group {
				if ctx.Err() == nil {
					failures[i] = buildOne(ctx, progress, list[i], build)
				}
			}
			return nil
		})
	}
	_ = workers.Wait() // errors are in failures
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if len(failed) > 0 {
		failed = append(failed, fmt.Errorf("%d of %d builds failed", len(failed), len(list)))
		return console.WithCode(console.ExitContender, errors.Join(failed...))
	}
	return nil
}

func buildOne(ctx context.Context, progress *buildProgress, svc bench.Service, build buildFunc) error {
	began := time.Now()
	progress.begin(svc)
	a, err := build(ctx, svc, func(line string) { progress.line(svc, line) })
	switch {
	case err == nil:
		progress.end(progress.env.Stdout, svc, artifactText(a)+", "+units.Duration(time.Since(began)))
	case ctx.Err() != nil:
		progress.end(progress.env.Stderr, svc, "stopped")
	default:
		progress.end(progress.env.Stderr, svc, "failed after "+units.Duration(time.Since(began)))
	}
	return err
}

// together groups the indices of the variants of one contender: in parallel they would repeat the
// same work.
func together(list []bench.Service) (groups [][]int) {
	for i, svc := range list {
		at := slices.IndexFunc(groups, func(group []int) bool { return list[group[0]].Name == svc.Name })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

func artifactText(a bench.Artifact) string {
	text := "nothing to build"
	switch {
	case a.Image != "":
		text = fmt.Sprintf("image %s, %s", a.Image, units.Bytes(a.ImageSize))
	case a.BinarySize > 0:
		text = fmt.Sprintf("%s, %s", strings.Join(a.Command, " "), units.Bytes(a.BinarySize))
	}
	if a.BuildCached {
		text += ", unchanged"
	}
	return text
}
