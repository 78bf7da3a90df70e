package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
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
		data   string
		suites []string
		cpus   int
	}{
		{"", "", []string{"locations"}, 0},
		{"--data bundled", "", []string{"locations"}, 0},
		{"--data ./dump --cpu-set 2", `{"cities":{"dir":"./dump"}}`, nil, 2},
		{"--cities 500", `{"cities":{"count":500,"vertices":60,"seed":1}}`, nil, 0},
		{"--cities 500 --vertices 12 --data-seed 7", `{"cities":{"count":500,"vertices":12,"seed":7}}`, nil, 0},
	} {
		t.Run(tt.args, func(t *testing.T) {
			p, err := planOf(strings.Fields(tt.args)...)
			if err != nil {
				t.Errorf("%s: %v", tt.args, err)
			}
			if string(p.Needs[0].Of) != tt.data || !slices.Equal(p.Checks.Suites, tt.suites) || p.Limits.CPUSet != tt.cpus {
				t.Errorf("%s: data %+v, suites %q, CPU set %d", tt.args, p.Needs, p.Checks.Suites, p.Limits.CPUSet)
			}
		})
	}
}

func TestRun_ChangesKeepTheProfile(t *testing.T) {
	base, err := profile.Load("locations", profiles.FS)
	testenv.OK(t, err)
	before := fmt.Sprintf("%+v", base)
	given := profile.Changes{"contenders": {"x"}, "store": {"embedded"}, "cities": {"5"}, "duration": {"1s"}, "threshold": {"p99<1s"}}
	if _, err := profile.Change(base, given, nil); err != nil {
		t.Fatal(err)
	}
	testenv.Equal(t, fmt.Sprintf("%+v", base), before)
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
		"--vertices 20":             "--vertices 20: it needs --cities",
		"--data-seed 2":             "--data-seed 2: it needs --cities",
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
		"tui --profile x.yaml": "unknown flag: --profile: an option of 'locbench run'; " + dashes +
			"--profile NAME",
		"tui -p x.yaml":         dashes + "--profile NAME",
		"tui --rounds=3":        dashes + "--rounds INT",
		"tui --no-checks":       dashes + "--no-checks",
		"tui --servces x":       "did you mean --services?",
		"tui --nosuchthingever": "unknown flag: --nosuchthingever (see 'locbench tui --help')",
		"tui -x":                "unknown shorthand flag: 'x' in -x (see 'locbench tui --help')",
		"run --xylophone 3":     "unknown flag",
		"run --worke":           "unknown flag",
		"run -z":                "unknown shorthand flag",
		"foobarbaz":             "unknown command",
		"run a.yaml -p b.yaml":  "two profiles: a.yaml and --profile b.yaml; write one",
		"try a.yaml -p b.yaml":  "two profiles: a.yaml and --profile b.yaml; write one",
		"try":                   "no profile named; usage: locbench try",
		"capacity a.yaml b c":   "expected one contender, not 2: b c",
		"calibrate b c":         "expected one contender, not 2: b c",
		"run a.yaml --resume x": "name no profile and no contenders",
		"run none.yaml":         "unknown profile: no file none.yaml",
	} {
		code, out, errs := shell(nil).runs(t, strings.Fields(args)...)
		if code != console.ExitUsage || out != "" || !strings.Contains(want, "did you mean") && strings.Contains(errs,
			"did you mean") {
			t.Errorf("%s: exit code %d, %q%q", args, code, out, errs)
		}
		has(t, args, errs, want)
	}
}

// The floor is that of a run with the same options, interleaved by
// default.
func TestCalibrate(t *testing.T) {
	ramp := fileOf(t, "ramp.yaml", "contenders: [a]\nrequests: [{get: /x}]\nsteps: [{connections: {from: 1, to: 9}}]\n")
	large := fileOf(t, "large.yaml", "contenders: [a]\nlimits: {memory: 4GiB}\nrequests: [{get: /x}]\nsteps: [3]\n")
	off := fileOf(t, "off.yaml", "contenders: [a]\ninterleave: off\nrequests: [{get: /x}]\nsteps: [3]\n")
	for _, c := range []struct {
		name, profile, rounds, interleave string
		wantRounds, wantInterleave        string
	}{
		{"default", "quick", "", "", "16", "500ms"},
		{"off", "quick", "", "off", "12", "off"},
		{"by the profile", off, "", "", "12", ""},
		{"another slice", "quick", "", "250ms", "16", "250ms"},
		{"too few rounds for pairs", "quick", "15", "", "15", ""},
		{"enough", "quick", "20", "", "20", "500ms"},
		{"ramp", ramp, "", "", "12", ""},
		{"memory", large, "", "", "12", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := app.RunOptions{Profile: c.profile, Changes: profile.Changes{}}
			for flag, value := range map[string]string{"rounds": c.rounds, "interleave": c.interleave} {
				if value != "" {
					o.Changes = o.Changes.With(flag, value)
				}
			}
			got := calibration(o, func(bench.Runtime) int64 { return 8 << 30 })
			if got.Text("rounds") != c.wantRounds || got.Text("interleave") != c.wantInterleave {
				t.Errorf("%s rounds, interleave %q; want %s, %q", got.Text("rounds"), got.Text("interleave"), c.wantRounds, c.wantInterleave)
			}
		})
	}
}

// The memory of this machine does not decide what is
// interleaved in another one, and does where contenders are processes.
func TestCalibrate_EngineElsewhere(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://192.0.2.7:2376")
	huge := "limits: {memory: 900GiB}\nrequests: [{get: /x}]\nsteps: [3]\n"
	for runtime, want := range map[string]string{"docker": "16", "process": "12"} {
		file := fileOf(t, "huge.yaml", "contenders: [a]\nruntime: "+runtime+"\n"+huge)
		got := calibration(app.RunOptions{Profile: file, Changes: profile.Changes{}}, app.Available)
		if app.Available(bench.RuntimeProcess) > 0 && got.Text("rounds") != want {
			t.Errorf("%s: %s rounds, want %s", runtime, got.Text("rounds"), want)
		}
	}
}

func TestProfiles_Rounds(t *testing.T) {
	for text, want := range map[string]string{
		"requests: [{get: /x}]\nsteps: [3]\n":                                      "1 (8, interleaved, with two contenders or more)",
		"interleave: off\nrequests: [{get: /x}]\nsteps: [3]\n":                     "1 (6, with two contenders or more)",
		"rounds: 5\nrequests: [{get: /x}]\nsteps: [3]\n":                           "5",
		"contenders: [a]\nrequests: [{get: /x}]\nsteps: [3]\n":                     "1",
		"contenders: [a, b]\nrequests: [{get: /x}]\nsteps: [3]\n":                  "8",
		"contenders: [a, b]\ninterleave: off\nrequests: [{get: /x}]\nsteps: [3]\n": "6",
	} {
		p, err := profile.Parse("p.yaml", []byte(text))
		if got := settledRounds(p); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestSetup draws random setups and parses their arguments with the flags of
// 'locbench run': the plan is the one on the screen, with each value, and the arguments preset the
// same setup again.
func TestSetup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	valid := 0
	for range 400 {
		c := setup.Choice{Profile: pick("quick", "locations"), Set: profile.Changes{}}
		set := func(flag string, values ...string) {
			if r.IntN(3) == 0 {
				c.Set[flag] = []string{pick(values...)}
			}
		}
		set("rounds", "1", "6", "100")
		set("cpus", "0.5", "2")
		set("cpu-set", "1", "16")
		set("memory", "1GiB", "64MiB", "-1", "nonsense")
		set("connections", "1,8", "1 x5 warm-up, 2..2048 doubling", " 4 ", "2..32 doubling,64 for 20s", "1 warm-up")
		set("duration", "1s", "2m30s")
		set("interleave", "100ms", "0s", "1ms")
		set("runtime", "docker", "process", "auto")
		switch r.IntN(4) {
		case 0:
			c.Set["store"] = []string{pick("embedded", "container", "auto", "none")}
		case 1:
			c.Set["store"] = []string{"external"}
			c.Set["elastic"] = []string{pick("http://10.0.0.5:9200", "http://me:s e'cret@h:1/x?y", "http://me:pass@h:1")}
		}
		switch r.IntN(4) {
		case 0:
			c.Set["cities"] = []string{pick("1", "100000")}
		case 1:
			c.Set["data"] = []string{pick("bundled", "./dump", "a b,c'\"$(x)", "-x")}
		}
		if r.IntN(3) == 0 {
			c.Contenders = []bench.Selection{{Contender: "go-nethttp"}, {Contender: "x", Variant: "lto"}}
		}
		if r.IntN(5) == 0 {
			c.Extra = []string{`--services="a,b"`}
			c.Set["no-checks"], c.Set["seed"], c.Set["threshold"] = []string{"true"}, []string{"7"}, []string{"p99<1s,errors<1%"}
		}
		base, err := profile.Load(c.Profile, profiles.FS)
		testenv.OK(t, err)
		shown, shownErr := profile.Change(base, c.Changes(), nil)
		plan, planErr := planOf(c.Args()...)
		if (shownErr == nil) != (planErr == nil) || shownErr != nil && shownErr.Error() != planErr.Error() {
			t.Fatalf("%q: the screen says %v, the command line %v", c.Args(), shownErr, planErr)
		}
		again, services, err := setupChoice(c.Args())
		samePlan, sameErr := planOf(again.Args()...)
		if err != nil || !reflect.DeepEqual(samePlan, plan) || (sameErr == nil) != (planErr == nil) || c.Extra != nil && !slices.Equal(services, []string{"a,b"}) {
			t.Fatalf("%q begins %q, services %q, %v", c.Args(), again.Args(), services, err)
		}
		if planErr != nil {
			continue
		}
		valid++
		if !reflect.DeepEqual(shown, plan) {
			t.Fatalf("%q:\nscreen       %+v\ncommand line %+v", c.Args(), shown, plan)
		}
		planHas(t, c, plan)
	}
	if valid < 50 {
		t.Errorf("only %d setups are valid", valid)
	}
}

// planHas fails unless the plan has each value of a choice.
func planHas(t *testing.T, c setup.Choice, p bench.Profile) {
	t.Helper()
	value := func(option string) string { return profile.ByName(option).Get(p) }
	got := map[string]string{
		"rounds": strconv.Itoa(p.Rounds), "cpus": strconv.FormatFloat(p.Limits.CPUs, 'f', -1, 64), "cpu-set": strconv.Itoa(p.Limits.CPUSet),
		"runtime": string(p.Runtime), "store": value("store"), "elastic": value("elastic"), "cities": value("cities"), "data": value("data"),
		"interleave": p.Interleave.String(),
	}
	if got["data"] == "" {
		got["data"] = "bundled"
	}
	for flag := range c.Set {
		want := c.Set.Text(flag)
		if value, ok := got[flag]; ok && value != want {
			t.Errorf("%q: --%s %s became %s", c.Args(), flag, want, value)
		}
	}
	if c.Contenders != nil && !slices.Equal(c.Contenders, p.Contenders) {
		t.Errorf("%q: contenders %v", c.Args(), p.Contenders)
	}
}

func TestSetup_InvalidOptions(t *testing.T) {
	for args, want := range map[string]string{"--nonsense": "unknown flag", "--mouse=maybe": "invalid", "Not/A/Contender": "Not/A/Contender"} {
		t.Run(args, func(t *testing.T) {
			_, _, err := setupChoice(strings.Fields(args))
			if console.ExitCode(t.Context(), err) != console.ExitUsage || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", args, err)
			}
		})
	}
}
