package docker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// TestUsage: the counters in responses of engines on cgroup v1 and v2, cut to the fields that are
// read. The engine's clock is fast, and it takes four seconds to respond.
func TestUsage(t *testing.T) {
	cpu := `"cpu_stats":{"cpu_usage":{"total_usage":5000000000,"usage_in_usermode":3000,"usage_in_kernelmode":2000},
		"throttling_data":{"periods":10,"throttled_periods":4,"throttled_time":7}}`
	const counted = `"cpu_ns":5000000000,"cpu_user_ns":3000,"cpu_system_ns":2000,` +
		`"throttling":{"periods":10,"throttled_periods":4,"throttled_ns":7}`
	const idle = `"cpu_ns":0,"cpu_user_ns":0,"cpu_system_ns":0,"throttling":{"periods":0,"throttled_periods":0,"throttled_ns":0}`
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a bubble of synctest
	for name, tt := range map[string]struct {
		raw  string
		at   time.Duration // after the request
		want string        // of its usage, without the time and the source, or of the error
	}{
		"v1": {cpu + `,"memory_stats":{"usage":100000,"max_usage":150000,"limit":536870912,"stats":{"total_cache":60000,
			"total_shmem":50000,"cache":1,"inactive_file":2,"pgfault":5,"pgmajfault":1,"total_pgfault":310,"total_pgmajfault":10}},
			"networks":{"eth0":{"rx_bytes":100,"tx_bytes":200},"eth1":{"rx_bytes":1,"tx_bytes":2}},"pids_stats":{"current":9}`, 2 * time.Second,
			counted + `,"memory":{"used_bytes":90000,"peak_bytes":150000,"peak_source":"max_usage","limit_bytes":536870912,` +
				`"major_faults":10,"minor_faults":300},"threads":9,"network":{"source":"docker stats","received_bytes":101,"sent_bytes":202}`},
		"v2": {`"memory_stats":{"usage":100000,"limit":536870912,"stats":{"inactive_file":30000,"shmem":50000,"file":90000,"pgfault":7,"pgmajfault":7}}`,
			2 * time.Second, idle + `,"memory":{"used_bytes":70000,"peak_bytes":70000,"peak_source":"largest sample","limit_bytes":536870912,` +
				`"major_faults":7,"minor_faults":0,"peak_is_sample":true}`},
		"nonsense": {`"memory_stats":{"usage":1,"stats":{"total_cache":3,"total_shmem":9,"pgfault":1,"pgmajfault":2}},"networks":{}`, 2 * time.Second,
			idle + `,"memory":{"used_bytes":1,"peak_bytes":1,"peak_source":"largest sample","peak_is_sample":true}`},
		"more cache than memory": {`"memory_stats":{"usage":1,"stats":{"inactive_file":9}}`, 2 * time.Second,
			idle + `,"memory":{"used_bytes":0,"peak_bytes":0,"peak_source":"largest sample","peak_is_sample":true}`},
		"only CPU time":           {cpu, 2 * time.Second, counted},
		"Podman":                  {cpu, 2 * time.Second, counted[:strings.Index(counted, `,"throttling"`)]},
		"read at the request":     {cpu + `,"read":"2000-01-01T01:00:00Z"`, 0, counted},
		"read just before":        {cpu + `,"read":"2000-01-01T00:59:59.999999999Z"`, 2 * time.Second, counted},
		"read with the response":  {cpu + `,"read":"2000-01-01T01:00:03.999999999Z"`, 4*time.Second - 1, counted},
		"read after the response": {cpu + `,"read":"2000-01-01T01:00:04Z"`, 2 * time.Second, counted},
		"not running":             {``, 0, "stats of container 5f3c8a1e9d7b: none, as for a container that is not running"},
		"broken":                  {`"cpu_stats":1`, 0, "stats of container 5f3c8a1e9d7b: json: "},
		"removed":                 {"gone", 0, "stats of container 5f3c8a1e9d7b: not found: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				f.Latency, f.Stats, f.Gone = 4*time.Second, "{"+tt.raw+"}", tt.raw == "gone"
				c := containerOf(t, f)
				c.clockOffset, c.engine.info.Podman = time.Hour, name == "Podman"
				u, err := c.Usage(t.Context())
				if err != nil {
					testenv.Check(t, strings.HasPrefix(err.Error(), tt.want), "%v, want %s", err, tt.want)
					return
				}
				got, err := json.Marshal(u)
				want := fmt.Sprintf(`{"at":%q,"source":"docker stats",%s,"took_ns":4000000000}`, began.Add(tt.at).Format(time.RFC3339Nano), tt.want)
				testenv.Check(t, err == nil && string(got) == want, "%v\n%s, want\n%s", err, got, want)
			})
		})
	}
}
