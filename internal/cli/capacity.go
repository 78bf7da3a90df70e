package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app/search"
	"github.com/locbench/locbench/internal/run/profile"
)

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
