package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/app/screens"
	"github.com/locbench/locbench/internal/app/search"
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

func newTry(env Env, runF work[app.RunOptions]) *cobra.Command {
	var o app.RunOptions
	cmd := &cobra.Command{
		Use:   "try PROFILE [CONTENDER[:VARIANT]...]",
		Short: "Send each request of a profile once and show the exchange",
		Long: `Starts each contender of the profile, sends the setup requests, each request and session once, and the teardown
requests, then stops it. It prints requests and responses as sent over the wire (secrets masked), and everything the
profile does not expect. It measures nothing, runs no suites and saves nothing.

'locbench run' does the same before each load, without printing.

Exit codes: 0 all as expected; 1 could not start; 2 wrong usage; 3 a contender failed or a response was unexpected; 130
interrupted.`,
		Example: `  locbench try bench.yaml                                  # each of its contenders
  locbench try bench.yaml orders --services ./svc
  locbench try bench.yaml --target http://127.0.0.1:8080   # a running service
  locbench try bench.yaml | grep -B 20 FAILED              # what is unexpected`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, given []string) error {
			rest, err := profileFirst(cmd.Flags(), given)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("profile") {
				if len(given) == 0 {
					return console.Usagef("no profile named; usage: %s", cmd.UseLine())
				}
				o.Profile, rest = given[0], given[1:]
			}
			o.ProfileNamed, o.Contenders, o.Command = true, rest, env.Args
			return runF(cmd.Context(), env, o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(given) == 0 {
				return completeProfiles(cmd, given, typed)
			}
			return completeContenders(&o.Services)(cmd, given, typed)
		},
	}
	bindSite(cmd, &o)
	cmd.Flags().StringVarP(&o.Profile, "profile", "p", "", "the profile, as in 'locbench run'; all words are contenders")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	return cmd
}

func newCapacity(env Env, runF work[search.Options]) *cobra.Command {
	var o search.Options
	cmd := &cobra.Command{
		Use:   "capacity [PROFILE.yaml] [CONTENDER[:VARIANT]] --slo CONDITION",
		Short: "Find the highest request rate that meets an SLO",
		Long: `Finds the highest request rate at which a contender still meets an SLO such as 'p99<50ms,errors<0.1%'. Requests are
sent on schedule, whether or not earlier ones have been answered (open loop); latency counts from the scheduled time.
Dropped requests are errors. A rate fails if requests wait for a connection or a queue grows.

The search starts at half of what a short closed loop reaches, doubles the rate until it fails, narrows the bracket to
--resolution, and confirms: the rate must hold in --confirm probes (2/3: two of three), and the next higher rate must
fail. If a probe fails because the client or other work on this machine was the limit, the result is "at least".

--limits cpus=0.5,1,1.5,2 repeats the search for each limit, each in a new start (or memory=128MiB,512MiB). With
--limits cpus=0.5,1 --limits memory=64MiB,128MiB the first values belong together, and the second ones.

Measures: p50, p75, p90, p95, p99, p99.9, mean, max (a time), errors (a percentage). Requests, data, store and limits
come from the profile. Every probe is saved as a step in a results folder, for 'locbench report' and 'locbench tui',
and in capacity.json. Standard output gets the conclusion, which report.html and summary.md have too, or with --json the
content of capacity.json.

Exit codes: 0 a rate was found (for at least one limit); 1 could not start; 2 wrong usage; 3 the contender failed; 4 no
rate meets the SLO; 130 interrupted.`,
		Example: `  locbench capacity go-nethttp --slo 'p99<50ms,errors<0.1%'
  locbench capacity go-nethttp --slo 'p99<20ms,errors<=0%' --limits cpus=0.5,1,1.5,2
  locbench capacity rs-actix:lto --slo 'p99<50ms' --profile locations --elastic http://127.0.0.1:9200
  locbench capacity --target http://127.0.0.1:8080 --slo 'p99.9<100ms' --guess 500 --probe 20s
  locbench capacity go-nethttp --slo 'p99<50ms' --json | jq '.points[].result.rate'`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			contenders, err := contenderOf(cmd, contenders)
			if err != nil {
				return err
			}
			o.RunOptions = forContenders(o.RunOptions, cmd.Flags(), contenders)
			o.Command, o.Getenv = env.Args, env.Getenv
			return runF(cmd.Context(), env, o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, done []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(done) > 1 || len(done) == 1 && !profile.IsFile(done[0]) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeProfileFirst(&o.Services)(cmd, done, word)
		},
	}
	bindPlace(cmd, &o.RunOptions)
	bindOptions(cmd, &o.RunOptions, func(o profile.Option) bool { return o.Name == "engine" })
	fl := cmd.Flags()
	fl.StringVar(&o.SLO, "slo", "", "`CONDITION` to meet, such as 'p99<50ms,errors<0.1%'")
	fl.StringArrayVar(&o.Limits, "limits", nil, "search once per `LIMIT`: cpus=0.5,1,1.5,2 or memory=128MiB,512MiB; both, given as two flags, are pairs")
	fl.DurationVar(&o.Probe, "probe", 5*time.Second, "length of one probe; longer ones catch rarer stalls")
	fl.DurationVar(&o.WarmUp, "warm-up", 5*time.Second, "least length of the warm-up (closed loop); longer while compilers are at work")
	fl.StringVar(&o.Resolution, "resolution", "3%", "largest gap between the reported rate and the next failing one")
	fl.StringVar(&o.Confirm, "confirm", "2/3", "`K/N`: the rate must pass K of N probes")
	fl.Float64Var(&o.Guess, "guess", 0,
		"first `rate` to try, in requests/s (default half of the warm-up's)")
	fl.Float64Var(&o.MaxRate, "max-rate", 0, "highest `rate` to try (default 1000000)")
	fl.IntVar(&o.MaxConnections, "connections", 0,
		"most `connections` per probe (default one second of requests, from 256 to 4096)")
	fl.IntVar(&o.MaxProbes, "max-probes", 60, "stop after this many probes")
	fl.StringVarP(&o.Out, "out", "o", "", "results `DIR` (default results/<time>-capacity)")
	fl.BoolVar(&o.Output.JSON, "json", false, "print the result as JSON")
	fl.BoolVarP(&o.Output.Quiet, "quiet", "q", false, "print only warnings, errors and the conclusion")
	_ = cmd.RegisterFlagCompletionFunc("slo",
		fixed("p99<50ms,errors<0.1%", "p99<100ms", "p99.9<100ms,errors<0.1%", "p95<20ms"))
	_ = cmd.RegisterFlagCompletionFunc("limits", fixed("cpus=0.5,1,1.5,2", "memory=64MiB,128MiB,256MiB,512MiB"))
	_ = cmd.RegisterFlagCompletionFunc("confirm", fixed("2/3", "1/1", "3/3", "3/5"))
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
