package bench

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
)

// String lists the limits: "0.5 CPUs, 512 MiB"; "" for none.
func (l Limits) String() string {
	var parts []string
	add := func(is bool, text string) {
		if is {
			parts = append(parts, text)
		}
	}
	add(l.CPUs > 0, units.CPUs(l.CPUs))
	add(l.CPUSet > 0, fmt.Sprintf("set of %d", l.CPUSet))
	add(l.Memory > 0, units.Bytes(l.Memory))
	add(l.PIDs > 0, units.Plural(l.PIDs, "process"))
	return strings.Join(parts, ", ")
}

// Words returns String; "no limit" for none.
func (l Limits) Words() string { return cmp.Or(l.String(), "no limit") }

// Own returns the limits that differ from those of others, alone; those that are equal become 0.
func (l Limits) Own(others Limits) Limits {
	if l.CPUs == others.CPUs {
		l.CPUs = 0
	}
	if l.CPUSet == others.CPUSet {
		l.CPUSet = 0
	}
	if l.Memory == others.Memory {
		l.Memory = 0
	}
	if l.PIDs == others.PIDs {
		l.PIDs = 0
	}
	return l
}
