package docker

import (
	"cmp"
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
			if !pause(ctx, rewatch) {
				return
			}
			since := time.Unix(0, last)
			if last == 0 {
				since = time.Now().Add(c.ahead)
			}
			w = c.watch(ctx, since)
		}
	}
}

var incidents = map[events.Action]bench.Incident{
	events.ActionPause:   {Kind: bench.IncidentPaused, Text: "paused from outside"},
	events.ActionUnPause: {Kind: bench.IncidentUnpaused, Text: "runs again: the pause from outside has ended"},
	events.ActionOOM:     {Kind: bench.IncidentOOM, Text: "out of memory: the kernel has killed one of its processes"},
	events.ActionKill:    {Kind: bench.IncidentKilled}, // whose text tells the signal
	events.ActionUpdate:  {Kind: bench.IncidentLimits, Text: "its limits were changed from outside"},
}

// incident translates one event, if it is about this container and somebody else's doing.
func (c *Container) incident(ctx context.Context, m events.Message) (i bench.Incident, ok bool) {
	if m.Type == events.NetworkEventType {
		return c.networkIncident(ctx, m)
	}
	i, ok = incidents[m.Action]
	if m.Action == events.ActionKill {
		signal := namedSignal(m.Actor.Attributes["signal"])
		i.Text = "somebody has sent it " + signal + " from outside, through the container engine"
	}
	return i, ok && m.Actor.ID == c.id
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
		return cmp.Or(signals[n], "signal "+strconv.Itoa(n))
	}
	return bounded(text)
}

// bounded keeps a name from an event short.
func bounded(s string) string { return s[:min(len(s), 100)] }

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
	if networkAddress(raw) != "" {
		return ""
	}
	return "its network was cut from outside (docker network disconnect)"
}
