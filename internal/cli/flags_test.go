package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/app/screens"
	"github.com/locbench/locbench/internal/app/search"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

// parsed returns the options that a command line gives to the work of its command, and does not do
// that work.
func parsed(t testing.TB, args ...string) (options any) {
	t.Helper()
	env := Env{Args: args, Getenv: func(name string) string { return "of-" + name }}
	root := &cobra.Command{Use: "locbench"}
	asRoot(root)
	root.AddCommand(newRun(env, keep[runFlags](&options)), newTry(env, keep[app.RunOptions](&options)),
		newTUI(env, keep[screens.DashboardOptions](&options)), newCapacity(env, keep[search.Options](&options)),
		newCalibrate(env, keep[calibrateFlags](&options)), newSeed(env, keep[seedFlags](&options)))
	root.SetArgs(args)
	testenv.OK(t, root.ExecuteContext(context.Background()))
	return options
}

func keep[Options any](kept *any) work[Options] {
	return func(_ context.Context, _ Env, o Options) error { *kept = o; return nil }
}

// set lists the fields of options that have a value, but the command line itself, functions and channels.
func set(options reflect.Value) (all []string) {
	for i := range options.NumField() {
		field, at := options.Field(i), options.Type().Field(i)
		switch {
		case field.IsZero(), field.Kind() == reflect.Slice && field.Len() == 0, at.Name == "Command", at.Name == "Given", field.Kind() == reflect.Func, field.Kind() == reflect.Chan:
		case field.Kind() == reflect.Struct:
			all = append(all, set(field)...)
		default:
			all = append(all, fmt.Sprintf("%s=%v", at.Name, field))
		}
	}
	return all
}

// Each flag and word of a command is an option of its work.
func TestOptions(t *testing.T) {
	for args, want := range map[string]string{
		"run":                                "Profile=quick Changes=map[]",
		"run a.yaml b c:lto":                 "Profile=a.yaml ProfileNamed=true Contenders=[b c:lto] Changes=map[]",
		"run -p locations b":                 "Profile=locations ProfileNamed=true Contenders=[b] Changes=map[]",
		"run --connections 1,2":              "Profile=quick Changes=map[connections:[1,2]]",
		"run --resume x":                     "Profile=quick Changes=map[] Resume=x",
		"run --controlled --ascii":           "Profile=quick Changes=map[] Worker=true ASCII=true",
		"run --rounds 3 --cpus=2 --rounds 4": "Profile=quick Changes=map[cpus:[2] rounds:[4]]",
		"run --connections 1 --connections 8,64 --threshold p99<1s --threshold errors<1%,p50<1s --no-checks": "Profile=quick " +
			"Changes=map[connections:[1,8,64] no-checks:[true] threshold:[p99<1s errors<1%,p50<1s]]",
		"run --target u --target v=w -m PUT -H 'A: b, c' -H B:d -d @x": "Profile=quick Changes=map[target:[u v=w]] " +
			"Method=PUT Headers=[A: b, c B:d] Body=@x",
		"run --target u --method PUT --header A:b --body x": "Profile=quick Changes=map[target:[u]] Method=PUT Headers=[A:b] Body=x",
		"run --services a,b --services c --allow-files d --allow-files e,f --cacert g --insecure --accept-failed-checks": "Profile=quick " +
			"Changes=map[] Services=[a b c] AllowFiles=[d e f] CACert=g Insecure=true Accept=true",
		"run -o x --retry-not-ready --metrics-listen 1 --headless --json -v -q --theme dark": "Profile=quick Changes=map[] " +
			"Out=x RetryNotReady=true JSON=true Quiet=true Verbose=true MetricsListen=1 headless=true Theme=dark",
		"try a.yaml b":              "Profile=a.yaml ProfileNamed=true Contenders=[b] Changes=map[]",
		"try quick b":               "Profile=quick ProfileNamed=true Contenders=[b] Changes=map[]",
		"try b -p quick --target u": "Profile=quick ProfileNamed=true Contenders=[b] Changes=map[target:[u]]",
		"capacity":                  "Profile=quick Changes=map[] Resolution=3% Probe=5s WarmUp=5s Confirm=2/3 MaxProbes=60",
		"capacity a.yaml b --slo p99<1s --limits cpus=1,2 --limits memory=1GiB,2GiB --probe 1s --warm-up 2s --resolution 5% " +
			"--confirm 1/1 --guess 5 --max-rate 9 --connections 7 --max-probes 3 -o x --json -q --engine vegeta": "Profile=a.yaml " +
			"ProfileNamed=true Contenders=[b] Changes=map[engine:[vegeta]] Out=x JSON=true Quiet=true SLO=p99<1s Resolution=5% " +
			"Limits=[cpus=1,2 memory=1GiB,2GiB] Probe=1s WarmUp=2s Confirm=1/1 Guess=5 MaxRate=9 MaxConnections=7 MaxProbes=3",
		"calibrate": "Profile=quick Changes=map[]",
		"calibrate a.yaml b --rounds 20 --interleave off --from x -o y --json -q": "Profile=a.yaml ProfileNamed=true Contenders=[b] " +
			"Changes=map[interleave:[off] rounds:[20]] Out=y JSON=true Quiet=true from=x",
		"seed --elastic http://${U}:${P}@h:9200": "elastic=http://of-U:of-P@h:9200 Vertices=60 Seed=1 workers=4",
		"seed --elastic http://h:9200 --cities 5 --vertices 12 --data-seed 7 --workers 3 --force -q": "elastic=http://h:9200 Cities=5 " +
			"Vertices=12 Seed=7 workers=3 force=true quiet=true",
		"seed --elastic http://h:9200 --from x": "elastic=http://h:9200 Dir=x Vertices=60 Seed=1 workers=4",
		"tui x":                                 "Dir=x",
		"tui a.yaml -- --rounds 3":              "",
		"tui --browse --ascii --theme light":    "ASCII=true Theme=light Browse=true",
	} {
		testenv.Equal(t, strings.Join(set(reflect.ValueOf(parsed(t, words(args)...))), " "), want, args)
	}
}

// planOf returns the profile that 'locbench run' makes of its arguments.
func planOf(t testing.TB, args ...string) (bench.Profile, error) {
	return app.PlannedProfile(parsed(t, append([]string{"run"}, args...)...).(runFlags).RunOptions)
}

func TestRun_DataAndCPUSet(t *testing.T) {
	for args, want := range map[string]string{
		"":                          "[locations] 0 ",
		"--data bundled":            "[locations] 0 ",
		"--data ./dump --cpu-set 2": `[] 2 {"cities":{"dir":"./dump"}}`,
		"--cities 500":              `[] 0 {"cities":{"count":500,"vertices":60,"seed":1}}`,
		"--cities 500 --vertices 12 --data-seed 7": `[] 0 {"cities":{"count":500,"vertices":12,"seed":7}}`,
	} {
		p := testenv.Must(planOf(t, strings.Fields(args)...))(t)
		testenv.Equal(t, fmt.Sprint(p.Checks.Suites, " ", p.Limits.CPUSet, " ", p.Needs[0].Of), want, args)
	}
	says(t, 0, "bundled\t…:0", "__complete", "run", "--data", "")
}

func TestRun_ChangesKeepTheProfile(t *testing.T) {
	base := testenv.Must(profile.Load("locations", profiles.FS))(t)
	before := fmt.Sprintf("%+v", base)
	given := profile.Changes{"contenders": {"x"}, "store": {"embedded"}, "cities": {"5"}, "duration": {"1s"}, "threshold": {"p99<1s"}}
	testenv.OK(t, testenv.Err(profile.Change(base, given, nil)))
	testenv.Equal(t, fmt.Sprintf("%+v", base), before)
}

// What cannot be run is wrong usage, with what would be right, before anything starts. The nearest
// option or command is named, where one is near and in the help.
func TestUsage(t *testing.T) {
	const of, dashes = "run --target http://127.0.0.1:1/x ", "write it after --: locbench tui -- "
	const profiled = "run --target http://127.0.0.1:1 --profile mine.yaml "
	t.Chdir(testenv.Folder(t, map[string]string{
		"mine.yaml": "requests: [{path: /x}]\nsteps: [1]\n", "t.txt": "GET http://shop:8080/a\n", "wrong.txt": "GET http://shop:8080/a HTTP/1.1\n",
	}))
	for args, want := range map[string]string{
		"run --cpu-set 0":                 "--cpu-set 0: write from 1 to 1024",
		"run --cpu-set -3":                "write from 1 to 1024",
		"run --cpu-set 5000":              "1024",
		"run --cities 0":                  "from 1 to 1000000",
		"run --cities 1000001":            "from 1 to 1000000",
		"run --cities 5 --vertices 3":     "12",
		"run --cities 5 --data x":         "choose one",
		"run --vertices 20":               "--vertices 20: it needs --cities",
		"run --data-seed 2":               "--data-seed 2: it needs --cities",
		"run --data=":                     "no folder given",
		"run --cities many":               "--cities many: write a whole number, such as 6",
		"run --cpus lots":                 "--cpus lots: write from 0.01 to 1024",
		"run --cpus NaN":                  "cpus",
		"run --duration 10":               "--duration 10: add a unit: `10s`",
		"run --cities 5 --data-seed -1":   "--data-seed -1: write a whole number from 0",
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
		"tui a b":                         "expected one results folder or profile, not 2",
		"tui x --browse":                  "a results folder takes neither --browse nor run options",
		"run --xylophone 3":               "unknown flag",
		"run --worke":                     "unknown flag",
		"run -z":                          "unknown shorthand flag",
		"foobarbaz":                       "unknown command",
		"run a.yaml -p b.yaml":            "two profiles: a.yaml and --profile b.yaml; write one",
		"try a.yaml -p b.yaml":            "two profiles: a.yaml and --profile b.yaml; write one",
		"try":                             "no profile named; usage: locbench try",
		"try quick --only x":              "unknown flag: --only (see 'locbench try --help')",
		"export x --format csv --step 1":  "unknown flag: --step",
		"profiles new x.yaml --targets t": "unknown flag: --targets",
		"capacity a.yaml b c":             "expected one contender, not 2: b c",
		"calibrate b c":                   "expected one contender, not 2: b c",
		"run a.yaml --resume x":           "name no profile and no contenders",
		"run --resume x --method POST":    "omit --method",
		"run --resume x --rounds 3":       "omit --rounds",
		"run none.yaml":                   "unknown profile: no file none.yaml",
		"run mine":                        `unknown contender "mine"; did you mean the profile mine.yaml?`,
		// A YAML file before the contenders is the profile, for each command that runs one.
		"run mine.yaml missing":                        `unknown contender "missing"`,
		"calibrate mine.yaml missing":                  `unknown contender "missing"`,
		"calibrate --profile mine.yaml missing":        `unknown contender "missing"`,
		"capacity --slo p99<1s mine.yaml missing":      `unknown contender "missing"`,
		"try mine.yaml missing":                        `unknown contender "missing"`,
		"run --metrics-listen 1:2:3 --target http://h": "use HOST:PORT",
		"run --threshold p98<1ms --target http://h":    `no measure "p98"`,
		"run --threshold 'p99<1ms window=5s'":          "window=5s",
		"run --json --controlled":                      "--json and --controlled both use standard output",
		"seed":                                         "--elastic is missing, such as",
		"seed --elastic http://h --from x --cities 5":  "use either --from",
		"seed --elastic http://h --cities 0":           "must be 1 to 1,000,000",
		"seed --elastic http://h --vertices 12":        "need --cities",
		"seed --elastic http://h --workers 257":        "must be 1 to 256",
		"run --engine vegetta":                         "--engine vegetta: did you mean `vegeta`?",
		"run --engine epoll":                           "--engine epoll: one of: auto, fast, vegeta",
		"calibrate --engine both":                      "--engine both: one of: auto, fast, vegeta",
		// Engine fast is refused where it does not apply, with the reason.
		"run --target https://127.0.0.1:1 --engine fast": "load engine fast does not apply to this run: it has no TLS; " +
			"use vegeta, or auto",
		of + "--http2 --engine fast":                                       "it has no HTTP/2",
		"capacity --target https://127.0.0.1:1 --slo p99<1s --engine fast": "it has no TLS",
		"calibrate --target https://127.0.0.1:1 --engine fast --no-checks": "it has no TLS",
		of + "--cpus=1":                      "not with --target",
		of + "--memory=1GiB":                 "not with --target",
		of + "--cpu-set=1":                   "not with --target",
		of + "--insecure":                    "--insecure needs --target https://",
		of + "--cacert mine.yaml --insecure": "use either --cacert or --insecure",
		"run --target https://127.0.0.1:1 --cacert mine.yaml": "no PEM certificate found",
		"run --target https://127.0.0.1:1 --cacert none.pem":  "no such file",
		// A request without a profile.
		profiled + "--method POST": "--method: not with --profile, which has the requests: write it there, such as " +
			"`- {post: /orders, json: {item: 7}}`",
		profiled + "--body x":                            "--body: not with --profile",
		profiled + "--header 'A: b'":                     "--header: not with --profile",
		of + "--targets x.txt --method POST":             "--method: not with --targets",
		of + "go-nethttp --method POST":                  "--method: not with a contender",
		"run --method POST":                              "--method: add --target URL, such as --target http://127.0.0.1:8080/orders",
		of + "--method 'GET /'":                          "--method 'GET /': write up to 40 letters, such as `GET` or `PURGE`",
		of + "--header 'A: b' --header 'Cookie sid=1'":   "--header, number 2: write 'NAME: VALUE', with a colon",
		of + "--header 'My Header: x'":                   "is not the name of a header",
		of + "--header 'A: b\r\nC: d'":                   "more than one line",
		of + "--header 'Accept: a' --header 'accept: b'": "--header accept: given twice",
		of + "--body @nosuch.json":                       "--body @nosuch.json: ",
		of + "--body @.":                                 "--body @.: ",
		of + "--body @-":                                 "--body @-: write the name of a file: the body is sent many times",
		of + "--body mine.yaml":                          "--body mine.yaml is the name of a file: write @mine.yaml to send that file",
		of + "--header 'X-Key: ${NOPE_X}'":               "environment variable unset or empty: NOPE_X",
		// The requests of a target file.
		"run --targets t.txt":                  "--targets has requests for your own service: name the contender, or add --target URL",
		"run --targets= --target h:1":          "--targets '': write the path of a file",
		"run --targets none.no --target h:1":   "read target file: stat none.no: no such file or directory",
		"run --targets wrong.txt --target h:1": "wrong.txt:1: the URL has a blank; write it as %20, and no version of HTTP",
	} {
		args := words(args)
		if slices.Contains([]string{"run", "calibrate", "capacity"}, args[0]) && !strings.Contains(want, "resume") && !slices.Contains(args, "--resume") {
			args = append(args, "-o", "out")
		}
		code, out, errs := shell(nil).runs(t, args...)
		if code != console.ExitUsage || out != "" || !strings.Contains(want, "did you mean") && strings.Contains(errs, "did you mean") {
			t.Errorf("%q: exit code %d, %q%q", args, code, out, errs)
		}
		has(t, strings.Join(args, " "), errs, want)
	}
	shell{"LOCBENCH_ENGINE": "portable"}.says(t, console.ExitUsage, "LOCBENCH_ENGINE=portable: one of: auto, fast, vegeta, epoll",
		words(of)...)
	left, err := os.ReadDir(".")
	testenv.Check(t, err == nil && len(left) == 3, "left: %v, %v", left, err)
}

// The floor is that of a run with the same options, interleaved by default. The memory of this
// machine does not decide what is interleaved in another one, and does where contenders are processes.
func TestCalibrate(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://192.0.2.7:2376")
	of := func(settings string) string {
		return fileOf(t, "p.yaml", "contenders: [a]\nrequests: [{get: /x}]\n"+settings)
	}
	given := func(option, value string) profile.Changes { return profile.Changes{option: {value}} }
	here := func(bench.Runtime) int64 { return 8 << 30 }
	for name, c := range map[string]struct {
		profile                    string
		given                      profile.Changes
		available                  func(bench.Runtime) int64
		wantRounds, wantInterleave string
	}{
		"default":                  {"quick", nil, here, "16", "500ms"},
		"off":                      {"quick", given("interleave", "off"), here, "12", "off"},
		"by the profile":           {of("interleave: off\nsteps: [3]\n"), nil, here, "12", ""},
		"another slice":            {"quick", given("interleave", "250ms"), here, "16", "250ms"},
		"too few rounds for pairs": {"quick", given("rounds", "15"), here, "15", ""},
		"enough":                   {"quick", given("rounds", "20"), here, "20", "500ms"},
		"ramp":                     {of("steps: [{connections: {from: 1, to: 9}}]\n"), nil, here, "12", ""},
		"memory":                   {of("limits: {memory: 4GiB}\nsteps: [3]\n"), nil, here, "12", ""},
		"an engine elsewhere":      {of("runtime: docker\nlimits: {memory: 900GiB}\nsteps: [3]\n"), nil, app.Available, "16", "500ms"},
		"processes":                {of("runtime: process\nlimits: {memory: 900GiB}\nsteps: [3]\n"), nil, app.Available, "12", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.available(bench.RuntimeProcess) == 0 {
				t.Skip("the memory of this machine is unknown")
			}
			got := calibration(app.RunOptions{Profile: c.profile, Changes: c.given}, c.available)
			testenv.Equal(t, got.Text("rounds")+" "+got.Text("interleave"), c.wantRounds+" "+c.wantInterleave)
		})
	}
}

func TestProfiles_Rounds(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "1 (8, interleaved, with two contenders or more)",
		"interleave: off\n":                     "1 (6, with two contenders or more)",
		"rounds: 5\n":                           "5",
		"contenders: [a]\n":                     "1",
		"contenders: [a, b]\n":                  "8",
		"contenders: [a, b]\ninterleave: off\n": "6",
	} {
		p := testenv.Must(profile.Parse("p.yaml", []byte(text+"requests: [{get: /x}]\nsteps: [3]\n")))(t)
		testenv.Equal(t, settledRounds(p), want, text)
	}
}

// The plan on the setup screen is that of the command line it starts, which presets the same screen.
func TestSetup(t *testing.T) {
	for name, c := range map[string]setup.Choice{
		"nothing": {Profile: "quick"},
		"numbers": {Profile: "locations", Set: profile.Changes{"rounds": {"6"}, "cpus": {"0.5"}, "cpu-set": {"16"}, "memory": {"64MiB"},
			"duration": {"2m30s"}, "interleave": {"100ms"}, "runtime": {"process"}, "connections": {"1 x5 warm-up, 2..2048 doubling"}, "store": {"embedded"}}},
		"lists": {Profile: "quick", Set: profile.Changes{"connections": {" 4 "}, "store": {"container"}, "cities": {"100000"}},
			Contenders: []bench.Selection{{Contender: "go-nethttp"}, {Contender: "x", Variant: "lto"}}},
		"quotes": {Profile: "locations", Set: profile.Changes{"store": {"external"}, "elastic": {"http://me:pass@h:1"},
			"data": {"a b,c'\"$(x)"}}},
		"a dash": {Profile: "locations", Set: profile.Changes{"data": {"-x"}, "store": {"embedded"}}},
		"passed on": {Profile: "quick", Set: profile.Changes{"no-checks": {"true"}, "seed": {"7"}, "threshold": {"p99<1s,errors<1%"}},
			Extra: []string{`--services="a,b"`}},
		"wrong memory":        {Profile: "quick", Set: profile.Changes{"memory": {"nonsense"}}},
		"wrong slice":         {Profile: "quick", Set: profile.Changes{"interleave": {"1ms"}}},
		"wrong address":       {Profile: "locations", Set: profile.Changes{"store": {"external"}, "elastic": {"http://me:s e'cret@h:1/x?y"}}},
		"wrong warm-up alone": {Profile: "quick", Set: profile.Changes{"connections": {"1 warm-up"}}},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := profile.Load(c.Profile, profiles.FS)
			testenv.OK(t, err)
			shown, shownErr := profile.Change(base, c.Changes(), nil)
			plan, planErr := planOf(t, c.Args()...)
			testenv.Equal(t, fmt.Sprint(planErr), fmt.Sprint(shownErr))
			testenv.Equal(t, planErr != nil, strings.HasPrefix(name, "wrong "), planErr)
			again, services, err := setupChoice(c.Args())
			testenv.OK(t, err)
			samePlan, _ := planOf(t, again.Args()...)
			if planErr == nil && !reflect.DeepEqual(shown, plan) || !reflect.DeepEqual(samePlan, plan) ||
				c.Extra != nil && !slices.Equal(services, []string{"a,b"}) {
				t.Errorf("%q begins %q, services %q:\nscreen       %+v\ncommand line %+v", c.Args(), again.Args(), services, shown, plan)
			}
		})
	}
	c, _, err := setupChoice([]string{"p.yaml", "go-nethttp", "--rounds", "3"})
	testenv.Check(t, err == nil && c.Profile == "p.yaml" && len(c.Contenders) == 1 && c.Set.Text("rounds") == "3",
		"setup has %+v, %v", c, err)
	for args, want := range map[string]string{
		"--nonsense": "unknown flag", "--ascii=maybe": "invalid", "Not/A/Contender": "Not/A/Contender",
		"p.yaml --profile q.yaml":                          "two profiles",
		"--target http://127.0.0.1:1/x --header 'A: b, c'": "--header: the setup screen has the requests of profiles; use 'locbench run'",
	} {
		_, _, err := setupChoice(words(args))
		testenv.Fails(t, err, want)
		testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage, args)
	}
}

// TestExamplesOfRuns plans each run that a help text has as an example: none may end with "wrong
// usage". Examples with the user's own folders and contenders are skipped.
func TestExamplesOfRuns(t *testing.T) {
	root := newRoot(Env{Getenv: func(string) string { return "" }})
	t.Chdir(testenv.Folder(t, map[string]string{"targets.txt": "GET http://h/a\n", "order.json": "{}"}))
	planned := 0
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
			line, _, _ = strings.Cut(line, "|")
			line, ok := strings.CutPrefix(line, "locbench run")
			if !ok || strings.Contains(line, "--resume") || strings.Contains(line, "mine.yaml") {
				continue
			}
			f := parsed(t, append([]string{"run"}, words(line)...)...).(runFlags)
			if err := app.Preflight(f.RunOptions, func(name string) string { return map[string]string{"TOKEN": "x"}[name] }); err != nil {
				t.Errorf("locbench run%s: %v", line, err)
			}
			planned++
		}
	}
	testenv.Check(t, planned >= 8, "only %d examples were found", planned)
	for _, name := range []string{"tui", "seed", "run"} {
		testenv.Contains(t, root.Example, "locbench "+name)
	}
}

// words splits a line as a shell does whose only quotes are apostrophes.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

// TestExamplesOfNewProfiles runs each 'profiles new' of its help text, in one folder as a user does
// who copies one after the other, and reads what was written.
func TestExamplesOfNewProfiles(t *testing.T) {
	t.Chdir(filepath.Dir(fileOf(t, "targets.txt", "GET http://h/a\n")))
	written := 0
	for line := range strings.Lines(newProfilesNew(Env{}).Example) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if line, ok := strings.CutPrefix(line, "locbench profiles new"); ok {
			says(t, 0, "", append([]string{"profiles", "new"}, words(line)...)...)
			written++
		}
	}
	testenv.Check(t, written >= 5, "only %d examples were found", written)
}
