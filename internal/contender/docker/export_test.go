//go:build acceptance && engine

package docker

import (
	"context"
	"time"
)

// OOM calls Container.outOfMemory.
func OOM(ctx context.Context, c *Container) bool { return c.outOfMemory(ctx) }

// KernelKilled calls kernelKilled for a container.
func KernelKilled(c *Container) (killed, readable bool) { return kernelKilled(c.id) }

// SetPatience sets the time limit of requests to e.
func SetPatience(e *Engine, d time.Duration) { e.patience = d }
