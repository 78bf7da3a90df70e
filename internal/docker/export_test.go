//go:build acceptance && engine

package docker

import "context"

// OOM calls Container.outOfMemory.
func OOM(ctx context.Context, c *Container) bool { return c.outOfMemory(ctx) }

// KernelKilled calls kernelKilled for a container.
func KernelKilled(c *Container) (killed, readable bool) { return kernelKilled(c.id) }
