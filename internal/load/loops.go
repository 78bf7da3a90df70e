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

// HasLoop tells why this machine cannot run a loop; nil if it can.
func HasLoop(name string) error {
	var err error
	switch name {
	case LoopPortable:
	case LoopEpoll:
		err = fast.HasEpoll()
	case LoopRing:
		err = fast.HasRing()
	default:
		return fmt.Errorf("there is no loop %q", name)
	}
	if err != nil {
		return fmt.Errorf("the loop %s cannot be had here: %w", name, err)
	}
	return nil
}
