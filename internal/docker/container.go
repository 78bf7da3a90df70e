package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/text/safe"
)

// ContainerSpec says what to run, without the health check of the image: it would run in measured steps.
type ContainerSpec struct {
	Name       string // part of the container's name; characters that the engine refuses are replaced
	Image      string
	Command    []string // nil: the image's
	Env        map[string]string
	Limits     bench.Limits      // without CPUSet, for which CPUs has the set
	CPUs       cpuset.Set        // empty: all
	Port       int               // port that the service listens on; 0: none
	Ready      int               // another port that is reached; 0: none
	NoGain     bool              // its processes gain no privileges by starting a program
	Hardened   *bench.Privileges // privileges on top of a contender's; nil: the engine's defaults
	OnLog      func(bench.LogLine)
	OnIncident func(bench.Incident) // called for what others do to the container; may be nil

	// Zero values leave what the image and the engine have.
	Entrypoint []string
	User       string
	Hostname   string
	Aliases    []string // more names in Network
	Joins      string   // name of another network that it is in from its start on; "": none
	Mounts     []Mount
	Tmpfs      []Tmpfs
	ShmSize    int64 // bytes
	ReadOnly   bool  // the root file system
	Ulimits    []Ulimit
	Init       bool // an init process forwards signals and reaps processes
	StopSignal string

	in place // Group.Run sets it
}

// place is where a container runs.
type place struct {
	labels  map[string]string // LabelRun must be among them, or Clean will not find the container
	network string            // name or ID
	publish bool              // reach ports through those of the engine's machine, not at the container's address
	host    string            // what the name host.docker.internal leads to in the container; "": nothing
}

// Mount is a volume in a container, a file or folder of this machine that is copied for it, or a link.
type Mount struct {
	Volume   string // its name
	Source   string // absolute path on this machine
	Link     string // a path in the container
	Target   string
	ReadOnly bool // of a volume
	Complete bool // an empty volume does not get what the image has at Target
}

// Tmpfs is a file system in memory.
type Tmpfs struct {
	Target, Options string
}

// Ulimit is a limit of processes, such as nofile; -1: none.
type Ulimit struct {
	Name       string
	Soft, Hard int64
}

// Container is a container that Group.Run has started. All times are by this machine's clock.
type Container struct {
	engine      *Engine
	id          string
	cancel      context.CancelFunc // ends the goroutines below
	logs        safe.Ring
	logSize     safe.LogSize
	copied      chan struct{} // closed at the end of the log
	conn        net.Conn      // the connection that brings the log
	clockOffset time.Duration // the engine's clock minus this machine's
	exited      chan struct{}
	done        sync.WaitGroup

	address   string
	inside    string
	ready     string
	signal    string // that stops it
	imageID   string
	pid       int
	startedAt time.Time
	started   string      // startedAt, as the engine writes it
	given     []string    // paths at which files of this machine were copied
	stopping  atomic.Bool // locbench has begun to stop the container
	exit      atomic.Pointer[bench.Exit]

	stop    sync.Once
	stopped bench.StopResult
	stopErr error
}

// createTimeout bounds each call that makes or starts something. The caller's context does not
// interrupt these calls: an engine that is cut off while it creates a container may still create
// it, and locbench would not know its ID.
const createTimeout = 2 * time.Minute

// run creates a container, follows its log from the first byte and starts it. After an error, also
// that of ctx, none is left. warnings are the engine's, about limits that it cannot enforce.
func (e *Engine) run(ctx context.Context, spec ContainerSpec) (c *Container, warnings []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	uncancelled, cancel := detached(ctx, createTimeout)
	defer cancel()
	created, err := e.create(uncancelled, spec)
	if err != nil {
		return nil, nil, fmt.Errorf("create container of %s: %w", spec.Image, noSpace(translateNotFound(err)))
	}
	follow, stopFollowing := context.WithCancel(context.WithoutCancel(ctx))
	c = &Container{engine: e, id: created.ID, cancel: stopFollowing}
	if err := c.give(ctx, spec.Mounts); err != nil {
		defer stopFollowing()
		return nil, nil, errors.Join(err, c.drop(ctx))
	}
	c.copied, c.exited = make(chan struct{}), make(chan struct{})
	if err := c.start(ctx, uncancelled, follow, spec); err != nil {
		return nil, nil, fmt.Errorf("start container of %s: %w", spec.Image, c.abandon(ctx, noSpace(err)))
	}
	return c, created.Warnings, nil
}

// start follows the log and starts the container. Its goroutines run until follow ends. The calls
// use uncancelled; ctx is checked between them.
func (c *Container) start(ctx, uncancelled, follow context.Context, spec ContainerSpec) error {
	var err error
	if spec.Joins != "" {
		if _, err := c.engine.cli.NetworkConnect(uncancelled, spec.Joins, client.NetworkConnectOptions{Container: c.id}); err != nil {
			return fmt.Errorf("connect to network %s: %w", spec.Joins, err)
		}
	}
	if c.clockOffset, err = c.engine.ClockOffset(uncancelled); err != nil {
		return err
	}
	all := client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true}
	stream, err := c.engine.cli.ContainerAttach(uncancelled, c.id, all)
	if err != nil {
		return fmt.Errorf("follow the log: %w", cmp.Or(c.refused(uncancelled), err))
	}
	c.conn = stream.Conn
	c.done.Go(func() {
		defer close(c.copied)
		copyLog(stream.Reader, &c.logSize, time.Now, func(l bench.LogLine) {
			c.logs.Add(l)
			if spec.OnLog != nil {
				spec.OnLog(l)
			}
		})
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	var events client.EventsResult
	if spec.OnIncident != nil {
		events = c.watch(follow, time.Now().Add(c.clockOffset))
	}
	if _, err := c.engine.cli.ContainerStart(uncancelled, c.id, client.ContainerStartOptions{}); err != nil {
		return err
	}
	inspected, err := c.engine.cli.ContainerInspect(uncancelled, c.id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	state := inspected.Container
	c.imageID, c.pid, c.started = state.Image, state.State.Pid, state.State.StartedAt
	c.signal = stopSignal(state.Config)
	c.startedAt = c.engineTime(c.started)
	c.reach(state, spec)
	c.done.Go(func() { c.wait(follow) })
	if spec.OnIncident != nil {
		c.done.Go(func() { c.follow(follow, events, spec.OnIncident) })
	}
	return ctx.Err()
}

// refused sends the request that follows the log again and returns the engine's reason to refuse it, which the
// client drops; nil: it gave none. Podman, which prepares the start then, says there what Docker says at the start.
func (c *Container) refused(ctx context.Context) error {
	dial := c.engine.cli.Dialer()
	web := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx)
	}}}
	url := fmt.Sprintf("http://engine/v%s/containers/%s/attach?stream=1&stdout=1&stderr=1", c.engine.cli.ClientVersion(), c.id)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return nil
	}
	response, err := web.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	if response.StatusCode < http.StatusBadRequest { // a log without an end
		return nil
	}
	var said struct{ Message string }
	if err := json.NewDecoder(io.LimitReader(response.Body, maxMessage)).Decode(&said); err != nil || said.Message == "" {
		return nil
	}
	return errors.New("Error response from daemon: " + safe.Line(said.Message, maxMessage))
}

// abandon removes a container whose start failed, and returns why, with a note if it could not.
func (c *Container) abandon(ctx context.Context, why error) error {
	clean, cancel := detached(ctx, cleanupTimeout)
	defer cancel()
	if err := c.remove(clean); err != nil {
		why = fmt.Errorf("%w (its removal failed too: %w)", why, err)
	}
	c.finish()
	return why
}

// reach finds the addresses of spec's ports; port 0, which refuses connections, for an exited
// container.
func (c *Container) reach(state container.InspectResponse, spec ContainerSpec) {
	c.address, c.inside = c.addresses(state, spec, spec.Port)
	c.ready, _ = c.addresses(state, spec, spec.Ready)
}

// addresses returns where this machine and containers in the same network reach a port.
func (c *Container) addresses(state container.InspectResponse, spec ContainerSpec, port int) (address, inside string) {
	if port == 0 {
		return "", ""
	}
	address = "127.0.0.1:0"
	if state.NetworkSettings == nil {
		return address, ""
	}
	if at := networkAddress(state, spec.in.network); at != "" {
		inside = net.JoinHostPort(at, strconv.Itoa(port))
	}
	if !spec.in.publish && inside != "" {
		address = inside
	}
	if b := state.NetworkSettings.Ports[tcpPort(port)]; spec.in.publish && len(b) > 0 {
		address = net.JoinHostPort(c.engine.PublishedHost(), b[0].HostPort)
	}
	return address, inside
}

// networkAddress returns the container's address in a network, or in one of its networks; "" if it
// has none.
func networkAddress(state container.InspectResponse, network string) string {
	if n := state.NetworkSettings.Networks[network]; n != nil && n.IPAddress.IsValid() {
		return n.IPAddress.String()
	}
	for _, n := range state.NetworkSettings.Networks {
		if n != nil && n.IPAddress.IsValid() {
			return n.IPAddress.String()
		}
	}
	return ""
}

// engineTime translates a time by the engine's clock to this machine's; zero if text is not a time.
func (c *Container) engineTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 2000 { // "0001-01-01T00:00:00Z": never
		return time.Time{}
	}
	return t.Add(-c.clockOffset)
}

// ID returns the container's full ID.
func (c *Container) ID() string { return c.id }

// ImageID returns the sha256 of the configuration of the container's image.
func (c *Container) ImageID() string { return c.imageID }

// PID returns the main process's number on the engine's machine; 0 if it exited before it was read.
func (c *Container) PID() int { return c.pid }

// Address returns the host:port at which this machine reaches the service.
func (c *Container) Address() string { return c.address }

// ReadyAddress returns the host:port at which this machine reaches ContainerSpec.Ready; "": none.
func (c *Container) ReadyAddress() string { return c.ready }

// StopSignal returns the signal that stops the container, that of its image unless given: "SIGTERM".
func (c *Container) StopSignal() string { return c.signal }

// NetworkAddress returns the service's host:port in the container's network; "" if there is none.
func (c *Container) NetworkAddress() string { return c.inside }

// StartedAt returns the time at which the engine had started the main process.
func (c *Container) StartedAt() time.Time { return c.startedAt }

// Logs returns the last lines of the log.
func (c *Container) Logs() []bench.LogLine { return c.logs.Lines() }

// LogSize returns how much the container has written to its log.
func (c *Container) LogSize() *bench.Log { return c.logSize.Log() }

// Exited returns a channel that is closed once the main process has exited and its log is read.
func (c *Container) Exited() <-chan struct{} { return c.exited }

// Exit returns how the process exited; nil while it runs. Code -1 is unknown; the log says why.
func (c *Container) Exit() *bench.Exit { return c.exit.Load() }

func (c *Container) remove(ctx context.Context) error {
	err := retryWhileAway(ctx, func() error {
		_, err := c.engine.cli.ContainerRemove(ctx, c.id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		return err
	})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("remove container %.12s: %w", c.id, err)
}

// finish ends the goroutines and waits for them.
func (c *Container) finish() {
	c.cancel()
	if c.conn != nil {
		c.conn.Close()
	}
	c.done.Wait()
}
