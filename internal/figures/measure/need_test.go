package measure

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

func needStep(seconds int64) bench.StepResult {
	at := time.Unix(1000, 0)
	read := func(at time.Time, n int64) *bench.HostReading {
		return &bench.HostReading{Needs: map[string]*bench.NeedUsage{"my-db": {
			At: at, Source: "cgroup v2", CPU: time.Duration(n) * 100 * time.Millisecond,
			Throttling: &bench.Throttling{Periods: 10 * n, Throttled: 4 * n}, Memory: &bench.Memory{Used: 64 << 20},
			Pressure: &bench.Pressure{Source: "cgroup v2", IO: &bench.Stall{Some: time.Duration(n) * 600 * time.Millisecond}},
			Network:  &bench.Network{Source: "x", Received: n << 20, Sent: n << 21},
			Disk:     &bench.Disk{Source: "io.stat", Read: 0, Written: n * 12 << 20, Writes: n * 310},
		}}}
	}
	return bench.StepResult{Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 500 * seconds}, Elapsed: time.Duration(seconds) * time.Second}, HostBefore: read(at, 3),
		HostAfter: read(at.Add(time.Duration(seconds)*time.Second), 3+seconds)}
}

// The measures of a need are those of the step: tables have a number for a second, exports the
// numbers of the whole step.
func TestOfNeed(t *testing.T) {
	s := needStep(2)
	words := ""
	for _, m := range OfNeed("my-db") {
		again := Get(m.ID)
		testenv.Check(t, again.Name == m.Name, "%s is not found: %q", m.ID, again.Name)
		if m.Of != nil {
			v, ok := m.Of(s)
			testenv.Check(t, ok, "%s is not known", m.ID)
			words += m.Name + " " + m.Unit.Text(v) + "\n"
			_, ok = m.Of(bench.StepResult{})
			testenv.Check(t, !ok, "%s of nothing is known", m.ID)
		}
	}
	testenv.Equal(t, words, `my-db CPU time per request 200 µs
my-db CPU time 200 ms
my-db CPUs in use 0.10 CPUs
my-db throttled periods 40.0%
my-db memory 64 MiB
my-db waiting for disk 60.0%
my-db read from disk 0 B/s
my-db written to disk 12 MiB/s
my-db disk operations 310/s
my-db received 1 MiB/s
my-db sent 2 MiB/s
`, "measures")
	exported := map[string]float64{}
	for _, m := range ExportedOfNeed("my-db") {
		exported[m.CSV.Name], _ = m.InStep(s)
	}
	testenv.Check(t, exported["need_my_db_written_bytes"] == 24<<20 && exported["need_my_db_disk_operations"] == 620 &&
		exported["need_my_db_cpu_ns"] == 2e8 && exported["need_my_db_wait_io_ratio"] == .6, "%v", exported)
	testenv.Equal(t, NeedWords("my-db", s, needStep(4)), "my-db: 200 µs CPU time per request, 0.10 CPUs in use, 40.0% throttled periods, "+
		"64 MiB memory, 60.0% waiting for disk, 12 MiB/s written to disk, 310/s disk operations, 1 MiB/s received, 2 MiB/s sent", "words")
	testenv.Equal(t, NeedWords("cache", s), "", "of another need")
	testenv.Equal(t, len(Needs([]stats.Step{{Results: []bench.StepResult{s, {}}}})), 1, "needs")
	for _, id := range []ID{"", "need:", "need:db", "need:db:", "db:cpu"} {
		testenv.Equal(t, string(Get(id).ID), "", string(id))
	}
}

// Columns and charts have letters and digits of the name; each need has measures, its group and its condition.
func TestNeedNames(t *testing.T) {
	const name = "az:AZ 09_é/"
	all := OfNeed(name)
	testenv.Equal(t, all[0].CSV.Name, "need_az_AZ_09____cpu_per_request_ns", "column")
	testenv.Equal(t, all[0].Chart.ID, "need-az_AZ_09___-cpu", "chart")
	testenv.Check(t, all[2].Chart == nil, "CPU time has a chart")
	testenv.Equal(t, CPUOfNeed(name).ID, all[0].ID, "CPU time per request")
	testenv.Equal(t, CPUOfNeed(name).Key(), name+" cpu", "key")
	testenv.Equal(t, Get(Throughput).Key(), "throughput", "key")
	g := GroupOfNeed(name)
	testenv.Check(t, g.Name == "Need "+name && len(g.IDs) == len(all) && Get("need:"+name+":none").ID == "", "%+v", g)
}

// Without requests, periods or time between two readings nothing is known.
func TestNeedsOfNothing(t *testing.T) {
	s := needStep(2)
	s.Load.Succeeded = 0
	at := s.HostBefore.Needs["my-db"].Throttling
	s.HostAfter.Needs["my-db"].Throttling = at
	known := func(s bench.StepResult, id ID) bool { _, ok := Get("need:my-db:" + id).Of(s); return ok }
	testenv.Check(t, !known(s, NeedCPURequest) && !known(s, NeedThrottled) && known(s, NeedInUse), "of no requests, no periods")
	s.HostAfter.Needs["my-db"].At = s.HostBefore.Needs["my-db"].At
	testenv.Check(t, !known(s, NeedInUse), "of no time")
}

// The cost of a need is that of the CPU time it used, whatever its limits.
func TestNeedCost(t *testing.T) {
	c := stats.Rounds(bench.Run{Profile: bench.Profile{PriceVCPUHr: .036}}, []bench.TrialResult{{
		State: bench.TrialComplete, Steps: []bench.StepResult{withCPU(needStep(2)), withCPU(needStep(4))},
	}})
	r := Get("need:my-db:cost").Contender(c)
	testenv.Check(t, r.Known && r.Value > 1.99 && r.Value < 2.01, "%+v", r) // 200 µs × 1e9 / 3600 s × $0.036
}

func withCPU(s bench.StepResult) bench.StepResult {
	s.Before, s.After = &bench.Usage{}, &bench.Usage{CPU: time.Second}
	return s
}
