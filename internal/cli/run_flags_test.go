package cli

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

// planOf returns the profile that results from args, with the real flags of 'locbench run'.
func planOf(args ...string) (bench.Profile, error) {
	var f runFlags
	var p bench.Profile
	cmd := &cobra.Command{Use: "run", SilenceErrors: true, SilenceUsage: true}
	cmd.RunE = func(cmd *cobra.Command, contenders []string) (err error) {
		p, err = app.PlannedProfile(forContenders(f.RunOptions, cmd.Flags(), contenders))
		return err
	}
	bindRun(cmd, &f)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return console.Usagef("%w", flagError(cmd.Flags(), err)) })
	cmd.SetOut(io.Discard)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(context.Background())
	return p, err
}

func TestRun_DataAndCPUSet(t *testing.T) {
	for _, tt := range []struct {
		args   string
		data   bench.DataSpec
		suites []string
		cpus   int
	}{
		{"", bench.DataSpec{}, []string{"locations"}, 0},
		{"--data bundled", bench.DataSpec{}, []string{"locations"}, 0},
		{"--data ./dump --cpu-set 2", bench.DataSpec{Dir: "./dump"}, nil, 2},
		{"--cities 500", bench.DataSpec{Cities: 500, Vertices: 60, Seed: 1}, nil, 0},
		{"--cities 500 --vertices 12 --data-seed 7", bench.DataSpec{Cities: 500, Vertices: 12, Seed: 7}, nil, 0},
	} {
		t.Run(tt.args, func(t *testing.T) {
			p, err := planOf(strings.Fields(tt.args)...)
			if err != nil {
				t.Errorf("%s: %v", tt.args, err)
			}
			if p.Data != tt.data || !slices.Equal(p.Checks.Suites, tt.suites) || p.Limits.CPUSet != tt.cpus {
				t.Errorf("%s: data %+v, suites %q, CPU set %d", tt.args, p.Data, p.Checks.Suites, p.Limits.CPUSet)
			}
		})
	}
}

func TestRun_ChangesKeepTheProfile(t *testing.T) {
	base, err := profile.Load("locations", profiles.FS)
	testenv.OK(t, err)
	before, _ := profile.Format(base)
	given := profile.Changes{"contenders": {"x"}, "store": {"embedded"}, "cities": {"5"}, "duration": {"1s"}, "threshold": {"p99<1s"}}
	if _, err := profile.Change(base, given, nil); err != nil {
		t.Fatal(err)
	}
	if after, _ := profile.Format(base); !bytes.Equal(before, after) {
		t.Errorf("the profile has become\n%s", after)
	}
}

func TestRun_InvalidOptions(t *testing.T) {
	for args, want := range map[string]string{
		"--cpu-set 0":               "--cpu-set 0: write from 1 to 1024",
		"--cpu-set -3":              "write from 1 to 1024",
		"--cpu-set 5000":            "1024",
		"--cities 0":                "from 1 to 1000000",
		"--cities 1000001":          "from 1 to 1000000",
		"--cities 5 --vertices 3":   "12",
		"--cities 5 --data x":       "choose one",
		"--vertices 20":             "--vertices and --data-seed",
		"--data-seed 2":             "--vertices and --data-seed",
		"--data=":                   "no folder given",
		"--cities many":             `--cities many: write a whole number, such as 6`,
		"--cpus lots":               `--cpus lots: write a number, such as 1.5`,
		"--cpus NaN":                "cpus",
		"--duration 10":             "--duration 10: add a unit: `10s`",
		"--cities 5 --data-seed -1": "--data-seed -1: write a whole number from 0",
	} {
		t.Run(args, func(t *testing.T) {
			_, err := planOf(strings.Fields(args)...)
			if console.ExitCode(t.Context(), err) != console.ExitUsage || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want exit code %d and %q", args, err, console.ExitUsage, want)
			}
		})
	}
}

func TestRun_DataCompleted(t *testing.T) {
	says(t, 0, "bundled\t…:0", "__complete", "run", "--data", "")
}

// A mistyped option or command is wrong usage, and the nearest one is named. Nothing is suggested
// where nothing is near, and no option that is not in the help.
func TestUsage(t *testing.T) {
	const dashes = "write it after --: locbench tui -- "
	for args, want := range map[string]string{
		"run --rouns 3":                   "unknown flag: --rouns; did you mean --rounds?",
		"run --durration=3s":              "unknown flag: --durration; did you mean --duration?",
		"compare --fial-on throughput<-5": "did you mean --fail-on?",
		"run --hedless":                   "did you mean --headless?",
		"profiles new --hlep":             "did you mean --help?",
		"rnu":                             "did you mean 'locbench run'?",
		"profiles lst":                    "did you mean 'locbench profiles list'?",
		"tui --profile x.yaml":            "unknown flag: --profile: an option of 'locbench run'; " + dashes + "--profile NAME",
		"tui -p x.yaml":                   dashes + "--profile NAME",
		"tui --rounds=3":                  dashes + "--rounds INT",
		"tui --no-checks":                 dashes + "--no-checks",
		"tui --servces x":                 "did you mean --services?",
		"tui --nosuchthingever":           "unknown flag: --nosuchthingever (see 'locbench tui --help')",
		"tui -x":                          "unknown shorthand flag: 'x' in -x (see 'locbench tui --help')",
		"run --xylophone 3":               "unknown flag",
		"run --worke":                     "unknown flag",
		"run -z":                          "unknown shorthand flag",
		"foobarbaz":                       "unknown command",
	} {
		code, out, errs := shell(nil).runs(t, strings.Fields(args)...)
		if code != console.ExitUsage || out != "" || !strings.Contains(want, "did you mean") && strings.Contains(errs, "did you mean") {
			t.Errorf("%s: exit code %d, %q%q", args, code, out, errs)
		}
		has(t, args, errs, want)
	}
}
