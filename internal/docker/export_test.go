//go:build acceptance && engine

package docker

import "context"

// OOM calls Container.outOfMemory.
func OOM(ctx context.Context, c *Container) bool { return c.outOfMemory(ctx) }
