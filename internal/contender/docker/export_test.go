//go:build acceptance && engine

package docker

import (
	"context"
	"time"
)

// OOM returns Container.outOfMemory, for the tests.
func OOM(ctx context.Context, c *Container) bool { return c.outOfMemory(ctx) }

// KernelKilled returns whether the kernel's log knows of it, for the tests; readable says whether there
// is one to read.
func KernelKilled(c *Container) (killed, readable bool) { return kernelKilled(c.id) }

// SetPatience is how long e waits for a response, for the tests.
func SetPatience(e *Engine, d time.Duration) { e.patience = d }
