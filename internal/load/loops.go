package load

import (
	"fmt"

	"locbench/internal/load/fast"
)

// The loops of the client, as in Load.Loop.
const (
	LoopRing     = "io_uring"
	LoopEpoll    = "epoll"
	LoopPortable = "vegeta"
)

// HasLoop returns why this machine cannot run a loop; nil if it can.
func HasLoop(name string) error {
	switch name {
	case LoopPortable:
		return nil
	case LoopEpoll, LoopRing:
		if err := fast.Has(name == LoopRing); err != nil {
			return fmt.Errorf("loop %s is not available here: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("%q is not a loop (use %s, %s or %s)", name, LoopRing, LoopEpoll, LoopPortable)
}
