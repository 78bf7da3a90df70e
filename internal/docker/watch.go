package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench"
)

// rewatch is the pause before a broken stream of events is requested again.
const rewatch = 300 * time.Millisecond

// watch subscribes to the container's incidents from since on, on one connection.
func (c *Container) watch(ctx context.Context, since time.Time) client.EventsResult {
	o := client.EventsListOptions{Since: unixTime(since)}
	return c.events(ctx, o, events.ActionPause, events.ActionUnPause, events.ActionOOM)
}

func (c *Container) events(ctx context.Context, o client.EventsListOptions, of ...events.Action) client.EventsResult {
	o.Filters = client.Filters{}.Add("type", "container").Add("container", c.id)
	for _, action := range of {
		o.Filters.Add("event", string(action))
	}
	return c.engine.cli.Events(ctx, o)
}

func unixTime(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }

// follow reports the container's incidents until ctx ends or locbench stops the container. It
// resumes a broken stream where it ended.
func (c *Container) follow(ctx context.Context, w client.EventsResult, report func(bench.Incident)) {
	var last int64 // time of the last event, in nanoseconds
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-w.Messages:
			if m.TimeNano <= last {
				continue // reported before the stream broke
			}
			last = m.TimeNano
			if c.stopping.Load() {
				continue // done by locbench, or a consequence of it
			}
			if i, ok := incidents[m.Action]; ok {
				i.At = time.Unix(0, m.TimeNano).Add(-c.clockOffset)
				report(i)
			}
		case <-w.Err:
			if !pause(ctx, rewatch) {
				return
			}
			since := time.Unix(0, last)
			if last == 0 {
				since = time.Now().Add(c.clockOffset)
			}
			w = c.watch(ctx, since)
		}
	}
}

var incidents = map[events.Action]bench.Incident{
	events.ActionPause:   {Kind: bench.IncidentPaused, Text: "paused externally"},
	events.ActionUnPause: {Kind: bench.IncidentUnpaused, Text: "resumed after the external pause"},
	events.ActionOOM:     {Kind: bench.IncidentOOM, Text: "out of memory: the kernel killed a process"},
}

// Diagnose returns the engine's reason why a running container may not respond; "" if it has none.
func (c *Container) Diagnose(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	raw, err := c.engine.cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	switch {
	case err != nil:
		return "container engine not responding: " + err.Error()
	case raw.Container.State != nil && raw.Container.State.Paused:
		return "paused externally (docker pause)"
	}
	return ""
}
