// Package contenders builds and verifies the contenders that a user selects.
package contenders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locbench/internal/app"
	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/contender"
	"locbench/internal/platform"
	"locbench/internal/secret"
	"locbench/internal/units"
)

// BuildOptions say what is built, and how.
type BuildOptions struct {
	Selection
	Jobs    int  // contenders that are built at the same time; 0: one for two CPUs, at most 4
	Rebuild bool // even what is unchanged
}

// Build makes what can be started of each contender that is selected.
func Build(ctx context.Context, env console.Env, o BuildOptions) error {
	if !platform.Builds(o.Runtime) {
		return console.Usagef("--runtime %q: docker or process", o.Runtime)
	}
	list, err := o.Choose(env)
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
	return known.Error(buildAll(ctx, env.Masked(known), list, jobs, o.Runtime, func(ctx context.Context, svc bench.Service, tell func(string)) (bench.Artifact, error) {
		return build(ctx, svc, func(line string) { tell(known.Text(line)) }) // before anything is cut off
	}))
}

// buildAll builds the contenders, jobs of them at the same time, and tells at the end which failed
// and how.
func buildAll(ctx context.Context, env console.Env, list []bench.Service, jobs int, rt bench.Runtime,
	build func(context.Context, bench.Service, func(string)) (bench.Artifact, error),
) error {
	groups := together(list)
	jobs = min(jobs, max(1, len(groups)))
	progress := &buildProgress{env: env, jobs: jobs, total: len(list), expect: expected(list, rt)}
	failures := make(map[string]error, len(list))
	var mu sync.Mutex
	queue := make(chan []bench.Service)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for group := range queue {
				for _, svc := range group {
					if ctx.Err() != nil {
						break
					}
					name, began := selected(svc), time.Now()
					progress.begin(name)
					a, err := build(ctx, svc, func(line string) { progress.line(name, line) })
					if ctx.Err() != nil && err != nil {
						progress.end(name, "", "stopped")
						break
					}
					if err != nil {
						progress.end(name, "", "FAILED after "+units.Duration(time.Since(began)))
						mu.Lock()
						failures[name] = err
						mu.Unlock()
						continue
					}
					progress.end(name, artifactText(a)+", "+units.Duration(time.Since(began)), "")
				}
			}
		})
	}
	for _, group := range groups {
		queue <- group // workers drain it quickly once ctx has ended
	}
	close(queue)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var failed []error
	for _, svc := range list {
		if err := failures[selected(svc)]; err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		failed = append(failed, fmt.Errorf("%d of %d could not be built", len(failed), len(list)))
		return console.WithCode(console.ExitContender, errors.Join(failed...))
	}
	return nil
}

// together puts the variants of one contender into one group: side by side they would all do the
// same work.
func together(list []bench.Service) (groups [][]bench.Service) {
	for _, svc := range list {
		i := slices.IndexFunc(groups, func(group []bench.Service) bool { return group[0].Name == svc.Name })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], svc)
	}
	return groups
}

// expected are the times that earlier builds have taken.
func expected(list []bench.Service, rt bench.Runtime) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, svc := range list {
		if r, ok := contender.LastBuild(svc, rt, contender.BuildOptions{}); ok {
			out[selected(svc)] = r.BuildTime
		}
	}
	return out
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
