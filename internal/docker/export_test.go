package docker

import (
	"context"
	"time"
)

// OOMEvent is what Container.reason knows of a lack of memory, for the tests.
func OOMEvent(ctx context.Context, c *Container) bool {
	oom, _ := c.reason(ctx, true)
	return oom
}

// SetPatience is how long e waits for an answer, for the tests.
func SetPatience(e *Engine, d time.Duration) { e.patience = d }
