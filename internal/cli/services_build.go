package cli

import (
	"github.com/spf13/cobra"

	"locbench/internal/app/contenders"
	"locbench/internal/bench"
	"locbench/internal/exit"
)

// maxJobs bounds --jobs: each is a compiler that wants CPUs and memory of its own.
const maxJobs = 64

func newServicesBuild(env Env, dirs *[]string, complete cobra.CompletionFunc) *cobra.Command {
	var runtimeName string
	var o contenders.BuildOptions
	cmd := &cobra.Command{
		Use:   "build {NAME[:VARIANT]... | --all}",
		Short: "Build contenders ahead of a run",
		Long: `Builds the Docker image of each contender named, or with --runtime process its binary. 'locbench run' does the same
when needed; an unchanged contender is not built again, and what the engine or the tools keep stays.

With --all every contender in every variant is built that can be built here; what is left out is shown, with the reason.
Contenders are built beside each other, the variants of one after each other, since they share what is kept. How long a
build took and how large its outcome is goes into the user's cache folder.

Exit codes: 0 all are built; 2 wrong usage; 3 at least one failed (all others are built); 130 interrupted.`,
		Example: `  locbench services build go-nethttp:release
  locbench services build --all --jobs 2
  locbench services build rs-actix rs-axum --runtime process`,
		Args:              args(cobra.ArbitraryArgs),
		ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Names, o.Runtime, o.Dirs = names, bench.Runtime(runtimeName), *dirs
			if cmd.Flags().Changed("jobs") && (o.Jobs < 1 || o.Jobs > maxJobs) {
				return exit.Usagef("--jobs %d: a number from 1 to %d", o.Jobs, maxJobs)
			}
			return contenders.Build(cmd.Context(), env, o)
		},
	}
	bindSelection(cmd, &o.Selection)
	cmd.Flags().StringVar(&runtimeName, "runtime", string(bench.RuntimeDocker), "docker or process")
	cmd.Flags().BoolVar(&o.Rebuild, "rebuild", false, "build even what is unchanged: its base images may not be")
	cmd.Flags().IntVarP(&o.Jobs, "jobs", "j", 0, "contenders that are built at the same time (default one for two CPUs, at most 4)")
	_ = cmd.RegisterFlagCompletionFunc("runtime", fixed("docker", "process"))
	return cmd
}

// bindSelection gives cmd the options that select contenders without naming them.
func bindSelection(cmd *cobra.Command, s *contenders.Selection) {
	cmd.Flags().BoolVar(&s.All, "all", false, "every contender in every variant, as far as this machine can build it")
	cmd.Flags().BoolVar(&s.Defaults, "defaults", false, "with --all: only the default variant of each")
}
