package analysis

import (
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Causes returns why the contender is slow in most of its rounds, as its own threads say; none of one
// that is excluded.
func (c Contender) Causes() []verdict.Cause {
	if c.of == nil || c.WhyExcluded() != "" {
		return nil
	}
	return verdict.Causes(c.of.Run.Machine.CPUs, c.Results)
}

// Sentence returns a cause of a contender with its remedy: "a: the collector took 34% of its CPU time …".
func Sentence(name string, c verdict.Cause) string {
	return safe.Line(name, 60) + ": " + safe.Line(c.What+": "+c.Why+". "+c.Remedy, 600) + "."
}
