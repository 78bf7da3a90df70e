package analysis

import "github.com/locbench/locbench/internal/figures/verdict"

// Causes returns why the contender is slow in most of its rounds, as its own threads say; of one that
// is excluded only if that is for its errors.
func (c Contender) Causes() []verdict.Cause {
	if c.of == nil || c.WhyExcluded() != "" && (c.Excluded == nil || !c.Excluded.OnlyErrors()) {
		return nil
	}
	return verdict.Causes(c.of.Run.Machine.CPUs, c.Results)
}
