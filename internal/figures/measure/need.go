package measure

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// The measures of needs. OfNeed makes the measures of one.
const (
	NeedCPUTime    ID = "cpu-time"
	NeedCPURequest ID = "cpu"
	NeedCost       ID = "cost"
	NeedInUse      ID = "cpus"
	NeedThrottled  ID = "throttled"
	NeedMemory     ID = "memory"
	NeedDiskWait   ID = "disk-wait"
	NeedRead       ID = "disk-read"
	NeedWritten    ID = "disk-written"
	NeedOperations ID = "disk-operations"
	NeedReceived   ID = "received"
	NeedSent       ID = "sent"
)

// needRow is a measure of any need. Its Name, Head and titles get the name of the need.
type needRow struct {
	Measure
	of      func(bench.NeedStep, bench.Load) (v float64, ok bool)
	chart   string // unit of its chart over the steps; "": none
	perTime bool   // a number of bytes or operations: of is that of the step, the measure that of a second
}

var needRows = []needRow{
	{
		Measure: Measure{ID: NeedCPURequest, Name: "CPU time per request", Head: "CPU/req", Unit: Nanoseconds,
			CSV: Column{"cpu_per_request_ns", "its CPU time per success of the contender"},
			Comparison: &Comparison{Title: "CPU per request", At: AtReference, Kind: stats.OfCPU,
				What: "CPU time of the need of this name per request of the contender, at the old peak step"}},
		of: func(n bench.NeedStep, l bench.Load) (float64, bool) {
			if n.CPU == nil || l.Succeeded <= 0 {
				return 0, false
			}
			return float64(*n.CPU) / float64(l.Succeeded), true
		},
		chart: "µs",
	},
	{Measure: Measure{ID: NeedCost, Name: "cost", Head: "$/1B req", Unit: Dollars}},
	{
		Measure: Measure{ID: NeedCPUTime, Name: "CPU time", Head: "CPU", Unit: Nanoseconds, CSV: Column{"cpu_ns", "its CPU time in the step"}},
		of:      ofPart(func(n bench.NeedStep) *bench.Duration { return n.CPU }, func(d bench.Duration) float64 { return float64(d) }),
	},
	{
		Measure: Measure{ID: NeedInUse, Name: "CPUs in use", Head: "CPUs", Unit: CPUs},
		of: func(n bench.NeedStep, _ bench.Load) (float64, bool) {
			if n.CPU == nil {
				return 0, false
			}
			return float64(*n.CPU) / float64(n.Between), true
		},
	},
	{
		Measure: Measure{ID: NeedThrottled, Name: "throttled periods", Head: "throttled", Unit: Share,
			CSV: Column{"throttled_ratio", "share of its scheduler periods in which it used up its CPU quota"}},
		of: func(n bench.NeedStep, _ bench.Load) (float64, bool) {
			if n.Throttling == nil || n.Throttling.Periods <= 0 {
				return 0, false
			}
			return float64(n.Throttling.Throttled) / float64(n.Throttling.Periods), true
		},
	},
	{
		Measure: Measure{ID: NeedMemory, Name: "memory", Head: "memory", Unit: Bytes,
			CSV: Column{"memory_used_bytes", "at the end of the step, without page cache"}},
		of: ofPart(func(n bench.NeedStep) *bench.Memory { return n.Memory }, func(m bench.Memory) float64 { return float64(m.Used) }),
	},
	{
		Measure: Measure{ID: NeedDiskWait, Name: "waiting for disk", Head: "waiting", Unit: Share,
			CSV: Column{"wait_io_ratio", "share of the step in which any of its threads waited for a disk"}},
		of:    func(n bench.NeedStep, _ bench.Load) (float64, bool) { return n.DiskWait() },
		chart: "%",
	},
	{
		Measure: Measure{ID: NeedRead, Name: "read from disk", Head: "read", Unit: BytesPerSecond,
			CSV: Column{"read_bytes", "read from disks in the step"}},
		of: ofDisk(func(d bench.Disk) int64 { return d.Read }), perTime: true,
	},
	{
		Measure: Measure{ID: NeedWritten, Name: "written to disk", Head: "written", Unit: BytesPerSecond,
			CSV: Column{"written_bytes", "written to disks in the step"}},
		of: ofDisk(func(d bench.Disk) int64 { return d.Written }), perTime: true,
	},
	{
		Measure: Measure{ID: NeedOperations, Name: "disk operations", Head: "operations", Unit: PerSecond,
			CSV: Column{"disk_operations", "reads and writes of disks in the step"}},
		of: ofDisk(func(d bench.Disk) int64 { return d.Reads + d.Writes }), perTime: true,
	},
	{
		Measure: Measure{ID: NeedReceived, Name: "received", Head: "received", Unit: BytesPerSecond,
			CSV: Column{"received_bytes", "received by its network interfaces in the step"}},
		of: ofNetwork(func(n bench.Network) int64 { return n.Received }), perTime: true,
	},
	{
		Measure: Measure{ID: NeedSent, Name: "sent", Head: "sent", Unit: BytesPerSecond,
			CSV: Column{"sent_bytes", "sent by its network interfaces in the step"}},
		of: ofNetwork(func(n bench.Network) int64 { return n.Sent }), perTime: true,
	},
}

// ofPart returns the value of a part that may be unknown.
func ofPart[T any](part func(bench.NeedStep) *T, of func(T) float64) func(bench.NeedStep, bench.Load) (float64, bool) {
	return func(n bench.NeedStep, _ bench.Load) (v float64, ok bool) {
		if p := part(n); p != nil {
			return of(*p), true
		}
		return 0, false
	}
}

func ofDisk(of func(bench.Disk) int64) func(bench.NeedStep, bench.Load) (float64, bool) {
	return ofPart(func(n bench.NeedStep) *bench.Disk { return n.Disk }, func(d bench.Disk) float64 { return float64(of(d)) })
}

func ofNetwork(of func(bench.Network) int64) func(bench.NeedStep, bench.Load) (float64, bool) {
	return ofPart(func(n bench.NeedStep) *bench.Network { return n.Network }, func(b bench.Network) float64 { return float64(of(b)) })
}

// inStep returns the value in a step; perSecond: as in tables, else the number of the whole step,
// as in exports.
func (r needRow) inStep(s bench.StepResult, name string, perSecond bool) (v float64, ok bool) {
	n := s.Need(name)
	if r.of == nil || n.Between <= 0 {
		return 0, false
	}
	v, ok = r.of(n, s.Load)
	if perSecond && r.perTime {
		v /= n.Between.Seconds()
	}
	return v, ok
}

// needPrefix begins the ID of a measure of a need: "need:db:cpu".
const needPrefix = "need:"

// OfNeed returns the measures of a need by its name. Get finds them by their ID, too.
func OfNeed(name string) (all []Measure) {
	shown := safe.Line(name, 60)
	for _, r := range needRows {
		m := r.Measure
		m.ID = needPrefix + ID(name) + ":" + r.ID
		m.Name, m.Head = shown+" "+r.Name, shown+" "+r.Head
		if m.Comparison != nil {
			of := *m.Comparison
			of.Title, of.Head = shown+" "+of.Title, shown+" "+r.Head
			m.Comparison = &of
		}
		if r.chart != "" {
			m.Chart = &Chart{ID: "need-" + keyOf(name) + "-" + string(r.ID), Title: m.Name, Unit: r.chart, Zero: true,
				Note: "Of " + shown + ", which the contender needs, while this contender was loaded."}
		}
		if m.CSV.Name != "" {
			m.CSV = Column{"need_" + keyOf(name) + "_" + m.CSV.Name, shown + ": " + m.CSV.Doc}
		}
		if r.of != nil {
			m.Of = func(s bench.StepResult) (float64, bool) { return r.inStep(s, name, true) }
		} else {
			m.whole = func(c stats.Contender) Result { return ResultOf(c.NeedCosts[name]) }
		}
		all = append(all, m)
	}
	return all
}

// GroupOfNeed returns the measures of a need as a group.
func GroupOfNeed(name string) Group {
	g := Group{Name: "Need " + safe.Line(name, 60)}
	for _, m := range OfNeed(name) {
		g.IDs = append(g.IDs, m.ID)
	}
	return g
}

// CPUOfNeed returns the measure of a need's CPU time per request.
func CPUOfNeed(name string) Measure { return Get(needPrefix + ID(name) + ":" + NeedCPURequest) }

// NeedName returns the name of the need that the measure is of; "": of none.
func (m Measure) NeedName() string {
	rest, _ := strings.CutPrefix(string(m.ID), needPrefix)
	return rest[:max(0, strings.LastIndexByte(rest, ':'))]
}

// Exported is a measure of a need with the value for exports.
type Exported struct {
	Measure
	InStep func(bench.StepResult) (v float64, ok bool) // of the whole step, not of a second
}

// ExportedOfNeed returns the measures of a need with a column.
func ExportedOfNeed(name string) (all []Exported) {
	for i, m := range OfNeed(name) {
		if m.CSV.Name != "" {
			all = append(all, Exported{m, func(s bench.StepResult) (float64, bool) { return needRows[i].inStep(s, name, false) }})
		}
	}
	return all
}

// keyOf returns a name for columns and IDs.
func keyOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// ofNeed returns the measure with an ID of OfNeed.
func ofNeed(id ID) Measure {
	rest, ok := strings.CutPrefix(string(id), needPrefix)
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return Measure{}
	}
	all := OfNeed(rest[:i])
	if k := slices.IndexFunc(all, func(m Measure) bool { return m.ID == id }); k >= 0 {
		return all[k]
	}
	return Measure{}
}

// maxNeeds is how many needs are shown: a profile has fewer.
const maxNeeds = 32

// Needs returns the names of the needs whose CPU time is known in any of the steps, sorted.
func Needs(steps []stats.Step) (names []string) {
	for _, s := range steps {
		for _, r := range s.Results {
			for _, name := range r.Needs() {
				if !slices.Contains(names, name) && r.Need(name).CPU != nil {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxNeeds)]
}

// NeedWords returns what a need used in a step, over its rounds: "db: 410 µs CPU time per request,
// 0.25 CPUs in use, 60% waiting for disk, 12 MiB/s written to disk". What is 0 or unknown is left
// out; "" if nothing is left.
func NeedWords(name string, rounds ...bench.StepResult) string {
	var all []string
	for i, m := range OfNeed(name) {
		if r := m.Over(stats.Step{Results: rounds}); r.Known && r.Value > 0 && needRows[i].ID != NeedCPUTime {
			text := strings.TrimSuffix(m.Unit.Text(r.Value), " CPUs") // of "CPUs in use"
			all = append(all, text+" "+needRows[i].Name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return safe.Line(name, 60) + ": " + strings.Join(all, ", ")
}
