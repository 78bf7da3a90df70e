package measure

import (
	"fmt"
	"time"

	"locbench/internal/units"
)

// Unit says what a value is in, and how it is written.
type Unit int

// The units.
const (
	PerSecond   Unit = iota
	Nanoseconds      // of time, or of CPU time
	Bytes
	Share // 0 to 1
	Count
	Number // a mean
	CPUs
	MemoryPerRate // MiB·s
	Dollars
	PerRequest
)

// String is the unit's name in results.
func (u Unit) String() string {
	return [...]string{"1/s", "ns", "bytes", "share", "count", "number", "CPUs", "MiB·s", "dollars", "1/request"}[u]
}

// Whole tells whether a value has no fraction worth keeping.
func (u Unit) Whole() bool { return u == Nanoseconds || u == Bytes || u == Count }

// Base turns a value into the base unit that Prometheus asks for: seconds instead of nanoseconds.
func (u Unit) Base(v float64) float64 {
	if u == Nanoseconds {
		return time.Duration(v).Seconds()
	}
	return v
}

// Cell writes a value for a table whose heading names the unit: "4,455", "5.02 ms", "61 MiB".
func (u Unit) Cell(v float64) string {
	switch u {
	case Nanoseconds:
		return units.Duration(time.Duration(v))
	case Bytes:
		return units.Bytes(int64(v))
	case Share:
		return units.Percent(v)
	case Count:
		return units.Count(int64(v))
	case CPUs, Dollars:
		return fmt.Sprintf("%.2f", v)
	case MemoryPerRate, PerRequest, Number:
		return fmt.Sprintf("%.3g", v)
	}
	return units.Rate(v)
}

// Text writes a value with its unit: "4,455/s".
func (u Unit) Text(v float64) string {
	if u == PerSecond {
		return u.Cell(v) + "/s"
	}
	return u.Cell(v)
}
