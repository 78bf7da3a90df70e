package load

import (
	"fmt"

	"locbench/internal/load/fast"
)

// The loops of the client, as Load.Loop names them.
const (
	LoopRing     = "io_uring"
	LoopEpoll    = "epoll"
	LoopPortable = "portable"
)

// HasLoop returns why this machine cannot run a loop; nil if it can.
func HasLoop(name string) error {
	switch name {
	case LoopPortable:
		return nil
	case LoopEpoll, LoopRing:
		if err := fast.Has(name == LoopRing); err != nil {
			return fmt.Errorf("the loop %s cannot be had here: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("there is no loop %q", name)
}
