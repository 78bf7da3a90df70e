package conclusion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// fractions returns the caveat that contenders in several languages have a fraction of a CPU above
// 1, which their runtimes round in different ways, if CPU time limited one of them; "" without.
func (d *draft) fractions() string {
	var names, languages []string
	bound := false
	for _, c := range d.all {
		cpus, peak := c.Planned().CPUs, c.Bounds[c.Peak].Bound
		if cpus < 1 || cpus == math.Trunc(cpus) {
			continue
		}
		names = append(names, label(c))
		if l := strings.ToLower(c.Service.Language); l != "" && !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
		bound = bound || peak == verdict.Quota || peak == verdict.Threads
	}
	if len(languages) < 2 || !bound {
		return ""
	}
	return fmt.Sprintf("Some runtimes round a fraction of a CPU above 1 up, others down: %s. "+
		"Compare with whole CPUs, or set the workers of each (docs/runtimes.md).", analysis.List(names))
}

// sameHeap is how far the peak memory of two contenders with the same heap may be apart.
const sameHeap = 1.1

// heaps returns a caveat for each contender that uses as much memory under 256 to 512 MiB as under
// another limit in there, since its runtime gives itself the same heap.
func (d *draft) heaps() (all []string) {
	ofTable := func(c analysis.Contender) bool { m := c.Planned().Memory; return m >= 256<<20 && m <= 512<<20 }
	for i, a := range d.all {
		for _, b := range d.all[:i] {
			option := verdict.HeapOption(a.Service.Language)
			x, y := a.Memory.Median, b.Memory.Median
			if option == "" || a.Service.Name != b.Service.Name || !ofTable(a) || !ofTable(b) || a.Planned().Memory == b.Planned().Memory ||
				x <= 0 || y <= 0 || max(x, y) > sameHeap*min(x, y) {
				continue
			}
			all = append(all, fmt.Sprintf("%s and %s use the same memory under %s and %s: their runtime has the same heap in both. "+
				"Set it: %s (docs/runtimes.md#memory).", label(b), label(a), units.Bytes(b.Planned().Memory), units.Bytes(a.Planned().Memory), option))
		}
	}
	return all
}
