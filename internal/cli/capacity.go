package cli

import (
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/app"
	"locbench/internal/app/search"
)

func newCapacity(env Env) *cobra.Command {
	var f app.RunOptions
	var o search.Options
	cmd := &cobra.Command{
		Use:   "capacity [CONTENDER[:VARIANT]] --slo OBJECTIVE",
		Short: "Find the highest rate that a contender sustains under an objective and limits",
		Long: `Starts a contender under limits, warms it up, and searches the highest rate of requests at which it still
keeps an objective such as 'p99<50ms,errors<0.1%'. Requests are sent when they are due, whether or not earlier ones
were answered (an open loop), and latency is from when a request was due, so that waiting counts. Dropped requests are
errors; a rate at which requests wait for a connection, or a queue grows, is not sustained.

The search doubles a first guess (half of what a short closed loop reaches) until a rate is too high, narrows the
bracket to --resolution, and confirms: the rate found must hold in --confirm trials (2/3: two of three), else it goes
down, and the next one above must fail. A trial that fails because the client was late or at its limit, or while other
work took this machine, says so and nothing about the contender; the result is then "at least".

With --limits cpus=0.5,1,1.5,2 the same is done for each, launched again: the capacity curve over limits
(memory=128MiB,512MiB works too).

Measures of an objective: p50, p75, p90, p95, p99, p99.9, mean, max (a time), errors (a share). The rest is taken from
the profile: requests, data, store, limits. Every trial is kept as a step in a results folder that 'locbench report'
and 'locbench tui' read, and in capacity.json. Standard output gets the table, or with --json the content of
capacity.json.

Exit codes: 0 a rate was found (under at least one of the limits); 1 nothing could be begun; 2 wrong usage; 3 the
contender failed; 4 no rate keeps the objective; 130 interrupted.`,
		Example: `  locbench capacity go-nethttp --slo 'p99<50ms,errors<0.1%'
  locbench capacity go-nethttp --slo 'p99<20ms,errors<=0%' --limits cpus=0.5,1,1.5,2
  locbench capacity rs-actix:lto --slo 'p99<50ms' --profile locations --elastic http://127.0.0.1:9200
  locbench capacity --target http://127.0.0.1:8080 --slo 'p99.9<100ms' --guess 500 --trial 20s
  locbench capacity go-nethttp --slo 'p99<50ms' --json | jq '.points[].result.rate'`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			o.RunOptions = forContenders(f, cmd.Flags(), contenders)
			o.Command, o.Getenv = env.Args, env.Getenv
			return search.Run(cmd.Context(), env, o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, done []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(done) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeContenders(&f.Services)(cmd, done, word)
		},
	}
	bindPlace(cmd, &f)
	fl := cmd.Flags()
	fl.StringVar(&o.Objective, "slo", "", "`OBJECTIVE` to keep, such as 'p99<50ms,errors<0.1%'")
	fl.StringVar(&o.Limits, "limits", "", "search under each of these `limits`: cpus=0.5,1,1.5,2 or memory=128MiB,512MiB")
	fl.DurationVar(&o.Trial, "trial", 5*time.Second, "length of one trial; longer ones see rarer hiccups")
	fl.DurationVar(&o.WarmUp, "warm-up", 5*time.Second, "length of the closed loop before the first trial")
	fl.StringVar(&o.Resolution, "resolution", "3%", "`share` by which the rate found and the next one above may differ")
	fl.StringVar(&o.Confirm, "confirm", "2/3", "`K/N`: the rate found must hold in K of N trials")
	fl.Float64Var(&o.Guess, "guess", 0,
		"`rate` of the first trial, in requests per second (default half of the warm-up's)")
	fl.Float64Var(&o.MaxRate, "max-rate", 0, "no trial is above this `rate` (default 1000000)")
	fl.IntVar(&o.MaxConnections, "connections", 0,
		"the most `connections` that a trial may open (default as many as come due in a second, within 256 and 4096)")
	fl.IntVar(&o.MaxTrials, "max-trials", 60, "end the search after so many trials")
	fl.StringVarP(&f.Out, "out", "o", "", "results `DIR` (default results/<time>-capacity)")
	fl.BoolVar(&f.Output.JSON, "json", false, "write the result as JSON to standard output")
	fl.BoolVarP(&f.Output.Quiet, "quiet", "q", false, "no progress: only warnings, errors and the table")
	_ = cmd.RegisterFlagCompletionFunc("slo",
		fixed("p99<50ms,errors<0.1%", "p99<100ms", "p99.9<100ms,errors<0.1%", "p95<20ms"))
	_ = cmd.RegisterFlagCompletionFunc("limits", fixed("cpus=0.5,1,1.5,2", "memory=64MiB,128MiB,256MiB,512MiB"))
	_ = cmd.RegisterFlagCompletionFunc("confirm", fixed("2/3", "1/1", "3/3", "3/5"))
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
