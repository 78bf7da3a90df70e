package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"locbench/internal/analysis"
	"locbench/internal/analysis/compare"
	"locbench/internal/app"
	"locbench/internal/figures/stats"
	"locbench/internal/results"
	"locbench/internal/run/profile"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

func newCalibrate(env Env) *cobra.Command {
	var f app.RunOptions
	var from string
	cmd := &cobra.Command{
		Use:   "calibrate [CONTENDER[:VARIANT]]",
		Short: "Find the smallest difference that this machine can show: a contender against itself",
		Long: `Runs a contender in at least ` + strconv.Itoa(2*stats.MinInterval) + ` rounds, deals the rounds out to two
sides by turns, and compares the sides as 'locbench compare' does. Nothing differs between them, so what does is the
noise of this machine: the floor below which no comparison of as many rounds can claim anything. It is shown for each
headline measure, and kept as floor.json in the results folder, labelled with the machine and the load: 'locbench
compare' applies it to results next to that folder if they are of the same machine, profile and options.

It is the floor between contenders of one run, which take turns. Between runs at two times comes what the machine did
differently then: calibrate each time, or run both as contenders of one run, where it matters.

With --turns (or a profile that has them) the contender takes turns with itself, two rounds at a time: the floor of
runs in turns.

The floor depends on profile, limits, store, the length of the steps and what else the machine does: calibrate with
the options of the run that is to be compared, in full length, and again when the machine has changed.

Exit codes are those of 'locbench run'.`,
		Example: `  locbench calibrate                            # go-nethttp, profile quick, 12 rounds
  locbench calibrate rs-actix --profile locations --elastic http://127.0.0.1:9200
  locbench calibrate --rounds 20 --connections 64 --duration 5s
  locbench calibrate --turns 100ms              # for runs in turns; ` + strconv.Itoa(2*stats.MinPaired) + ` rounds
  locbench calibrate --from results/20261121-080000-quick    # rounds that have been run already`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			asJSON := f.Output.JSON
			if from == "" {
				o := forContenders(f, cmd.Flags(), contenders)
				o.Output.JSON, o.Command = false, env.Args
				var err error
				if from, err = calibrate(cmd.Context(), env, o); err != nil {
					return err
				}
			}
			return tellFloor(env, from, contenders, asJSON)
		},
		ValidArgsFunction: completeContenders(&f.Services),
	}
	bindPlace(cmd, &f)
	fl := cmd.Flags()
	bindOptions(cmd, &f, func(o profile.Option) bool { return o.Group == profile.OfRuns && o.Name != "threshold" })
	rounds := fl.Lookup("rounds")
	rounds.Usage = "repetitions of the contender, half of them for each side"
	rounds.DefValue = strconv.Itoa(2 * stats.MinInterval)
	fl.StringVarP(&f.Out, "out", "o", "", "results `DIR` (default results/<time>-calibrate)")
	fl.StringVar(&from, "from", "", "take the rounds in this results `DIR` instead of running any")
	fl.BoolVar(&f.Output.JSON, "json", false, "write the floor as JSON")
	fl.BoolVarP(&f.Output.Quiet, "quiet", "q", false, "no progress")
	_ = cmd.MarkFlagDirname("from")
	return cmd
}

// calibrate runs a contender against itself and returns the results folder.
func calibrate(ctx context.Context, env Env, o app.RunOptions) (dir string, err error) {
	o.Getenv = env.Getenv
	rounds := 2 * stats.MinInterval
	if text := o.Changes.Text("rounds"); text != "" {
		rounds, _ = strconv.Atoi(text) // 0 where it is not a number
	} else {
		if p, err := app.PlannedProfile(o); err == nil && p.Turns > 0 {
			rounds = 2 * stats.MinPaired
		}
		o.Changes = o.Changes.With("rounds", strconv.Itoa(rounds))
	}
	if rounds < 2*stats.MinInterval {
		return "", console.Usagef("--rounds %s: at least %d are needed, half of them for each side",
			safe.Line(o.Changes.Text("rounds"), 20), 2*stats.MinInterval)
	}
	o.Out = cmp.Or(o.Out, app.NewFolder("calibrate"))
	env.Stdout = io.Discard // the table of the run is in its report
	return o.Out, app.Run(ctx, env, o)
}

func tellFloor(env Env, dir string, contenders []string, asJSON bool) error {
	run, legs, err := results.Read(dir)
	if err != nil && len(legs) == 0 {
		return err
	}
	set := compare.Set{Run: analysis.Of(run, legs)}
	if len(contenders) == 1 && len(run.Profile.Contenders) > 1 {
		set.Contender = contenders[0]
	}
	floor, floorErr := compare.NoiseFloor(set)
	if floorErr != nil {
		return errors.Join(floorErr, err)
	}
	if err := app.WriteFloor(dir, floor); err != nil {
		env.Warn(err)
	}
	if asJSON {
		return writeJSON(env.Stdout, "  ", floor)
	}
	return floor.Text(env.Stdout)
}
