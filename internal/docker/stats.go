package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/docker/docker/api/types/container"

	"locbench/internal/bench"
)

// Usage asks the engine for the container's counters once, without the two one-second cycles that it waits for otherwise.
// It takes some milliseconds; for a local engine's containers the cgroup files are cheaper and tell more.
func (c *Container) Usage(ctx context.Context) (bench.Usage, error) {
	before := time.Now()
	resp, err := c.engine.cli.ContainerStatsOneShot(ctx, c.id)
	if err != nil {
		return bench.Usage{}, fmt.Errorf("stats of container %.12s: %w", c.id, translateNotFound(err))
	}
	defer resp.Body.Close()
	var raw container.StatsResponse
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMessage)).Decode(&raw); err != nil {
		return bench.Usage{}, fmt.Errorf("stats of container %.12s: %w", c.id, err)
	}
	at := before.Add(time.Since(before) / 2)
	if raw.CPUStats.CPUUsage.TotalUsage == 0 && raw.MemoryStats.Usage == 0 {
		return bench.Usage{}, fmt.Errorf("stats of container %.12s: the engine has none, as of one that does not run", c.id)
	}
	return statsUsage(raw, at), nil
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
		// cgroup v1 has total_cache, v2 has not: there the page cache that can be had back is inactive_file.
		cache, v1 := mem.Stats["total_cache"]
		if !v1 {
			cache = mem.Stats["inactive_file"]
		}
		m := bench.Memory{Used: max(0, int64(mem.Usage)-int64(cache)), Limit: int64(mem.Limit)}
		if m.Peak, m.PeakSource = int64(mem.MaxUsage), "max_usage"; mem.MaxUsage == 0 {
			m.Peak, m.PeakSource, m.PeakIsSample = m.Used, "largest sample", true
		}
		u.Memory = &m
	}
	if n := int(raw.PidsStats.Current); n > 0 {
		u.Threads = &n
	}
	return u
}
