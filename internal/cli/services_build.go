package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/docker"
	"locbench/internal/exit"
	"locbench/internal/units"
)

// maxJobs bounds --jobs: each is a compiler that wants CPUs and memory of its own.
const maxJobs = 64

func newServicesBuild(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var runtimeName string
	var rebuild bool
	var jobs int
	var sel selection
	cmd := &cobra.Command{
		Use:   "build {NAME[:VARIANT]... | --all}",
		Short: "Build contenders ahead of a run",
		Long: `Builds the Docker image of each contender named, or with --runtime process its binary. 'locbench run' does the same
when needed; an unchanged contender is not built again, and what the engine or the tools keep stays.

With --all every contender in every variant is built that can be built here; what is left out is told, with the reason.
Contenders are built beside each other, the variants of one after each other, since they share what is kept. How long a
build took and how large its outcome is goes into the user's cache folder.

Exit codes: 0 all are built; 2 wrong usage; 3 at least one failed (all others are built); 130 interrupted.`,
		Example: `  locbench services build go-nethttp:release
  locbench services build --all --jobs 2
  locbench services build rs-actix rs-axum --runtime process`,
		Args:              args(cobra.ArbitraryArgs),
		ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, names []string) error {
			sel.names, sel.runtime = names, bench.Runtime(runtimeName)
			if cmd.Flags().Changed("jobs") && (jobs < 1 || jobs > maxJobs) {
				return exit.Usagef("--jobs %d: a number from 1 to %d", jobs, maxJobs)
			}
			return buildServices(cmd.Context(), env, *dirs, sel, jobs, builder{runtime: sel.runtime, rebuild: rebuild})
		},
	}
	sel.bind(cmd)
	cmd.Flags().StringVar(&runtimeName, "runtime", string(bench.RuntimeDocker), "docker or process")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "build even what is unchanged: its base images may not be")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", 0, "contenders that are built at the same time (default one for two CPUs, at most 4)")
	_ = cmd.RegisterFlagCompletionFunc("runtime", fixed("docker", "process"))
	return cmd
}

func (s *selection) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.all, "all", false, "every contender in every variant, as far as this machine can build it")
	cmd.Flags().BoolVar(&s.defaults, "defaults", false, "with --all: only the default variant of each")
}

func buildServices(ctx context.Context, env Env, dirs []string, sel selection, jobs int, b builder) error {
	if b.runtime != bench.RuntimeDocker && b.runtime != bench.RuntimeProcess {
		return exit.Usagef("--runtime %q: docker or process", b.runtime)
	}
	list, err := sel.choose(env, dirs)
	if err != nil {
		return err
	}
	cpus := runtime.NumCPU()
	if b.runtime == bench.RuntimeDocker {
		if b.engine, err = docker.Connect(ctx); err != nil {
			return err
		}
		defer b.engine.Close()
		cpus = b.engine.Info().CPUs
	}
	if jobs == 0 {
		jobs = min(4, max(1, cpus/2))
	}
	return buildAll(ctx, env, list, jobs, b.runtime, b.build)
}

// buildAll builds the contenders, jobs of them at the same time, and tells at the end which failed and how.
func buildAll(ctx context.Context, env Env, list []bench.Service, jobs int, rt bench.Runtime,
	build func(context.Context, bench.Service, func(string)) (bench.Artifact, error),
) error {
	groups := together(list)
	jobs = min(jobs, max(1, len(groups)))
	board := newBuildBoard(env, list, jobs, expected(list, rt))
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
					board.begin(name)
					a, err := build(ctx, svc, func(line string) { board.line(name, line) })
					if ctx.Err() != nil && err != nil {
						board.end(name, "", "stopped")
						break
					}
					if err != nil {
						board.end(name, "", "FAILED after "+units.Duration(time.Since(began)))
						mu.Lock()
						failures[name] = err
						mu.Unlock()
						continue
					}
					board.end(name, artifactText(a)+", "+units.Duration(time.Since(began)), "")
				}
			}
		})
	}
	for _, group := range groups {
		queue <- group // workers drain it quickly once ctx has ended
	}
	close(queue)
	workers.Wait()
	board.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var told []error
	for _, svc := range list {
		if err := failures[selected(svc)]; err != nil {
			told = append(told, err)
		}
	}
	if len(told) > 0 {
		told = append(told, fmt.Errorf("%d of %d could not be built", len(told), len(list)))
		return exit.With(exit.Contender, errors.Join(told...))
	}
	return nil
}

// together puts the variants of one contender into one group: side by side they would all do the same work.
func together(list []bench.Service) (groups [][]bench.Service) {
	at := map[string]int{}
	for _, svc := range list {
		i, ok := at[svc.Name]
		if !ok {
			i = len(groups)
			at[svc.Name] = i
			groups = append(groups, nil)
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
