package app

import (
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// engineVariable selects the load engine of commands without --engine.
const engineVariable = "LOCBENCH_ENGINE"

// chosenEngine returns the load engine that the options or the environment select; "" for auto.
func chosenEngine(o RunOptions) (bench.Engine, error) {
	engine := o.Changes.Text("engine")
	if engine == "" && o.Getenv != nil {
		engine = o.Getenv(engineVariable)
		names := append(bench.Engines(), string(bench.EngineEpoll))
		if engine != "" && !slices.Contains(names, engine) {
			return "", console.Usagef("%s=%s: %s", engineVariable, safe.Line(engine, 60),
				strictyaml.Suggest(engine, "one of", names))
		}
	}
	if bench.Engine(engine) == bench.EngineAuto {
		return "", nil
	}
	return bench.Engine(engine), nil
}

// checkEngines returns an error about an engine of a run that does not apply to what it loads.
func checkEngines(run bench.Run) error {
	used := []bench.Engine{run.Engine}
	for _, s := range run.Profile.Steps {
		if !slices.Contains(used, s.Engine) {
			used = append(used, s.Engine)
		}
	}
	for _, e := range used {
		switch e {
		case "", bench.EngineAuto, bench.EngineVegeta:
			continue
		case bench.EngineFast, bench.EngineEpoll:
		default:
			return console.Usagef("%q is not a load engine (use %s)", safe.Line(string(e), 60),
				strings.Join(bench.Engines(), ", "))
		}
		tls := slices.ContainsFunc(run.Targets, func(t bench.Target) bool { return strings.HasPrefix(t.URL, "https:") })
		if err := load.FastApplies(tls, run.Profile.Protocol == bench.HTTP2); err != nil {
			return console.Usagef("load engine %s does not apply to this run: %w; use %s, or %s", e, err,
				bench.EngineVegeta, bench.EngineAuto)
		}
	}
	return nil
}

const (
	// MostEnginePairs is the most that RunOptions.EnginePairs may be.
	MostEnginePairs = 50
	// pairedStep is the length of a step of a pair, unless one was chosen.
	pairedStep = time.Second

	// bounds of all pairs together
	mostPairedLoad  = time.Hour
	mostPairedSteps = 1000
)

// pairEngines replaces each measured step by pairs of steps with equal load, one for each engine.
// The first engine alternates from pair to pair, which cancels a drift.
func pairEngines(p *bench.Profile, o RunOptions) error {
	if len(p.Contenders) != 1 {
		return console.Usagef("the engines are compared on one contender, and profile %s has %d: name one",
			safe.Line(p.Name, 60), len(p.Contenders))
	}
	var steps []bench.Step
	for _, s := range p.Steps {
		if s.WarmUp {
			steps = append(steps, s)
			continue
		}
		if !o.Changes.Given("duration") {
			s.Duration = min(s.Duration, pairedStep)
		}
		for pair := range o.EnginePairs {
			engines := []bench.Engine{bench.EngineFast, bench.EngineVegeta}
			if pair%2 == 1 {
				slices.Reverse(engines)
			}
			for _, e := range engines {
				one := s
				one.Engine = e
				one.Name = s.Name + ", " + string(e)
				steps = append(steps, one)
			}
		}
	}
	p.Steps, p.Rounds, p.Interleave = steps, 1, 0
	if d := p.LoadDuration(); d > mostPairedLoad || len(steps) > mostPairedSteps {
		return console.Usagef("%d steps, %s of load: at most %d steps and %s; use fewer --rounds or --connections, or a "+
			"shorter --duration", len(steps), units.Approx(d), mostPairedSteps, units.Approx(mostPairedLoad))
	}
	return nil
}
