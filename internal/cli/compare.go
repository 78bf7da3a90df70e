package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// compareFlags are the flags of "locbench compare".
type compareFlags struct {
	failOn, failOnOpen, same, floor, format string
	asJSON, force                           bool
}

func newCompare(env Env) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare OLD NEW | DIR [CONTENDER CONTENDER]",
		Short: "Compare two results, or two contenders of one result",
		Long: `Compares contenders of two results folders, or two contenders of one folder: ` + compare.Titles() + `,
and CPU per request of each need. Each measure is better, worse, same or inconclusive, with the rounds still needed and what settles it soonest. Both sides
need ` + strconv.Itoa(stats.MinInterval) + ` rounds, interleaved ones ` + strconv.Itoa(stats.MinPaired) + `. A folder
with two contenders needs no names.

Two separate runs also differ by what the machine did in between. For close calls compare two contenders of one run,
which interleaves them by default. CPU per request and p99 are compared at one step for both sides. Limits, environment,
image or folder that the profile of one run sets for a contender are the subject of its comparison. Changes below the
noise floor are inconclusive: locbench takes it from floor.json of 'locbench calibrate' next to the results (same
machine and load), or from --floor for all measures.

Rounds that were still warming up are left out; there is no verdict if too few are left. If limits, data, requests, steps, machine or runtime differ, the
results are not comparable: compare lists the differences and gives no verdict, unless --force.

--fail-on sets the changes that fail: exit code 4 if the whole 95% interval of a change is beyond the limit, so noise
does not fail a build. A new side in which no request succeeded fails every condition on throughput, latency and CPU. A
condition is open if the results cannot decide it: too few rounds, no values, or no response in a round. If none failed
and any is open, the exit code is 5, because a gate that cannot fail protects nothing; --fail-on-open pass returns 0.
Each outcome goes to standard error. Measures:

` + gateTable() + `
Exit codes: 0 no --fail-on change; 4 a certain one; 5 none is certain and any is open; 1 results unreadable, or not
comparable with --fail-on; 2 wrong usage.`,
		Example: `  locbench run go-nethttp go-nethttp:release --rounds 8 --headless --out results/mine   # makes the folder of the next ones
  locbench compare results/mine                    # a folder with two contenders
  locbench compare results/mine go-nethttp:release go-nethttp
  locbench compare results/mine --fail-on 'throughput<-5%,p99>+10%'
  locbench compare results/mine --fail-on 'p99>+10%' --fail-on-open pass   # too few rounds pass, too
  locbench compare results/mine --format md        # for a pull request
  locbench compare results/mine --json
  locbench compare results/old results/new         # two runs of one contender`,
		Args: args(cobra.RangeArgs(1, 3)),
		RunE: func(_ *cobra.Command, what []string) error { return f.run(env, what) },
	}
	cmd.Flags().StringVar(&f.failOn, "fail-on", "", "`changes` that fail with exit code 4: "+compare.Gates())
	cmd.Flags().StringVar(&f.failOnOpen, "fail-on-open", openFails,
		"`OUTCOME` of --fail-on if results cannot decide a change: fail (exit code 5) or pass (0)")
	_ = cmd.RegisterFlagCompletionFunc("fail-on-open", fixed(openFails, openPasses))
	cmd.Flags().StringVar(&f.same, "same", "3%", "largest `change` that counts as \"same\"")
	cmd.Flags().StringVar(&f.floor, "floor", "",
		"noise floor: smaller `changes` are inconclusive; such as 4%, or none (default: as calibrated)")
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORMAT`: text, json, or md: a comment for a pull request")
	_ = cmd.RegisterFlagCompletionFunc("format", fixed("text", "md", "json"))
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.Flags().BoolVar(&f.force, "force", false, "give verdicts even if results are not comparable")
	return cmd
}

// gateTable lists what --fail-on takes, with what it compares.
func gateTable() string {
	var b strings.Builder
	for _, g := range compare.GateTable() {
		fmt.Fprintf(&b, "  %-18s  %s\n", g[0], g[1])
	}
	return b.String()
}

// The values of --fail-on-open.
const (
	openFails  = "fail"
	openPasses = "pass"
)

func (f compareFlags) run(env Env, what []string) error {
	var gates []compare.Gate
	var err error
	if f.failOn != "" {
		if gates, err = compare.ParseGates(f.failOn); err != nil {
			return console.Usagef("--fail-on: %w", err)
		}
	}
	if !slices.Contains([]string{openFails, openPasses}, f.failOnOpen) {
		return console.Usagef("--fail-on-open %q: expected %s or %s", f.failOnOpen, openFails, openPasses)
	}
	if !slices.Contains([]string{"text", "md", "json"}, f.format) {
		return console.Usagef("--format %q: expected text, md or json", f.format)
	}
	margin, err := percentage(f.same, 100)
	if err != nil {
		return console.Usagef("--same: %w", err)
	}
	floor := 0.0
	if f.floor != "" && f.floor != "none" {
		if floor, err = percentage(f.floor, maxFloor); err != nil {
			return console.Usagef("--floor: %w", err)
		}
	}
	before, after, err := readSides(env, what)
	if err != nil {
		return err
	}
	options := compare.Options{Rule: stats.Rule{Margin: margin, Floor: floor}, Force: f.force}
	if f.floor == "" {
		dirs := what
		if len(what) == 3 { // the second and the third are contenders
			dirs = what[:1]
		}
		options.Floor = app.FindFloor(before.Run.Run, after.Run.Run, dirs...)
	}
	result, err := compare.Compare(before, after, options)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	checked := result.CheckGates(gates)
	switch {
	case f.asJSON || f.format == "json":
		err = writeJSON(env.Stdout, "  ", struct {
			compare.Result
			Gates []compare.GateResult `json:"gates,omitempty"`
		}{result, checked})
	case f.format == "md":
		err = result.Markdown(env.Stdout, checked)
	default:
		width, _ := console.Width(env.Stdout)
		err = result.Text(env.Stdout, width)
	}
	if err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return reportGates(env, checked, f.failOnOpen == openPasses)
}

// readSides reads both sides: two folders, or two contenders of one.
func readSides(env Env, what []string) (before, after compare.Set, err error) {
	read := func(dir string) (compare.Set, error) {
		run, trials, err := readFolder(env, dir)
		return compare.Set{Run: analysis.Of(run, trials)}, err
	}
	if before, err = read(what[0]); err != nil {
		return before, after, meantContenders(err, what)
	}
	if len(what) == 2 {
		after, err = read(what[1])
		return before, after, err
	}
	pair := what[1:]
	if len(pair) == 0 {
		if pair, err = onlyTwo(what[0], before); err != nil {
			return before, after, err
		}
	}
	after = before
	before.Contender, after.Contender = pair[0], pair[1]
	return before, after, nil
}

// meantContenders adds what would be right to the error about words that name no folders but look
// like two contenders.
func meantContenders(err error, words []string) error {
	if len(words) != 2 {
		return err
	}
	for _, word := range words {
		_, unlike := profile.ParseSelection(word)
		if _, missing := os.Stat(word); unlike != nil || !errors.Is(missing, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%w; two contenders of one run: locbench compare DIR %s %s", err, words[0], words[1])
}

// onlyTwo returns the labels of the contenders in dir, in the order of the profile, if there are
// two.
func onlyTwo(dir string, set compare.Set) ([]string, error) {
	var labels []string
	for _, trial := range set.Run.Trials {
		if label := trial.Trial.Label(); !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	at := func(label string) int {
		return slices.IndexFunc(set.Run.Run.Profile.Contenders, func(s bench.Selection) bool { return s.String() == label })
	}
	slices.SortFunc(labels, func(a, b string) int { return cmp.Or(at(a)-at(b), strings.Compare(a, b)) })
	switch len(labels) {
	case 2:
		return labels, nil
	case 1:
		return nil, console.Usagef("%s has one contender, %s: name a second results folder", dir, labels[0])
	}
	return nil, console.Usagef("%s has %d contenders: name two: %s", dir, len(labels), strings.Join(labels, ", "))
}

// maxFloor is the limit of --floor in percent: a busy machine has a noise floor of some hundred.
const maxFloor = 10_000

// percentage reads a percentage such as "3%", which must be above 0 and below most.
func percentage(text string, most float64) (float64, error) {
	digits, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(v > 0 && v < most) {
		return 0, fmt.Errorf("%q: expected 0%% to %g%%, such as 3%%", text, most)
	}
	return v / 100, nil
}

// reportGates prints the results of the gates on standard error. Its error has the exit code; open
// gates are an error unless openPass is set.
func reportGates(env Env, gates []compare.GateResult, openPass bool) error {
	failed, open, refused, hint := 0, 0, "", ""
	for _, g := range gates {
		fmt.Fprintln(env.Stderr, safe.Line(fmt.Sprintf("%-7s %s %s: %s", g.Outcome, g.Contender, g.Gate, g.Why), 400))
		switch g.Outcome {
		case compare.Failed:
			failed++
		case compare.Open:
			open++
		case compare.Refused:
			if refused = g.Why; !g.Excluded {
				hint = " (--force checks anyway)"
			}
		}
	}
	switch {
	case failed == 1:
		return console.WithCode(console.ExitThreshold, errors.New("1 change fails --fail-on"))
	case failed > 1:
		return console.WithCode(console.ExitThreshold, fmt.Errorf("%d changes fail --fail-on", failed))
	case refused != "":
		return fmt.Errorf("--fail-on not checked: results are not comparable: %s%s", refused, hint)
	case open > 0 && !openPass:
		return console.WithCode(console.ExitUndecided,
			fmt.Errorf("--fail-on not decided: %d of %d changes open (--fail-on-open pass returns 0)", open, len(gates)))
	}
	return nil
}
