package bench

import (
	"slices"
	"strings"
)

// Engine is what sends the requests of a step.
type Engine string

// The load engines.
const (
	EngineAuto   Engine = "auto"   // fast where it applies, else vegeta
	EngineFast   Engine = "fast"   // locbench's own loops: HTTP/1.1 without TLS, on Linux
	EngineVegeta Engine = "vegeta" // vegeta's attacker: HTTP/1.1, HTTP/2 and TLS, on every system
	// EngineEpoll is fast without io_uring, for tests and where io_uring is broken. Only the
	// environment selects it.
	EngineEpoll Engine = "epoll"
)

// Engines returns the engines that users choose from.
func Engines() []string {
	return []string{string(EngineAuto), string(EngineFast), string(EngineVegeta)}
}

// The loops of the engines, as in Load.Loop.
const (
	LoopRing   = "io_uring"
	LoopEpoll  = "epoll"
	LoopVegeta = string(EngineVegeta)
)

// Engine returns the engine that loaded the step; "" if it is not known.
func (l Load) Engine() Engine {
	switch l.Loop {
	case LoopRing, LoopEpoll:
		return EngineFast
	case LoopVegeta:
		return EngineVegeta
	}
	return ""
}

// EnginesOf returns the engines that loaded the steps of the trials, each once, sorted by name.
func EnginesOf(trials ...TrialResult) (all []Engine) {
	for _, trial := range trials {
		for _, s := range trial.Steps {
			if e := s.Load.Engine(); e != "" && !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	slices.Sort(all)
	return all
}

// EngineWords returns the engines that loaded the steps of the trials: "fast" if it was one; by
// contender "a: fast; b: fast, vegeta" if it was not; "" if none is known.
func EngineWords(trials []TrialResult) string {
	if all := EnginesOf(trials...); len(all) < 2 {
		return joined(all)
	}
	var labels []string
	of := map[string][]TrialResult{}
	for _, trial := range trials {
		label := trial.Trial.Label()
		if of[label] == nil {
			labels = append(labels, label)
		}
		of[label] = append(of[label], trial)
	}
	slices.Sort(labels)
	var parts []string
	for _, label := range labels {
		if words := joined(EnginesOf(of[label]...)); words != "" {
			parts = append(parts, label+": "+words)
		}
	}
	return strings.Join(parts, "; ")
}

func joined(all []Engine) string {
	var names []string
	for _, e := range all {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}
