package machine

import (
	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
)

func system(m *bench.Machine) {
	m.Kernel, _ = unix.Sysctl("kern.osrelease")
	m.CPUModel, _ = unix.Sysctl("machdep.cpu.brand_string")
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil && n < 1<<62 {
		m.MemoryBytes = int64(n)
	}
}
