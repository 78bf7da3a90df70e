package app

import (
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/locations/dataset"
	"locbench/internal/profile"
	"locbench/internal/strictyaml"
	"locbench/profiles"
)

// PlannedProfile is the profile with what the command line changes of it, valid and complete.
func PlannedProfile(o RunOptions) (bench.Profile, error) {
	var p bench.Profile
	var err error
	if o.ProfileText != nil {
		p, err = profile.Parse(o.Profile, o.ProfileText)
	} else {
		p, err = profile.Load(o.Profile, profiles.FS)
	}
	if err != nil {
		return p, console.WithCode(console.ExitUsage, err)
	}
	return ChangedProfile(p, o)
}

// ChangedProfile is p with what is changed of it. It reads no file, so that the set-up screen may
// ask at each key.
func ChangedProfile(p bench.Profile, o RunOptions) (bench.Profile, error) {
	for _, change := range []func(*bench.Profile, RunOptions) error{
		changeContenders, changeStore, changeLife, changeData, changeSteps,
	} {
		if err := change(&p, o); err != nil {
			return p, err
		}
	}
	if o.NoChecks {
		p.Checks = bench.CheckSpec{}
	}
	if err := profile.Validate(p); err != nil {
		return p, console.WithCode(console.ExitUsage, err)
	}
	return p, nil
}

// changeContenders replaces the contenders and adds thresholds.
func changeContenders(p *bench.Profile, o RunOptions) error {
	if len(o.Contenders) > 0 {
		p.Contenders = nil
		for _, c := range o.Contenders {
			sel, ok := profile.ParseSelection(c)
			if !ok {
				return console.Usagef("%q is no contender; one is written name or name:variant (see 'locbench services list')", c)
			}
			p.Contenders = append(p.Contenders, sel)
		}
	}
	if len(p.Contenders) == 0 && len(o.Targets) == 0 {
		return console.Usagef("profile %s names no contender: name some on the command line, in its `contenders`, or say --target URL", p.Name)
	}
	for _, text := range o.Thresholds {
		t, err := profile.ParseThreshold(text)
		if err != nil {
			return console.Usagef("--%w", err)
		}
		p.Thresholds = append(slices.Clip(p.Thresholds), t)
	}
	return nil
}

// changeLife changes where contenders live, how often and under which limits, and the protocol.
func changeLife(p *bench.Profile, o RunOptions) (err error) {
	if o.Runtime != nil {
		if !slices.Contains(bench.Runtimes(), *o.Runtime) {
			return console.Usagef("--runtime %q: docker, process or auto", *o.Runtime)
		}
		p.Runtime = bench.Runtime(*o.Runtime)
	}
	if err := replace(&p.Rounds, o.Rounds, "--rounds %v: at least 1 round"); err != nil {
		return err
	}
	if err := replace(&p.Limits.CPUs, o.CPUs, "--cpus %v: more than 0, such as 1.5"); err != nil {
		return err
	}
	if o.Memory != nil {
		if p.Limits.Memory, err = strictyaml.ParseBytes(*o.Memory); err != nil {
			return console.Usagef("--memory: %w", err)
		}
	}
	if o.HTTP2 != nil {
		p.Protocol = bench.HTTP11
		if *o.HTTP2 {
			p.Protocol = bench.HTTP2
		}
	}
	return replace(&p.Limits.CPUSet, o.CPUSet, "--cpu-set %v: at least 1 CPU")
}

// replace replaces what is at to by what is given, if anything is: it must be more than 0.
func replace[T int | float64 | time.Duration](to, given *T, wrong string) error {
	if given == nil {
		return nil
	}
	if *given <= 0 {
		return console.Usagef(wrong, *given)
	}
	*to = *given
	return nil
}

// changeSteps replaces the steps, and what holds for all of them.
func changeSteps(p *bench.Profile, o RunOptions) error {
	if len(o.Connections) > 0 { // each as long as the profile's last one unless it says how long
		length := 10 * time.Second
		if n := len(p.Steps); n > 0 {
			length = p.Steps[n-1].Duration
		}
		var err error
		if p.Steps, err = profile.ParseSteps(o.Connections, length); err != nil {
			return console.Usagef("--connections: %w", err)
		}
	}
	if o.Duration != nil {
		if *o.Duration <= 0 {
			return console.Usagef("--duration %v: more than 0, such as 10s", *o.Duration)
		}
		p.Steps = slices.Clone(p.Steps)
		for i := range p.Steps {
			p.Steps[i].Duration = *o.Duration
		}
	}
	if o.Turns != nil {
		if *o.Turns < 0 {
			return console.Usagef("--turns %v: a time such as 100ms, or 0 for none", *o.Turns)
		}
		p.Turns = *o.Turns
	}
	return nil
}

// BundledData is what --data calls the data set that comes along; a folder of that name is
// ./bundled.
const BundledData = "bundled"

// BundledSuite is the suite of checks that knows the bundled data and no other.
const BundledSuite = "locations"

// changeData chooses the data set. Other data than the bundled go without the suite that knows those.
func changeData(p *bench.Profile, o RunOptions) error {
	d := o.Data
	switch {
	case d.Name != nil && d.Cities != nil:
		return console.Usagef("--data names a data set, --cities generates one: choose one")
	case d.Name != nil && *d.Name == "":
		return console.Usagef("--data: a folder is missing; write one with a dump, or %s", BundledData)
	case d.Cities != nil && (*d.Cities < 1 || *d.Cities > dataset.MaxGenerated):
		return console.Usagef("--cities %d: from 1 to 1,000,000", *d.Cities)
	case d.Cities == nil && (d.Vertices != nil || d.Seed != nil):
		return console.Usagef("--vertices and --data-seed go with --cities: other data are what they are")
	case d.Cities != nil:
		p.Data = bench.DataSpec{Cities: *d.Cities, Vertices: value(d.Vertices, DefaultVertices), Seed: value(d.Seed, DefaultDataSeed)}
	case d.Name == nil:
		return nil
	case *d.Name == BundledData:
		p.Data = bench.DataSpec{}
		return nil
	default:
		p.Data = bench.DataSpec{Dir: *d.Name}
	}
	p.Checks.Suites = slices.DeleteFunc(slices.Clone(p.Checks.Suites), func(suite string) bool { return suite == BundledSuite })
	if len(p.Checks.Suites) == 0 {
		p.Checks.Suites = nil
	}
	return nil
}

func value[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

func changeStore(p *bench.Profile, o RunOptions) error {
	if o.Elastic != "" {
		if !(bench.StoreSpec{Kind: bench.StoreKind(o.Store), URL: o.Elastic}).Chosen().Traits().ByURL {
			return console.Usagef("--elastic names an external store, --store says %s: choose one", o.Store)
		}
		u, err := StoreURL(o.Elastic, o.Getenv)
		if err != nil {
			return err
		}
		p.Store = bench.StoreSpec{Kind: bench.StoreExternal, URL: u}
	} else if o.Store != "" {
		p.Store = bench.StoreSpec{Kind: bench.StoreKind(o.Store)}
	}
	if len(o.Targets) > 0 {
		p.Store = bench.StoreSpec{Kind: bench.StoreNone}
	}
	if p.Store.Unnamed() {
		return console.Usagef(`profile %s wants a real Elasticsearch 7. Name one:  --elastic http://127.0.0.1:9200
or let Docker start the official image:  --store container
or use the one inside locbench (it shares CPU with the client):  --store embedded`, p.Name)
	}
	if o.Latency != 0 {
		p.Store.Latency = o.Latency
	}
	if o.P99 != 0 {
		p.Store.P99 = o.P99
	}
	return nil
}
