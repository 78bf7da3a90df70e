//go:build !linux

package hostusage

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
)

func host() *bench.HostUsage { return nil }

func processCPU(int) (time.Duration, error) { return 0, ErrUnknown }

func listener(string) (int, bool) { return 0, false }
