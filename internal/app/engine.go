package app

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
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

// checkEngine returns an error about an engine of a run that does not apply to what it loads.
func checkEngine(run bench.Run) error {
	switch run.Engine {
	case "", bench.EngineAuto, bench.EngineVegeta:
		return nil
	case bench.EngineFast, bench.EngineEpoll:
	default:
		return console.Usagef("%q is not a load engine (use %s)", safe.Line(string(run.Engine), 60),
			strings.Join(bench.Engines(), ", "))
	}
	tls := slices.ContainsFunc(run.Targets, func(t bench.Target) bool { return strings.HasPrefix(t.URL, "https:") })
	if err := load.FastApplies(tls, run.Profile.Protocol == bench.HTTP2); err != nil {
		return console.Usagef("load engine %s does not apply to this run: %w; use %s, or %s", run.Engine, err,
			bench.EngineVegeta, bench.EngineAuto)
	}
	return nil
}
