package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// calibrateFlags are the options of locbench calibrate.
type calibrateFlags struct {
	app.RunOptions
	from string // results folder with rounds to use; "": run them
}

func newCalibrate(env Env, runF work[calibrateFlags]) *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate [PROFILE.yaml] [CONTENDER[:VARIANT]]",
		Short: "Measure this machine's noise floor: compare a contender with itself",
		Long: `Runs one contender in ` + strconv.Itoa(2*stats.MinInterval) + ` rounds or more, splits the rounds into two sides, and compares the sides as 'locbench compare'
does. Both sides are the same, so any difference is noise: the smallest change this machine can show. The noise floor
of each headline measure is saved as floor.json in the results folder. 'locbench compare' applies it to results next to
that folder if machine, profile and options match.

The floor holds within one run, where contenders alternate. Two separate runs also differ by what the machine did in
between: calibrate before each, or put both contenders in one run.

Where a run of two contenders is interleaved by default, the contender is interleaved with itself, in ` + strconv.Itoa(2*stats.MinPaired) + ` rounds:
the floor of interleaved runs. With --interleave off, or with 12 to 15 rounds, it is the floor of runs that are not.

The floor depends on profile, limits, store, step length and other work on the machine. Calibrate with the options of
the run you want to compare, and again when the machine changes.

Exit codes are those of 'locbench run'.`,
		Example: `  locbench calibrate                            # go-nethttp, profile quick, ` + strconv.Itoa(2*stats.MinPaired) + ` rounds
  locbench calibrate rs-actix --profile locations --elastic http://127.0.0.1:9200
  locbench calibrate --rounds 20 --connections 64 --duration 5s
  locbench calibrate --interleave off           # for runs that are not interleaved; ` + strconv.Itoa(2*stats.MinInterval) + ` rounds
  locbench calibrate --from results/20261121-080000-quick   # use existing rounds`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			contenders, err := contenderOf(cmd, contenders)
			if err != nil {
				return err
			}
			f.RunOptions = forContenders(f.RunOptions, cmd.Flags(), contenders)
			f.Command = env.Args
			return runF(cmd.Context(), env, f)
		},
		ValidArgsFunction: completeProfileFirst(&f.Services),
	}
	bindPlace(cmd, &f.RunOptions)
	fl := cmd.Flags()
	bindOptions(cmd, &f.RunOptions, func(o profile.Option) bool { return o.Group == profile.OfRuns && o.Name != "threshold" })
	rounds := fl.Lookup("rounds")
	rounds.Usage = "rounds of the contender, half per side"
	rounds.DefValue = fmt.Sprintf("%d, %d if not interleaved", 2*stats.MinPaired, 2*stats.MinInterval)
	fl.StringVarP(&f.Out, "out", "o", "", "results `DIR` (default results/<time>-calibrate)")
	fl.StringVar(&f.from, "from", "", "use the rounds in `DIR`; run nothing")
	fl.BoolVar(&f.Output.JSON, "json", false, "print the noise floor as JSON")
	fl.BoolVarP(&f.Output.Quiet, "quiet", "q", false, "no progress")
	_ = cmd.MarkFlagDirname("from")
	return cmd
}

// calibrate prints the noise floor of the rounds in a folder, or of a run that it makes.
func calibrate(ctx context.Context, env Env, f calibrateFlags) (err error) {
	if f.from == "" {
		if f.from, err = withItself(ctx, env, f.RunOptions); err != nil {
			return err
		}
	}
	return printFloor(env, f.from, f.Contenders, f.Output.JSON)
}

// withItself runs a contender against itself and returns the results folder.
func withItself(ctx context.Context, env Env, o app.RunOptions) (dir string, err error) {
	o.Output.JSON = false
	o.Getenv, o.Out = env.Getenv, cmp.Or(o.Out, app.NewFolder("calibrate"))
	env.Stdout = io.Discard // the table of the run is in its report
	o.Changes = calibration(o, app.Available)
	rounds, _ := strconv.Atoi(o.Changes.Text("rounds")) // 0 if it is not a number
	if rounds < 2*stats.MinInterval {
		return "", console.Usagef("--rounds %s: need at least %d, half per side",
			safe.Line(o.Changes.Text("rounds"), 20), 2*stats.MinInterval)
	}
	return o.Out, app.Run(ctx, env, o)
}

// calibration returns the changes of o for a contender that is compared with itself: the rounds of
// both sides, and interleaved where a run of two such contenders is. available returns the memory
// for contenders in bytes.
func calibration(o app.RunOptions, available func(bench.Runtime) int64) profile.Changes {
	changes := o.Changes
	p, err := app.PlannedProfile(o)
	if err != nil {
		return changes.With("rounds", cmp.Or(changes.Text("rounds"), strconv.Itoa(2*stats.MinInterval)))
	}
	given, _ := strconv.Atoi(changes.Text("rounds"))
	p.Rounds = given / 2
	if len(p.Contenders) == 1 {
		p.Contenders = append(slices.Clone(p.Contenders), p.Contenders...)
	}
	p, _ = profile.Settle(p, available(p.Runtime))
	if p.Interleave > 0 && !changes.Given("interleave") {
		changes = changes.With("interleave", units.Exact(p.Interleave))
	}
	if changes.Text("rounds") != "" {
		return changes
	}
	rounds := 2 * stats.MinInterval
	if p.Interleave > 0 {
		rounds = 2 * stats.MinPaired
	}
	return changes.With("rounds", strconv.Itoa(rounds))
}

func printFloor(env Env, dir string, contenders []string, asJSON bool) error {
	run, trials, err := results.Read(dir)
	if err != nil && len(trials) == 0 {
		return err
	}
	set := compare.Set{Run: analysis.Of(run, trials)}
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
