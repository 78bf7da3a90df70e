package docker

import (
	"strings"
	"testing"
	"time"
)

// Responses of GET /containers/<id>/stats?one-shot=1, cut to the fields that are read, of an engine
// on cgroup v1 and of one on v2.
func TestStatsMemoryAndNetwork(t *testing.T) {
	for name, tt := range map[string]struct {
		raw                 string
		used, minor, major  int64
		received, sent      int64
		withFaults, withNet bool
	}{
		"v1": {`{"memory_stats":{"usage":100000,"max_usage":150000,"limit":536870912,"stats":{"total_cache":60000,"total_shmem":50000,"pgfault":5,"pgmajfault":1,"total_pgfault":310,"total_pgmajfault":10}},
			"networks":{"eth0":{"rx_bytes":100,"tx_bytes":200},"eth1":{"rx_bytes":1,"tx_bytes":2}}}`, 90000, 300, 10, 101, 202, true, true},
		"v2":       {`{"memory_stats":{"usage":100000,"limit":536870912,"stats":{"inactive_file":30000,"shmem":50000,"file":90000,"pgfault":400,"pgmajfault":7}}}`, 70000, 393, 7, 0, 0, true, false},
		"nonsense": {`{"memory_stats":{"usage":100000,"stats":{"total_cache":1,"total_shmem":99999999,"pgfault":1,"pgmajfault":2}},"networks":{}}`, 100000, 0, 0, 0, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := parseStats(strings.NewReader(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			u := statsUsage(raw, time.Now())
			if u.Memory == nil || u.Memory.Used != tt.used || u.Memory.StepPeak != nil {
				t.Errorf("%s: %+v", name, u.Memory)
				return
			}
			m := u.Memory
			if (m.MinorFaults != nil) != tt.withFaults || tt.withFaults && (*m.MinorFaults != tt.minor || *m.MajorFaults != tt.major) {
				t.Errorf("%s: faults %v and %v", name, m.MinorFaults, m.MajorFaults)
			}
			if (u.Network != nil) != tt.withNet || tt.withNet && (u.Network.Received != tt.received || u.Network.Sent != tt.sent || u.Network.Source != "docker stats") {
				t.Errorf("%s: network %+v", name, u.Network)
			}
			if u.Switches != nil || u.Pressure != nil {
				t.Errorf("%s: the engine does not tell %+v, %+v", name, u.Switches, u.Pressure)
			}
		})
	}
}
