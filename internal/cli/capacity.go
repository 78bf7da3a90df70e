package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/capacity"
	"locbench/internal/exit"
	"locbench/internal/results"
	"locbench/internal/safe"
	"locbench/internal/slo"
)

// capacityFlags are the options of locbench capacity beside those that it shares with run.
type capacityFlags struct {
	runFlags
	slo         string
	limits      string
	trial       time.Duration
	warmUp      time.Duration
	resolution  string
	confirm     string
	guess       float64
	most        float64
	connections int
	trials      int
}

func newCapacity(env Env) *cobra.Command {
	var f capacityFlags
	cmd := &cobra.Command{
		Use:   "capacity [CONTENDER[:VARIANT]] --slo OBJECTIVE",
		Short: "Find the highest rate that a contender sustains under an objective and limits",
		Long: `Starts a contender under limits, warms it up, and searches the highest rate of requests at which it still keeps an objective
such as 'p99<50ms,errors<0.1%'. Requests are sent when they are due, whether or not earlier ones were answered (an open loop), and
latency is from when a request was due, so that waiting counts. Dropped requests are errors; a rate at which requests wait for a
connection, or a queue grows, is not sustained.

The search doubles a first guess (half of what a short closed loop reaches) until a rate is too high, narrows the bracket to
--resolution, and confirms: the rate found must hold in --confirm trials (2/3: two of three), else it goes down, and the next one above
must fail. A trial that fails because the client was late or at its limit, or while other work took this machine, says so and nothing
about the contender; the result is then "at least".

With --limits cpus=0.5,1,1.5,2 the same is done for each, launched anew: the capacity curve over limits (memory=128MiB,512MiB works too).

Measures of an objective: p50, p75, p90, p95, p99, p99.9, mean, max (a time), errors (a share). The rest is taken from the profile:
requests, data, store, limits. Every trial is kept as a step in a results folder that 'locbench report' and 'locbench tui' read, and in
capacity.json. Standard output gets the table, or with --json the content of capacity.json.

Exit codes: 0 a rate was found (under at least one of the limits); 1 nothing could be begun; 2 wrong usage; 3 the contender failed;
4 no rate keeps the objective; 130 interrupted.`,
		Example: `  locbench capacity go-nethttp --slo 'p99<50ms,errors<0.1%'
  locbench capacity go-nethttp --slo 'p99<20ms,errors<=0%' --limits cpus=0.5,1,1.5,2
  locbench capacity rs-actix:lto --slo 'p99<50ms' --profile locations --elastic http://127.0.0.1:9200
  locbench capacity --target http://127.0.0.1:8080 --slo 'p99.9<100ms' --guess 500 --trial 20s
  locbench capacity go-nethttp --slo 'p99<50ms' --json | jq '.points[].result.rate'`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			return findCapacity(cmd.Context(), env, f, contenders, cmd.Flags().Changed)
		},
		ValidArgsFunction: func(_ *cobra.Command, done []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(done) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeContenders(f.services), cobra.ShellCompDirectiveNoFileComp
		},
	}
	bindPlace(cmd, &f.runFlags)
	fl := cmd.Flags()
	fl.StringVar(&f.slo, "slo", "", "`OBJECTIVE` to keep, such as 'p99<50ms,errors<0.1%'")
	fl.StringVar(&f.limits, "limits", "", "search under each of these `limits`: cpus=0.5,1,1.5,2 or memory=128MiB,512MiB")
	fl.DurationVar(&f.trial, "trial", 5*time.Second, "length of one trial; longer ones see rarer hiccups")
	fl.DurationVar(&f.warmUp, "warm-up", 5*time.Second, "length of the closed loop before the first trial")
	fl.StringVar(&f.resolution, "resolution", "3%", "`share` by which the rate found and the next one above may differ")
	fl.StringVar(&f.confirm, "confirm", "2/3", "`K/N`: the rate found must hold in K of N trials")
	fl.Float64Var(&f.guess, "guess", 0, "`rate` of the first trial, in requests per second (default half of the warm-up's)")
	fl.Float64Var(&f.most, "max-rate", 0, "no trial is above this `rate` (default 1000000)")
	fl.IntVar(&f.connections, "connections", 0, "the most `connections` that a trial may open (default as many as come due in a second, within 256 and 4096)")
	fl.IntVar(&f.trials, "max-trials", 60, "end the search after so many trials")
	fl.StringVarP(&f.out, "out", "o", "", "results `DIR` (default results/<time>-capacity)")
	fl.BoolVar(&f.json, "json", false, "write the result as JSON to standard output")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress: only warnings, errors and the table")
	_ = cmd.RegisterFlagCompletionFunc("slo", fixed("p99<50ms,errors<0.1%", "p99<100ms", "p99.9<100ms,errors<0.1%", "p95<20ms"))
	_ = cmd.RegisterFlagCompletionFunc("limits", cobra.FixedCompletions([]string{"cpus=0.5,1,1.5,2", "memory=64MiB,128MiB,256MiB,512MiB"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("confirm", fixed("2/3", "1/1", "3/3", "3/5"))
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

// findCapacity is locbench capacity.
func findCapacity(ctx context.Context, env Env, f capacityFlags, contenders []string, changed func(string) bool) error {
	objective, err := f.objective()
	if err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	places, err := f.places(changed)
	if err != nil {
		return err
	}
	if len(contenders) == 0 && f.target == "" {
		return exit.Usagef("name a contender (see 'locbench services list'), or a service that runs by --target URL")
	}
	if f.out == "" {
		f.out = filepath.Join("results", time.Now().Format("20060102-150405")+"-capacity")
	}
	if _, err := os.Lstat(filepath.Join(f.out, capacity.File)); err == nil {
		return exit.Usagef("%s holds a search already: choose another --out", f.out)
	}
	var planned []conducted
	for _, p := range places {
		c, err := f.plan(env, p, contenders, changed, objective)
		if err != nil {
			return err
		}
		planned = append(planned, c)
	}
	first := planned[0].plan
	log := &capacityLog{dir: f.out, record: capacity.Record{
		Schema: capacity.Schema, Contender: first.Profile.Contenders[0], Objective: objective.String(), Resolution: config.Resolution,
		Need: config.Need, Of: config.Of, Length: f.trial, Started: first.Started, Command: public(first).Command,
	}}
	var failures []error
	for i, c := range planned {
		c.plan.Started = time.Now() // all were planned at the beginning
		err := f.searchAt(ctx, env, c, places[i], config, objective, log)
		if err != nil && len(planned) > 1 {
			err = fmt.Errorf("%s: %w", places[i].label, err)
		}
		failures = append(failures, err)
		if ctx.Err() != nil || exit.Code(ctx, err) == exit.Usage {
			break
		}
	}
	if len(log.record.Points) == 0 {
		return errors.Join(failures...)
	}
	return errors.Join(errors.Join(failures...), tellCapacity(env, f, log))
}

// objective reads --slo.
func (f *capacityFlags) objective() (slo.Objective, error) {
	if f.slo == "" {
		return nil, exit.Usagef("--slo is missing: what must be kept, for example --slo 'p99<50ms,errors<0.1%%'")
	}
	o, err := slo.Parse(f.slo)
	if err != nil {
		return nil, exit.Usagef("--slo: %w", err)
	}
	for _, c := range o {
		if c.Metric == slo.Throughput {
			return nil, exit.Usagef("--slo: the throughput is what is searched for: leave %s out", c)
		}
	}
	return o, nil
}

// place is one set of limits to search under.
type place struct {
	label string // "0.5 CPUs"; "" where there is one only
	dir   string // within the results folder
	cpus  float64
	bytes int64
}

// searchAt runs one search and adds its point to the log.
func (f *capacityFlags) searchAt(ctx context.Context, env Env, c conducted, p place, config capacity.Config, objective slo.Objective, log *capacityLog) error {
	point := log.add(capacity.Point{Label: p.label, Limits: c.plan.Profile.Limits, Dir: p.dir})
	h := &hunt{flags: f, config: config, objective: objective, log: log, point: point}
	talk := &capacityTalk{env: env, flags: f, hunt: h, label: p.label}
	c.search, c.follow = h, talk.follow
	err := conduct(ctx, env, c)
	if err == nil {
		err = h.err
	}
	if !talk.begun() {
		log.record.Points = log.record.Points[:point]
		return err
	}
	if run, legs, readErr := results.Read(c.dir); err != nil && readErr == nil && results.NothingRan(run, legs) {
		log.record.Points = log.record.Points[:point]
		return exit.Append(errors.Join(err, results.Discard(c.dir, run)), "nothing ran, so nothing is kept")
	}
	if err != nil {
		log.record.Points[point].Failure = safe.Line(strings.ReplaceAll(err.Error(), "\n", "; "), 2000)
	}
	_, reportErr := rewrite(c.dir)
	return errors.Join(err, reportErr, log.write())
}
