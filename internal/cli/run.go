package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/app/screens"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/worker"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

func newRun(env Env, runF work[runFlags]) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROFILE.yaml] [CONTENDER[:VARIANT]...]",
		Short: "Run a benchmark: start, check, load and stop each contender",
		Long: `Runs a profile: a YAML file, or with --profile also a bundled one. locbench starts each contender under the profile's limits, checks it, loads it step by step, and stops
it. It repeats this for every round, in an order shuffled from a recorded seed.

By default (--interleave auto) all contenders of a round run at the same time, and each step's load switches between
them every 100 ms. Machine noise then affects all of them alike, and 'locbench compare' can find smaller differences. It
takes ` + strconv.Itoa(stats.MinPaired) + ` rounds and memory for all contenders at once. With fewer rounds, too little memory, other CPU quotas, or
steps whose load varies, contenders run one after the other, and the run prints why. Compare interleaved runs only with
each other.

The first line of the text has the estimated time. --rounds 1 is a first look, without verdicts.

A contender is excluded, and the exit code is 3, if one of its checks or rounds failed, if one compared body of its
responses was unexpected (max_unexpected in the profile allows a share), or if all its steps had too many errors.

A single request needs no profile: --target URL with its path and query, --method, --header and --body (a text, or @FILE).
Braces in them are sent; ${NAME} in a header or text is an environment variable.

Contenders named here replace the profile's; --targets replaces its requests by those of vegeta's target file; other
options replace single values. The results folder is named at the end. It holds run.json, one JSON file per trial,
events.jsonl, summary.md and report.html, and is updated after every step: Ctrl-C, or even kill -9, loses only the
current step. Continue with --resume.

On a terminal the run opens in the dashboard (see 'locbench tui'). In a pipe, or with --headless, --quiet or --json, it
prints text: the final table (or events, with --json) to standard output, everything else to standard error.

Steps with connections are closed loops: a stall of the service also stalls the client (coordinated omission). Steps
with a rate are open loops and measure latency from the scheduled time.

A threshold ("p99<50ms", "errors<0.1%", "throughput>1000") is checked in every measured step. stop=trial or stop=run
ends the trial or the run after the step that misses it; from_step=3 skips earlier steps.

--metrics-listen serves the state of the run to Prometheus. It does not slow the run down.

Two engines send the load: fast is locbench's own, for HTTP/1.1 without TLS on Linux; vegeta is vegeta's attacker, also
for HTTP/2 and TLS, on every system. By default fast runs where it applies, vegeta elsewhere. --engine, or else
LOCBENCH_ENGINE, selects one. Results, report and 'locbench compare' say which was used; a resumed run uses its engine
again.

Exit codes: 0 success; 1 the run could not start; 2 wrong usage; 3 not every trial is complete (a contender failed, or
the store or disk was lost), a contender is excluded, or nothing succeeded in any of its measured steps; 4 a threshold
was missed; 130 interrupted. If several apply, the first of 130, 3, 4.`,
		Example: `  locbench run --headless                                   # profile quick on this machine
  locbench run mine.yaml                                    # your profile, as with --profile
  locbench run go-nethttp go-nethttp:release --rounds 8 --out results/mine   # interleaved; then 'locbench compare'
  locbench run go-nethttp go-nethttp:release --rounds 6     # one after the other
  locbench run --runtime process --duration 5s --connections 1,8,64
  locbench run --target http://127.0.0.1:8080               # GET / of a running service
  locbench run --target old=http://127.0.0.1:8080 --target new=http://127.0.0.1:8081   # compare two
  locbench run --target http://127.0.0.1:8080/orders --body '{"item": 7}' --header 'Authorization: Bearer ${TOKEN}'
  locbench run --target http://127.0.0.1:8080/orders/7 --method PUT --body @order.json --connections 50 --duration 10s
  locbench run --targets targets.txt --target http://127.0.0.1:8080   # the requests of vegeta's target file
  locbench run --target http://127.0.0.1:8080 go-nethttp    # a locations service ('locbench serve'): its requests
  locbench run --duration 10s --threshold 'p99<50ms,errors<0.1%' --threshold 'errors<20% stop=run'
  locbench run --json | jq 'select(.type=="step_ended").event.result.load.succeeded'
  locbench run --profile locations --elastic http://127.0.0.1:9200
  locbench run --metrics-listen 127.0.0.1:9464              # for Prometheus, during the run
  locbench run --resume results/20261121-080000-locations`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			if err := f.checkResume(cmd.Flags(), contenders); err != nil {
				return err
			}
			contenders, err := profileFirst(cmd.Flags(), contenders)
			if err != nil {
				return err
			}
			f.RunOptions = forContenders(f.RunOptions, cmd.Flags(), contenders)
			f.Command, f.Given = worker.WithoutFlag(env.Args), given(cmd.Flags(), contenders)
			return runF(cmd.Context(), env, f)
		},
		ValidArgsFunction: completeProfileFirst(&f.Services),
	}
	bindRun(cmd, &f)
	cmd.Flags().BoolVar(&f.Worker, worker.Flag[2:], false, "read controls from standard input")
	_ = cmd.Flags().MarkHidden(worker.Flag[2:])
	return cmd
}

// run conducts a run in this process, or in a worker that a screen shows.
func run(ctx context.Context, env Env, f runFlags) error {
	o := f.RunOptions
	switch {
	case !o.Worker && !f.headless && !o.Output.JSON && !o.Output.Quiet && env.HasScreen():
		if err := app.Preflight(o, env.Getenv); err != nil {
			return err
		}
		return screens.Run(ctx, env, f.screen)
	case !o.Worker:
		return app.Run(ctx, env, o)
	case o.Output.JSON:
		return console.Usagef("--json and %s both use standard output", worker.Flag)
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

// checkResume rejects options that a resumed run takes from its record.
func (f *runFlags) checkResume(fl *pflag.FlagSet, contenders []string) error {
	if f.Resume == "" {
		return nil
	}
	if len(contenders) > 0 {
		return console.Usagef("--resume runs the recorded plan: name no profile and no contenders")
	}
	recorded := []string{"profile", "method", "body", "out", "cacert", "insecure"}
	for _, o := range profile.Options() {
		if o.Name != kinds.ByURL.AddressOption && o.Name != "target" { // their passwords are not recorded
			recorded = append(recorded, o.Name)
		}
	}
	for _, name := range recorded {
		if fl.Changed(name) {
			return console.Usagef("--resume runs the recorded plan: omit --%s", name)
		}
	}
	return nil
}

// bindRun gives cmd the options of locbench run.
func bindRun(cmd *cobra.Command, f *runFlags) {
	fl := cmd.Flags()
	bindPlace(cmd, &f.RunOptions)
	bindOptions(cmd, &f.RunOptions, func(o profile.Option) bool { return o.Group == profile.OfRuns })
	fl.StringVarP(&f.Request.Method, "method", "m", "",
		"`METHOD` of the request to --target (default GET, or POST with --body)")
	fl.StringArrayVarP(&f.Request.Headers, "header", "H", nil,
		"header `'NAME: VALUE'` of that request, ${NAME} from the environment; repeatable")
	fl.StringVarP(&f.Request.Body, "body", "d", "", "body of that request: a `TEXT`, or @FILE")
	for _, name := range []string{"method", "header"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	fl.StringVarP(&f.Out, "out", "o", "", "results `DIR` (default results/<time>-<profile>)")
	fl.StringVar(&f.Resume, "resume", "",
		"resume the run in `DIR`: keep complete trials, repeat the others")
	fl.BoolVar(&f.RetryNotReady, "retry-not-ready", false,
		"retry contenders that were not ready in their first round, instead of skipping them")
	fl.StringVar(&f.MetricsListen, "metrics-listen", "",
		"serve Prometheus metrics at http://`ADDRESS`/metrics; without a host, on loopback only")
	_ = cmd.RegisterFlagCompletionFunc("metrics-listen", cobra.NoFileCompletions)
	bindScreen(cmd, &f.screen)
	fl.BoolVar(&f.headless, "headless", false, "print text even on a terminal")
	fl.BoolVar(&f.Output.JSON, "json", false, "print every event as a JSON line")
	fl.BoolVarP(&f.Output.Verbose, "verbose", "v", false,
		"more detail per step: CPU time, waits, page faults, switches, network (with --headless)")
	fl.BoolVarP(&f.Output.Quiet, "quiet", "q", false, "print only warnings, errors and the final table")
	_ = cmd.MarkFlagDirname("resume")
}

// flagError adds the expected value to the error about a flag's unreadable value, and the nearest
// flag to that about an unknown one. It returns other errors unchanged.
func flagError(fl *pflag.FlagSet, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		fl.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := strictyaml.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return fmt.Errorf("%w; did you mean --%s?", err, near)
		}
		return err
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := flagHints[invalid.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}

// flagHints are what to write for a flag, by its type.
var flagHints = map[string]string{
	"int": "write a whole number, such as 6", "uint64": "write a whole number from 0, such as 6",
	"float64": "write a number, such as 1.5", "duration": "write a number with its unit, such as 10s",
}
