package cli

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/profile"
	"locbench/internal/stats"
	"locbench/internal/strictyaml"
	"locbench/profiles"
)

// runFlags are the options of locbench run as they were given; 0 and "" mean "as the profile says".
type runFlags struct {
	profile     string
	runtime     string
	target      string
	store       string
	elastic     string
	rounds      int
	duration    time.Duration
	turns       time.Duration
	connections []string
	cpus        float64
	memory      string
	seed        uint64
	latency     time.Duration
	p99         time.Duration
	noChecks    bool
	services    []string
	out         string
	resume      string
	headless    bool
	json        bool
	quiet       bool
	thresholds  []string
	metrics     metricsFlags
	details     bool
	keepGoing   bool
	planFlags
	screen     screenFlags
	controlled bool // steered by another locbench: see work
}

func newRun(env Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [CONTENDER[:VARIANT]...]",
		Short: "Run a benchmark: launch, check, load step by step, stop; contender by contender",
		Long: `Runs a profile. Every contender is started under the profile's limits, checked, loaded step by step, and stopped, in
as many rounds as the profile says; contenders alternate, in an order shuffled from a recorded seed.

With --turns 100ms the contenders of a round are alive at the same time, and in each step the load goes from one to the next every 100 ms, so
that what the machine does meets all alike. Then 'locbench compare' sets round against round, which shows smaller differences on a noisy
machine; with ` + strconv.Itoa(stats.MinPaired) + ` rounds one can be found. They need memory for all of them at once, and figures of a run in turns are compared with each other only.

Contenders named here replace the profile's. Other options replace single values of it; what was really run is in the
results folder, which is named at the end and holds run.json, a JSON file for every leg, events.jsonl, summary.md and
report.html. It is written after every step: Ctrl-C, or even kill -9, loses only the step that runs. --resume goes on.

On a terminal the run is shown live (see 'locbench tui'), and its summary is left on the normal screen; in a pipe, or with --headless,
--quiet or --json, it is told as text. Standard output gets the final table (or with --json every event as a line), standard error everything else.

A threshold ("p99<50ms", "errors<0.1%", "throughput>1000") of the profile or of --threshold is judged in every measured step and kept in
the results. With window=5s it is judged on every five one-second windows in a row while the step runs, and with stop=step, stop=leg or
stop=run a miss ends that early; from_step=3 and contender=NAME narrow it.

--metrics-listen and --push-url tell Prometheus how the run stands, from what is known once a second anyway; neither can hold it up.

The client's loop uses io_uring where Linux permits it (for closed loops over HTTP/1.1 in clear), else epoll, and elsewhere a goroutine for
each connection; LOCBENCH_LOOP=io_uring, =epoll or =portable in the environment chooses, and the results tell which it was.

Exit codes: 0 all went well; 1 the run could not begin; 2 wrong usage; 3 not every leg is complete (a contender failed, the
store or the disk was lost); 4 a threshold was missed, or has ended something early, and nothing worse has happened; 130 interrupted. Where
several are true, the first of 130, 3, 4 is told.`,
		Example: `  locbench run --headless                                   # profile quick on whatever this machine has
  locbench run --profile locations go-nethttp --elastic http://127.0.0.1:9200
  locbench run go-nethttp go-nethttp:release --rounds 6
  locbench run old:v1 old:v2 --services ./mine --turns 100ms --rounds 12    # a small difference, on a noisy machine
  locbench run --runtime process --duration 5s --connections 1,8,64
  locbench run --target http://127.0.0.1:8080               # GET / of a service that already runs
  locbench run --target http://127.0.0.1:8080 rs-actix      # a locations service: its requests and checks
  locbench run --duration 10s --threshold 'p99<50ms,errors<0.1%' --threshold 'errors<20% window=5s stop=run'
  locbench run --json | jq 'select(.type=="step_ended").event.result.load.succeeded'
  locbench run --metrics-listen 127.0.0.1:9464 --push-url http://127.0.0.1:9091   # for Prometheus, while it goes on
  locbench run --resume results/20261121-080000-locations`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, contenders []string) error {
			changed := func(name string) bool { return cmd.Flags().Changed(name) }
			return run(cmd.Context(), env, f, contenders, changed)
		},
		ValidArgsFunction: func(cmd *cobra.Command, done []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completeContenders(f.services), cobra.ShellCompDirectiveNoFileComp
		},
	}
	bindRun(cmd, &f)
	cmd.Flags().BoolVar(&f.controlled, controlledFlag[2:], false, "take controls from standard input")
	_ = cmd.Flags().MarkHidden(controlledFlag[2:])
	return cmd
}

// bindPlace gives cmd the options of locbench run that say what runs, where, and against which store.
func bindPlace(cmd *cobra.Command, f *runFlags) {
	fl := cmd.Flags()
	fl.StringVarP(&f.profile, "profile", "p", "quick", "`NAME` of a bundled profile, or a YAML file (see 'locbench profiles list')")
	fl.StringVar(&f.runtime, "runtime", "", "docker, process, or auto: docker where an engine answers")
	fl.StringVar(&f.target, "target", "", "load the service at this `URL`, which somebody else has started, instead of launching one; unless a profile or a contender is named, GET / is asked and no answer is compared with city data")
	fl.StringVar(&f.store, "store", "", "auto, embedded, external, container or none")
	fl.StringVar(&f.elastic, "elastic", "", "`URL` of an Elasticsearch 7 to use (see 'locbench seed'); implies --store external")
	fl.Float64Var(&f.cpus, "cpus", 0, "CPU quota of a contender, such as 1.5")
	fl.StringVar(&f.memory, "memory", "", "memory limit of a contender, such as 512MiB")
	fl.Uint64Var(&f.seed, "seed", 0, "of the order of the legs and of the drawn ids (default random; recorded)")
	fl.DurationVar(&f.latency, "latency", 0, "median latency that the embedded store adds to each answer")
	fl.DurationVar(&f.p99, "latency-p99", 0, "99 % quantile of that latency")
	fl.BoolVar(&f.noChecks, "no-checks", false, "skip lifecycle and HTTP checks")
	fl.StringSliceVar(&f.services, "services", nil, "`DIR` with more contenders (a folder of folders with a service.yaml); may be repeated")
	f.planFlags.bind(cmd)
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	_ = cmd.RegisterFlagCompletionFunc("runtime", fixed("docker", "process", "auto"))
	_ = cmd.RegisterFlagCompletionFunc("store", fixed("auto", "embedded", "external", "container", "none"))
	_ = cmd.MarkFlagDirname("services")
}

// bindRun gives cmd the options of locbench run.
func bindRun(cmd *cobra.Command, f *runFlags) {
	fl := cmd.Flags()
	bindPlace(cmd, f)
	fl.IntVar(&f.rounds, "rounds", 0, "lives of each contender; six give a 95 % interval of a median")
	fl.DurationVar(&f.duration, "duration", 0, "length of every step")
	bindTurns(cmd, f)
	fl.StringSliceVar(&f.connections, "connections", nil, "replace the steps by these `numbers` of connections; also '1 x5 warm-up,2..64 doubling', as in a profile")
	fl.StringArrayVar(&f.thresholds, "threshold", nil, "`OBJECTIVE` that ends with exit code 4 where a step misses it, such as 'p99<50ms,errors<0.1%' or 'errors<20% window=5s stop=leg'; besides those of the profile; may be repeated")
	fl.StringVarP(&f.out, "out", "o", "", "results `DIR` (default results/<time>-<profile>)")
	fl.StringVar(&f.resume, "resume", "", "finish the run in this results `DIR`: complete legs are kept, all others run again")
	fl.BoolVar(&f.keepGoing, "keep-going", false, "try a contender that never became ready in its first life again in every round, instead of leaving it out")
	f.metrics.bind(cmd)
	f.screen.add(cmd)
	fl.BoolVar(&f.headless, "headless", false, "plain text even on a terminal")
	fl.BoolVar(&f.json, "json", false, "write every event as a JSON line to standard output")
	fl.BoolVarP(&f.details, "details", "v", false, "tell more of each step: CPU time by kind, waiting, page faults, context switches, network (with --headless)")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress: only warnings, errors and the final table")
	_ = cmd.MarkFlagDirname("resume")
}

// bindTurns gives cmd the option that lets contenders take turns.
func bindTurns(cmd *cobra.Command, f *runFlags) {
	cmd.Flags().DurationVar(&f.turns, "turns", 0, "keep the contenders of a round alive side by side, and load them in turns of so long, such as 100ms: what the machine does meets all alike")
	_ = cmd.RegisterFlagCompletionFunc("turns", cobra.NoFileCompletions)
}

func fixed(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// plannedProfile is the profile with what the command line changes of it, valid and complete.
func plannedProfile(f runFlags, contenders []string, changed func(string) bool) (bench.Profile, error) {
	p, err := profile.Load(f.profile, profiles.FS)
	if err != nil {
		return p, withCode(ExitUsage, err)
	}
	return changedProfile(p, f, contenders, changed)
}

// changedProfile is p with what the command line changes of it. It reads no file, so that the set-up screen may ask at each key.
func changedProfile(p bench.Profile, f runFlags, contenders []string, changed func(string) bool) (bench.Profile, error) {
	var err error
	if len(contenders) > 0 {
		p.Contenders = nil
		for _, c := range contenders {
			sel, ok := profile.ParseSelection(c)
			if !ok {
				return p, usage("%q is no contender; one is written name or name:variant (see 'locbench services list')", c)
			}
			p.Contenders = append(p.Contenders, sel)
		}
		// A threshold of a contender that is not run has nothing to say.
		p.Thresholds = slices.DeleteFunc(slices.Clone(p.Thresholds), func(t bench.Threshold) bool {
			return t.Contender != "" && !slices.ContainsFunc(p.Contenders, func(s bench.Selection) bool { return s.String() == t.Contender })
		})
	}
	for _, text := range f.thresholds {
		t, err := profile.ParseThreshold(text)
		if err != nil {
			return p, usage("--%w", err)
		}
		p.Thresholds = append(slices.Clip(p.Thresholds), t)
	}
	if err := applyStore(&p, f); err != nil {
		return p, err
	}
	if changed("runtime") {
		switch r := bench.Runtime(f.runtime); r {
		case bench.RuntimeAuto, bench.RuntimeDocker, bench.RuntimeProcess:
		default:
			return p, usage("--runtime %q: docker, process or auto", f.runtime)
		}
		p.Runtime = bench.Runtime(f.runtime)
	}
	if changed("rounds") {
		if f.rounds < 1 {
			return p, usage("--rounds %d: at least 1 round", f.rounds)
		}
		p.Rounds = f.rounds
	}
	if changed("cpus") {
		if f.cpus <= 0 {
			return p, usage("--cpus %g: more than 0, such as 1.5", f.cpus)
		}
		p.Limits.CPUs = f.cpus
	}
	if changed("memory") {
		if p.Limits.Memory, err = strictyaml.ParseBytes(f.memory); err != nil {
			return p, usage("--memory: %w", err)
		}
	}
	if err := f.planFlags.apply(&p, changed); err != nil {
		return p, err
	}
	if len(f.connections) > 0 {
		if err := replaceSteps(&p, f.connections); err != nil {
			return p, err
		}
	}
	if changed("duration") {
		if f.duration <= 0 {
			return p, usage("--duration %v: more than 0, such as 10s", f.duration)
		}
		p.Steps = slices.Clone(p.Steps)
		for i := range p.Steps {
			p.Steps[i].Duration = f.duration
		}
	}
	if changed("turns") {
		if f.turns < 0 {
			return p, usage("--turns %v: a time such as 100ms, or 0 for none", f.turns)
		}
		p.Turns = f.turns
	}
	if f.noChecks {
		p.Checks = bench.CheckSpec{}
	}
	if err := profile.Validate(p); err != nil {
		return p, withCode(ExitUsage, err)
	}
	return p, nil
}

func applyStore(p *bench.Profile, f runFlags) error {
	if f.elastic != "" {
		if f.store != "" && f.store != string(bench.StoreExternal) && f.store != string(bench.StoreAuto) {
			return usage("--elastic names an external store, --store says %s: choose one", f.store)
		}
		u, err := serviceURL(f.elastic)
		if err != nil {
			return usage("--elastic: %q is no URL; one looks like http://127.0.0.1:9200", f.elastic)
		}
		p.Store = bench.StoreSpec{Kind: bench.StoreExternal, URL: u}
	} else if f.store != "" {
		p.Store = bench.StoreSpec{Kind: bench.StoreKind(f.store)}
	}
	if f.target != "" {
		p.Store = bench.StoreSpec{Kind: bench.StoreNone}
	}
	if p.Store.Kind == bench.StoreExternal && p.Store.URL == "" {
		return usage(`profile %s wants a real Elasticsearch 7. Name one:  --elastic http://127.0.0.1:9200
or let Docker start the official image:  --store container
or use the one inside locbench (it shares CPU with the client):  --store embedded`, p.Name)
	}
	if f.latency != 0 {
		p.Store.Latency = f.latency
	}
	if f.p99 != 0 {
		p.Store.P99 = f.p99
	}
	return nil
}

// replaceSteps makes the steps that are written as in a profile, each as long as the profile's last one unless it says how long.
func replaceSteps(p *bench.Profile, connections []string) error {
	length := 10 * time.Second
	if n := len(p.Steps); n > 0 {
		length = p.Steps[n-1].Duration
	}
	var err error
	if p.Steps, err = profile.ParseSteps(connections, length); err != nil {
		return usage("--connections: %w", err)
	}
	return nil
}

// servicesOf resolves what the plan's contenders name. What a target serves is known only where it is said to be one of them. What is
// wrong with contenders that it does not name becomes a warning of the plan.
func servicesOf(run *bench.Run, dirs []string) (map[bench.Selection]bench.Service, error) {
	if len(dirs) == 0 {
		dirs = run.Services
	}
	all, left, err := discoverFor(dirs, run.Profile.Contenders)
	if err != nil {
		return nil, err
	}
	for _, text := range left {
		known := func(f bench.Finding) bool { return f.Text == text } // as in those of a run that is resumed
		if !slices.ContainsFunc(run.Warnings, known) {
			run.Warnings = append(run.Warnings, bench.Finding{Text: text})
		}
	}
	found := map[bench.Selection]bench.Service{}
	for _, sel := range run.Profile.Contenders {
		if run.Target != "" && sel.Contender == anyTarget {
			found[sel] = bench.Service{Name: anyTarget, Endpoints: contender.Groups(), Ready: bench.Ready{Path: "/", Timeout: 10 * time.Second}}
			continue
		}
		svc, err := find(all, sel)
		if err != nil {
			return nil, withCode(ExitUsage, err)
		}
		found[sel] = svc
	}
	return found, nil
}

// anyTarget is what a service is called that somebody else has started, when nobody said which contender it is.
const anyTarget = "target"
