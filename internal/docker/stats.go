package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench"
)

// Usage reads the container's counters from the engine once, without the two cycles of one second
// for which the engine otherwise waits. It takes some milliseconds; for a local engine's containers
// the cgroup files are cheaper and have more.
func (c *Container) Usage(ctx context.Context) (bench.Usage, error) {
	ctx, cancel := within(ctx, c.engine.patience)
	defer cancel()
	before := time.Now()
	resp, err := c.engine.cli.ContainerStats(ctx, c.id, client.ContainerStatsOptions{})
	if err != nil {
		return bench.Usage{}, fmt.Errorf("stats of container %.12s: %w", c.id, translateNotFound(orCause(ctx, err)))
	}
	defer resp.Body.Close()
	raw, err := parseStats(resp.Body)
	if err != nil {
		return bench.Usage{}, fmt.Errorf("stats of container %.12s: %w", c.id, err)
	}
	took := time.Since(before)
	at := before.Add(took / 2)
	// The engine reports its time of the reading, whose clock may still be slightly off.
	if read := raw.Read.Add(-c.clockOffset); !read.Before(before) && read.Before(before.Add(took)) {
		at = read
	}
	if raw.CPUStats.CPUUsage.TotalUsage == 0 && raw.MemoryStats.Usage == 0 {
		return bench.Usage{}, fmt.Errorf("stats of container %.12s: none, as for a container that is not running", c.id)
	}
	u := statsUsage(raw, at)
	if c.engine.info.Podman {
		u.Throttling = nil // always 0 there
	}
	u.Took = took
	return u, nil
}

func parseStats(r io.Reader) (raw container.StatsResponse, err error) {
	err = json.NewDecoder(io.LimitReader(r, maxMessage)).Decode(&raw)
	return raw, err
}

func statsUsage(raw container.StatsResponse, at time.Time) bench.Usage {
	cpu, mem := raw.CPUStats, raw.MemoryStats
	user, system := time.Duration(cpu.CPUUsage.UsageInUsermode), time.Duration(cpu.CPUUsage.UsageInKernelmode)
	u := bench.Usage{
		At: at, Source: "docker stats", CPU: time.Duration(cpu.CPUUsage.TotalUsage), CPUUser: &user, CPUSystem: &system,
		Throttling: &bench.Throttling{
			Periods: int64(cpu.ThrottlingData.Periods), Throttled: int64(cpu.ThrottlingData.ThrottledPeriods),
			Time: time.Duration(cpu.ThrottlingData.ThrottledTime),
		},
	}
	if mem.Usage > 0 {
		// Only cgroup v1 has total_cache. In v2 the reclaimable page cache is inactive_file.
		cache, v1 := mem.Stats["total_cache"]
		cache -= min(cache, mem.Stats["total_shmem"]) // v1 counts it as cache, but it is not reclaimable
		if !v1 {
			cache = mem.Stats["inactive_file"]
		}
		m := bench.Memory{Used: max(0, int64(mem.Usage)-int64(cache)), Limit: int64(mem.Limit)}
		if m.Peak, m.PeakSource = int64(mem.MaxUsage), "max_usage"; mem.MaxUsage == 0 {
			m.Peak, m.PeakSource, m.PeakIsSample = m.Used, "largest sample", true
		}
		m.MinorFaults, m.MajorFaults = statsFaults(mem.Stats)
		u.Memory = &m
	}
	if len(raw.Networks) > 0 {
		u.Network = &bench.Network{Source: "docker stats"}
		for _, i := range raw.Networks { // without loopback, which the engine does not list
			u.Network.Received += int64(i.RxBytes)
			u.Network.Sent += int64(i.TxBytes)
		}
	}
	if n := int(raw.PidsStats.Current); n > 0 {
		u.Threads = &n
	}
	return u
}

// statsFaults returns the page faults. pgfault also counts the major ones, which read from a disk.
func statsFaults(stat map[string]uint64) (minor, major *int64) {
	for _, prefix := range []string{"total_", ""} {
		all, ok1 := stat[prefix+"pgfault"]
		slow, ok2 := stat[prefix+"pgmajfault"]
		if ok1 && ok2 && all >= slow {
			few, n := int64(all-slow), int64(slow)
			return &few, &n
		}
	}
	return nil, nil
}
