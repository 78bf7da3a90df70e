package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locbench/internal/app"
	"locbench/internal/app/screens"
	"locbench/internal/bench"
	"locbench/internal/figures/stats"
	"locbench/internal/run/profile"
	"locbench/internal/run/worker"
	"locbench/internal/text/console"
)

func newRun(env Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [CONTENDER[:VARIANT]...]",
		Short: "Run a benchmark: launch, check, load step by step, stop; contender by contender",
		Long: `Runs a profile. Every contender is started under the profile's limits, checked, loaded step by step, and
stopped, in as many rounds as the profile says; contenders alternate, in an order shuffled from a recorded seed.

With --turns 100ms the contenders of a round are alive at the same time, and in each step the load goes from one to
the next every 100 ms, so that noise of the machine affects all alike. Then 'locbench compare' sets round against
round, which shows smaller differences on a noisy machine; with ` + strconv.Itoa(stats.MinPaired) + ` rounds one can
be found. They need memory for all of them at once, and figures of a run in turns are compared with each other only.

Contenders named here replace the profile's. Other options replace single values of it; what was really run is in the
results folder, which is named at the end and holds run.json, a JSON file for every leg, events.jsonl, summary.md and
report.html. It is written after every step: Ctrl-C, or even kill -9, loses only the step that runs. --resume continues.

On a terminal the run is shown live (see 'locbench tui'), and its summary is left on the normal screen; in a pipe, or
with --headless, --quiet or --json, it is shown as text. Standard output gets the final table (or with --json every
event as a line), standard error everything else.

A threshold ("p99<50ms", "errors<0.1%", "throughput>1000") of the profile or of --threshold is judged in every
measured step and kept in the results. With stop=leg or stop=run a miss ends that after the step; from_step=3 leaves
earlier steps out.

--metrics-listen serves the state of the run to Prometheus, from what is known once a second anyway; it cannot hold
the run up.

The client's loop uses io_uring where Linux permits it (for closed loops over HTTP/1.1 in clear), else epoll, and
elsewhere a goroutine for each connection; LOCBENCH_LOOP=io_uring, =epoll or =portable in the environment chooses, and
the results say which it was.

Exit codes: 0 all went well; 1 the run could not begin; 2 wrong usage; 3 not every leg is complete (a contender
failed, the store or the disk was lost); 4 a threshold was missed, or has ended something early, and nothing worse has
happened; 130 interrupted. Where several are true, the first of 130, 3, 4 counts.`,
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
			o := forContenders(f.RunOptions, cmd.Flags(), contenders)
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

// runFlags are the options of locbench run.
type runFlags struct {
	app.RunOptions
	headless bool
	screen   screens.Options
}

// checkResume refuses what a run that is resumed has on record already.
func (f *runFlags) checkResume(fl *pflag.FlagSet, contenders []string) error {
	if f.Resume == "" {
		return nil
	}
	if len(contenders) > 0 {
		return console.Usagef("--resume continues the recorded plan: it takes no contenders")
	}
	recorded := []string{"profile", "out", "cacert", "insecure"}
	for _, o := range profile.Options() {
		if o.Name != "elastic" && o.Name != "target" { // whose passwords are not on record
			recorded = append(recorded, o.Name)
		}
	}
	for _, name := range recorded {
		if fl.Changed(name) {
			return console.Usagef("--resume continues the recorded plan: it takes no --%s", name)
		}
	}
	return nil
}

// bindRun gives cmd the options of locbench run.
func bindRun(cmd *cobra.Command, f *runFlags) {
	fl := cmd.Flags()
	bindPlace(cmd, &f.RunOptions)
	bindOptions(cmd, &f.RunOptions, func(o profile.Option) bool { return o.Group == profile.OfRuns })
	fl.StringVarP(&f.Out, "out", "o", "", "results `DIR` (default results/<time>-<profile>)")
	fl.StringVar(&f.Resume, "resume", "",
		"finish the run in this results `DIR`: complete legs are kept, all others run again")
	fl.BoolVar(&f.KeepGoing, "keep-going", false,
		"try a contender that never became ready in its first round again in every round,"+
			" instead of leaving it out")
	fl.StringVar(&f.MetricsListen, "metrics-listen", "",
		"serve the status of the run at http://`ADDRESS`/metrics, for Prometheus; "+
			"without a host on the loopback interface alone")
	_ = cmd.RegisterFlagCompletionFunc("metrics-listen", cobra.NoFileCompletions)
	bindScreen(cmd, &f.screen)
	fl.BoolVar(&f.headless, "headless", false, "plain text even on a terminal")
	fl.BoolVar(&f.Output.JSON, "json", false, "write every event as a JSON line to standard output")
	fl.BoolVarP(&f.Output.Details, "details", "v", false,
		"more about each step: CPU time by kind, waiting, page faults, context switches, "+
			"network (with --headless)")
	fl.BoolVarP(&f.Output.Quiet, "quiet", "q", false, "no progress: only warnings, errors and the final table")
	_ = cmd.MarkFlagDirname("resume")
}

// flagError says what would be right where a flag's value cannot even be read; other errors of
// flags stay as they are.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := profile.FlagHint(invalid.GetFlag().Value.Type())
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}
