package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locbench/internal/app"
	"locbench/internal/app/screens"
	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/stats"
	"locbench/internal/worker"
)

func newRun(env Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [CONTENDER[:VARIANT]...]",
		Short: "Run a benchmark: launch, check, load step by step, stop; contender by contender",
		Long: `Runs a profile. Every contender is started under the profile's limits, checked, loaded step by step, and stopped, in
as many rounds as the profile says; contenders alternate, in an order shuffled from a recorded seed.

With --turns 100ms the contenders of a round are alive at the same time, and in each step the load goes from one to the next every 100 ms, so
that what the machine does meets all alike. Then 'locbench compare' sets round against round, which shows smaller differences on a noisy
machine; with ` + strconv.Itoa(stats.MinPaired) + ` rounds one can be found. They need memory for all of them at once, and figures of a run in turns are compared with each other only.

Contenders named here replace the profile's. Other options replace single values of it; what was really run is in the
results folder, which is named at the end and holds run.json, a JSON file for every leg, events.jsonl, summary.md and
report.html. It is written after every step: Ctrl-C, or even kill -9, loses only the step that runs. --resume goes on.

On a terminal the run is shown live (see 'locbench tui'), and its summary is left on the normal screen; in a pipe, or with --headless,
--quiet or --json, it is shown as text. Standard output gets the final table (or with --json every event as a line), standard error everything else.

A threshold ("p99<50ms", "errors<0.1%", "throughput>1000") of the profile or of --threshold is judged in every measured step and kept in
the results. With stop=leg or stop=run a miss ends that after the step; from_step=3 leaves earlier steps out.

--metrics-listen serves the state of the run to Prometheus, from what is known once a second anyway; it cannot hold the run up.

The client's loop uses io_uring where Linux permits it (for closed loops over HTTP/1.1 in clear), else epoll, and elsewhere a goroutine for
each connection; LOCBENCH_LOOP=io_uring, =epoll or =portable in the environment chooses, and the results tell which it was.

Exit codes: 0 all went well; 1 the run could not begin; 2 wrong usage; 3 not every leg is complete (a contender failed, the
store or the disk was lost); 4 a threshold was missed, or has ended something early, and nothing worse has happened; 130 interrupted. Where
several are true, the first of 130, 3, 4 counts.`,
		Example: `  locbench run --headless                                   # profile quick on whatever this machine has
  locbench run --profile locations go-nethttp --elastic http://127.0.0.1:9200
  locbench run go-nethttp go-nethttp:release --rounds 6
  locbench run old:v1 old:v2 --services ./mine --turns 100ms --rounds 12    # a small difference, on a noisy machine
  locbench run --runtime process --duration 5s --connections 1,8,64
  locbench run --target http://127.0.0.1:8080               # GET / of a service that already runs
  locbench run --target http://127.0.0.1:8080 rs-actix      # a locations service: its requests and checks
  locbench run --duration 10s --threshold 'p99<50ms,errors<0.1%' --threshold 'errors<20% stop=run'
  locbench run --json | jq 'select(.type=="step_ended").event.result.load.succeeded'
  locbench run --metrics-listen 127.0.0.1:9464               # for Prometheus, while the run lasts
  locbench run --resume results/20261121-080000-locations`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			if err := f.checkResume(cmd.Flags(), contenders); err != nil {
				return err
			}
			o := f.options(cmd.Flags(), contenders)
			o.Command = worker.WithoutFlag(env.Args)
			return run(cmd.Context(), env, o, f)
		},
		ValidArgsFunction: completeContenders(&f.Services),
	}
	bindRun(cmd, &f)
	cmd.Flags().BoolVar(&f.Worker, worker.Flag[2:], false, "take controls from standard input")
	_ = cmd.Flags().MarkHidden(worker.Flag[2:])
	return cmd
}

// run conducts a run in this process, or shows one that a worker conducts.
func run(ctx context.Context, env Env, o app.RunOptions, f runFlags) error {
	switch {
	case !o.Worker && !f.headless && !o.Output.JSON && !o.Output.Quiet && env.HasScreen():
		if err := app.Preflight(o, env.Getenv); err != nil {
			return err
		}
		return screens.Run(ctx, env, f.screen)
	case !o.Worker:
		return app.Run(ctx, env, o)
	case o.Output.JSON:
		return console.Usagef("--json and %s both want standard output", worker.Flag)
	}
	return worker.Run(ctx, env, func(ctx context.Context, controls <-chan bench.Control) error {
		o.Controls = controls
		return app.Run(ctx, env, o)
	})
}

// runFlags are the options of locbench run as they are read from the command line; options says
// which of them were given.
type runFlags struct {
	app.RunOptions
	runtime, memory  string
	cpus             float64
	rounds           int
	duration, turns  time.Duration
	seed             uint64
	http2            bool
	cpuSet           int
	data             string
	cities, vertices int
	dataSeed         uint64
	headless         bool
	screen           screens.Options
}

// options are those of a run, with nil for each flag that was not given.
func (f *runFlags) options(fl *pflag.FlagSet, contenders []string) app.RunOptions {
	o := f.RunOptions
	o.Contenders, o.ProfileNamed = contenders, fl.Changed("profile")
	o.Runtime, o.Memory = given(fl, "runtime", f.runtime), given(fl, "memory", f.memory)
	o.CPUs, o.CPUSet = given(fl, "cpus", f.cpus), given(fl, "cpu-set", f.cpuSet)
	o.Rounds, o.Seed = given(fl, "rounds", f.rounds), given(fl, "seed", f.seed)
	o.Duration, o.Turns = given(fl, "duration", f.duration), given(fl, "turns", f.turns)
	o.HTTP2 = given(fl, "http2", f.http2)
	o.Data = app.DataOptions{
		Name: given(fl, "data", f.data), Cities: given(fl, "cities", f.cities),
		Vertices: given(fl, "vertices", f.vertices), Seed: given(fl, "data-seed", f.dataSeed),
	}
	return o
}

// given points to v if the flag was given.
func given[T any](fl *pflag.FlagSet, name string, v T) *T {
	if !fl.Changed(name) {
		return nil
	}
	return &v
}

// checkResume refuses what a run that goes on has on record already.
func (f *runFlags) checkResume(fl *pflag.FlagSet, contenders []string) error {
	if f.Resume == "" {
		return nil
	}
	if len(contenders) > 0 {
		return console.Usagef("--resume goes on with the recorded plan: it takes no contenders")
	}
	for _, name := range []string{
		"profile", "runtime", "store", "rounds", "duration", "turns", "connections", "cpus", "memory", "seed", "latency",
		"latency-p99", "no-checks", "out", "threshold", "cpu-set", "cacert", "insecure", "data", "cities", "vertices", "data-seed",
	} {
		if fl.Changed(name) {
			return console.Usagef("--resume goes on with the recorded plan: it takes no --%s", name)
		}
	}
	return nil
}

// bindPlace gives cmd the options of locbench run that say what runs, where, and on which data.
func bindPlace(cmd *cobra.Command, f *runFlags) {
	fl := cmd.Flags()
	fl.StringVarP(&f.Profile, "profile", "p", "quick", "`NAME` of a bundled profile, or a YAML file (see 'locbench profiles list')")
	fl.StringVar(&f.runtime, "runtime", "", "docker, process, or auto: docker where an engine answers")
	fl.StringArrayVar(&f.Targets, "target", nil, "load the service that runs at this `[NAME=]URL` instead of starting one; several with names are compared. Without a profile or contender exactly the path and query of the URL are asked")
	fl.StringVar(&f.CACert, "cacert", "", "`FILE` with certificates (PEM) to trust besides those of the system, for targets with https")
	fl.BoolVar(&f.Insecure, "insecure", false, "accept any certificate of a target; recorded")
	fl.StringVar(&f.Store, "store", "", "auto, embedded, external, container or none")
	fl.StringVar(&f.Elastic, "elastic", "", "`URL` of an Elasticsearch 7 to use (see 'locbench seed'); ${NAME} in it is a variable of the environment; implies --store external")
	fl.Float64Var(&f.cpus, "cpus", 0, "CPU quota of a contender, such as 1.5")
	fl.StringVar(&f.memory, "memory", "", "memory limit of a contender, such as 512MiB")
	fl.Uint64Var(&f.seed, "seed", 0, "of the order of the legs and of the drawn ids (default random; recorded)")
	fl.DurationVar(&f.Latency, "latency", 0, "median latency that the embedded store adds to each answer")
	fl.DurationVar(&f.P99, "latency-p99", 0, "99 % quantile of that latency")
	fl.BoolVar(&f.Accept, "accept-failed-checks", false, "compare contenders even if their checks failed; recorded, and shown in table and report")
	fl.BoolVar(&f.NoChecks, "no-checks", false, "skip lifecycle and HTTP checks")
	fl.StringSliceVar(&f.Services, "services", nil, "`DIR` with more contenders (a folder of folders with a service.yaml); may be repeated")
	fl.BoolVar(&f.http2, "http2", false, "load in HTTP/2: over TLS where the target's address is one of https, else from the first byte; one request at a time on each connection")
	fl.IntVar(&f.cpuSet, "cpu-set", 0, "let a contender run on so many different CPUs, or on as many as there are")
	fl.StringVar(&f.data, "data", "", "the dump in this `DIR` (see 'locbench seed --help'), or bundled; other data than the bundled goes without the suite "+app.BundledSuite)
	fl.IntVar(&f.cities, "cities", 0, "generate so many cities (1 to 1,000,000) instead of taking the bundled data")
	fl.IntVar(&f.vertices, "vertices", app.DefaultVertices, "of each shape that --cities generates")
	fl.Uint64Var(&f.dataSeed, "data-seed", app.DefaultDataSeed, "of the data that --cities generates; the same seed gives the same data")
	_ = cmd.RegisterFlagCompletionFunc("data", completeData)
	noFiles(cmd, "cpu-set", "cities")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	_ = cmd.RegisterFlagCompletionFunc("runtime", fixed(bench.Runtimes()...))
	_ = cmd.RegisterFlagCompletionFunc("store", fixed(bench.StoreKinds()...))
	_ = cmd.MarkFlagDirname("services")
}

// bindRun gives cmd the options of locbench run.
func bindRun(cmd *cobra.Command, f *runFlags) {
	fl := cmd.Flags()
	bindPlace(cmd, f)
	fl.IntVar(&f.rounds, "rounds", 0, "lives of each contender; six give a 95 % interval of a median")
	fl.DurationVar(&f.duration, "duration", 0, "length of every step")
	bindTurns(cmd, f)
	fl.StringSliceVar(&f.Connections, "connections", nil, "replace the steps by these `numbers` of connections; also '1 x5 warm-up,2..64 doubling', as in a profile")
	fl.StringArrayVar(&f.Thresholds, "threshold", nil, "`OBJECTIVE` that ends with exit code 4 where a step misses it, such as 'p99<50ms,errors<0.1%' or 'errors<20% stop=leg'; besides those of the profile; may be repeated")
	fl.StringVarP(&f.Out, "out", "o", "", "results `DIR` (default results/<time>-<profile>)")
	fl.StringVar(&f.Resume, "resume", "", "finish the run in this results `DIR`: complete legs are kept, all others run again")
	fl.BoolVar(&f.KeepGoing, "keep-going", false, "try a contender that never became ready in its first life again in every round, instead of leaving it out")
	fl.StringVar(&f.MetricsListen, "metrics-listen", "", "serve how the run stands at http://`ADDRESS`/metrics, for Prometheus; without a host on the loopback interface alone")
	noFiles(cmd, "metrics-listen")
	bindScreen(cmd, &f.screen)
	fl.BoolVar(&f.headless, "headless", false, "plain text even on a terminal")
	fl.BoolVar(&f.Output.JSON, "json", false, "write every event as a JSON line to standard output")
	fl.BoolVarP(&f.Output.Details, "details", "v", false, "tell more of each step: CPU time by kind, waiting, page faults, context switches, network (with --headless)")
	fl.BoolVarP(&f.Output.Quiet, "quiet", "q", false, "no progress: only warnings, errors and the final table")
	_ = cmd.MarkFlagDirname("resume")
}

// bindTurns gives cmd the option that lets contenders take turns.
func bindTurns(cmd *cobra.Command, f *runFlags) {
	cmd.Flags().DurationVar(&f.turns, "turns", 0, "keep the contenders of a round alive side by side, and load them in turns of so long, such as 100ms: what the machine does meets all alike")
	noFiles(cmd, "turns")
}

// noFiles keeps the shell from offering files for these options of cmd.
func noFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

func completeData(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{app.BundledData + "\tthe cities that come along"}, cobra.ShellCompDirectiveDefault // folders too
}

func fixed(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// flagError says what would be right where a flag's value cannot even be read; other errors of
// flags stay as they are.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := map[string]string{
		"int": "write a whole number, such as 6", "uint64": "write a whole number that is not negative, such as 6",
		"float64": "write a number, such as 1.5", "duration": "write a number with its unit, such as 10s",
	}[invalid.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}
