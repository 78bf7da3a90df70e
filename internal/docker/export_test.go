package docker

import "context"

// OOMEvent is Container.oomEvent for the tests.
func OOMEvent(ctx context.Context, c *Container) bool { return c.oomEvent(ctx) }
