package docker

import "context"

// OOMEvent is what Container.reason knows of a lack of memory, for the tests.
func OOMEvent(ctx context.Context, c *Container) bool {
	oom, _ := c.reason(ctx, true)
	return oom
}
