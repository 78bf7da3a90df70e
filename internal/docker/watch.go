package docker

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"locbench/internal/bench"
)

// rewatch is how long a broken stream of events rests before it is asked for again.
const rewatch = 300 * time.Millisecond

// watch subscribes to what is done to containers and networks from since on. It is only one idle
// connection as long as nothing happens.
func (c *Container) watch(ctx context.Context, since time.Time) client.EventsResult {
	return c.engine.cli.Events(ctx, client.EventsListOptions{
		Since: fmt.Sprintf("%d.%09d", since.Unix(), since.Nanosecond()),
		Filters: client.Filters{}.Add("type", "container", "network").
			Add("event", "pause", "unpause", "oom", "kill", "update", "disconnect", "connect"),
	})
}

// follow tells what befalls the container until ctx ends, or until this side stops it. A broken
// stream is taken up again where it ended.
func (c *Container) follow(ctx context.Context, w client.EventsResult, tell func(bench.Incident)) {
	var last int64 // of the events, in nanoseconds
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-w.Messages:
			if m.TimeNano <= last {
				continue // reported before the stream broke
			}
			last = m.TimeNano
			if c.asked.Load() {
				continue // what locbench does itself, and what comes of it
			}
			if i, ok := c.incident(ctx, m); ok {
				i.At = time.Unix(0, m.TimeNano).Add(-c.ahead)
				tell(i)
			}
		case <-w.Err:
			select {
			case <-ctx.Done():
				return
			case <-time.After(rewatch):
			}
			w = c.watch(ctx, time.Unix(0, last))
			if last == 0 {
				w = c.watch(ctx, time.Now().Add(c.ahead))
			}
		}
	}
}

// incident translates one event, if it is about this container and somebody else's doing.
func (c *Container) incident(ctx context.Context, m events.Message) (i bench.Incident, ok bool) {
	if m.Type == events.NetworkEventType {
		return c.networkIncident(ctx, m)
	}
	if m.Actor.ID != c.id {
		return i, false
	}
	switch m.Action {
	case events.ActionPause:
		i.Kind, i.Text = bench.IncidentPaused, "paused from outside"
	case events.ActionUnPause:
		i.Kind, i.Text = bench.IncidentUnpaused, "runs again: the pause from outside has ended"
	case events.ActionOOM:
		i.Kind, i.Text = bench.IncidentOOM, "out of memory: the kernel has killed one of its processes"
	case events.ActionKill:
		i.Kind, i.Text = bench.IncidentKilled, "somebody has sent it "+namedSignal(m.Actor.Attributes["signal"])+" from outside, through the container engine"
	case events.ActionUpdate:
		i.Kind, i.Text = bench.IncidentLimits, "its limits were changed from outside"
	default:
		return i, false
	}
	return i, true
}

// networkIncident leaves out what the engine itself does with the network of a container that has
// ended.
func (c *Container) networkIncident(ctx context.Context, m events.Message) (i bench.Incident, ok bool) {
	if m.Actor.Attributes["container"] != c.id {
		return i, false
	}
	name := bounded(m.Actor.Attributes["name"])
	switch m.Action {
	case events.ActionDisconnect:
		if _, running, err := c.state(ctx); err != nil || !running {
			return i, false
		}
		return bench.Incident{Kind: bench.IncidentNetwork, Text: "its network was cut from outside: disconnected from " + name}, true
	case events.ActionConnect:
		if m.TimeNano <= c.startedAt.Add(c.ahead).UnixNano() {
			return i, false // by its start
		}
		return bench.Incident{Kind: bench.IncidentNetwork, Text: "connected to the network " + name + " from outside"}, true
	}
	return i, false
}

// namedSignal is "SIGTERM" for "15" and "SIGTERM".
func namedSignal(text string) string {
	if n, err := strconv.Atoi(text); err == nil {
		if name := signalName(128 + n); name != "" {
			return name
		}
		return "signal " + strconv.Itoa(n)
	}
	return bounded(text)
}

// bounded keeps a name from an event short.
func bounded(s string) string {
	if len(s) > 100 {
		s = s[:100]
	}
	return s
}

// Ailment says what the engine knows of why a running container does not answer; "" for nothing.
func (c *Container) Ailment(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	answer, err := c.engine.cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	raw := answer.Container
	switch {
	case err != nil:
		return "the container engine does not answer: " + err.Error()
	case raw.State == nil:
		return ""
	case raw.State.Paused:
		return "it is paused from outside (docker pause)"
	case !raw.State.Running || c.inside == "" || raw.NetworkSettings == nil:
		return ""
	}
	for _, n := range raw.NetworkSettings.Networks {
		if n != nil && n.IPAddress.IsValid() {
			return ""
		}
	}
	return "its network was cut from outside (docker network disconnect)"
}
