//go:build acceptance && engine

package docker

import (
	"context"
	"time"
)

// OOM is what Container.reason knows of a lack of memory, for the tests.
func OOM(ctx context.Context, c *Container) bool {
	oom, _ := c.reason(ctx, true)
	return oom
}

// KernelKilled is whether the kernel's log knows of it, for the tests; readable says whether there
// is one to read.
func KernelKilled(c *Container) (killed, readable bool) { return kernelKilled(c.id) }

// SetPatience is how long e waits for an answer, for the tests.
func SetPatience(e *Engine, d time.Duration) { e.patience = d }
