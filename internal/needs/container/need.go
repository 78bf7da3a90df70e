package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/secret"
)

// find finds the service of a profile. It starts nothing, and looks for no image.
func find(n bench.NeedSpec, _ bench.Profile, url string) (found needs.Found, err error) {
	complete(&n)
	s, err := bench.ReadForm[service](n.Of)
	if err != nil {
		return found, fmt.Errorf("need %s is not in a form that this locbench reads: %w", n.Name, err)
	}
	p, _ := presetOf(s)
	need := &Need{name: n.Name, from: n.From, spec: s, preset: p, pace: usual}
	if need.from.Traits().ByURL {
		need.url = n.URL
		if url != "" {
			need.url = url
		}
	}
	if !need.from.Traits().None {
		found.Need = need
	}
	return found, nil
}

// Need is a service in a container, or an external one.
type Need struct {
	name   string
	from   bench.NeedOrigin
	spec   service
	preset preset
	url    string // of an external one, with places for variables
	pace   pace

	// Open sets these.
	at     needs.Place
	engine needs.Containers
	image  docker.Image
	images []bench.NeedPart
	ports  ports
	env    map[string]string
	target string       // host:port of an external one
	relay  func() error // ends it; nil: there is none
	copied bool         // a contender has it for itself; its state is that of another need
	state  state
	notes  notes         // what its log said
	took   time.Duration // of the first start, until it was ready
	// unenforced are the limits of the last start that the engine does not enforce.
	unenforced string

	mu      sync.Mutex // of what follows
	running needs.Container
	usage   *hostusage.Counters
	address bench.NeedAddress
	kills   int64 // processes that the kernel had killed at the last restore
	used    bool  // a contender may have got the address since the last restore
	version string
}

// pace says how a service is checked until it is ready.
type pace struct {
	again time.Duration // after a check that failed, at least
	apart time.Duration // after one that succeeded
	// open is how long a connection must stay open: some servers, and what forwards to one that is
	// not there, accept connections and close them.
	open time.Duration
}

var usual = pace{again: 200 * time.Millisecond, apart: 500 * time.Millisecond, open: 100 * time.Millisecond}

// external reports whether locbench did not start it.
func (n *Need) external() bool { return n.from.Traits().ByURL }

// current returns the container that runs, or ran last; nil: none.
func (n *Need) current() needs.Container {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running
}

// set replaces the running container, and where contenders reach it.
func (n *Need) set(c needs.Container, usage *hostusage.Counters, address bench.NeedAddress) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.usage
	n.running, n.usage, n.address, n.used, n.kills = c, usage, address, false, 0
	return before.Close()
}

// Address returns where contenders reach the service. From then on it counts as changed.
func (n *Need) Address() bench.NeedAddress {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.used = true
	return n.address
}

// Read reads the counters of the container that runs.
func (n *Need) Read() *bench.NeedUsage {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.usage.Read()
}

// AddPressure makes the kernel add up the waiting of the container for disks.
func (n *Need) AddPressure() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.usage.AddPressure()
}

// Info describes the service: its image, or where it is.
func (n *Need) Info() bench.NeedInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	info := bench.NeedInfo{Name: n.name, From: n.from, Version: cmp.Or(n.spec.Image, n.spec.Dockerfile.short())}
	if n.version != "" {
		info.Version += " (" + n.version + ")"
	}
	if n.external() {
		info.URL, info.Version = n.url, n.url
		if strings.Contains(n.url, "://") {
			info.URL = secret.WithoutUser(bench.FillEnv(n.url, func(string) string { return secret.Mask }))
			info.Version = info.URL
		}
	}
	return info
}

// Alive returns an error if the container has ended, or its port does not accept connections.
func (n *Need) Alive(ctx context.Context) error {
	c := n.current()
	if c == nil {
		if n.target != "" {
			return accepts(ctx, n.target, 0)
		}
		return nil
	}
	if exit := exitOf(c); exit != nil {
		return fmt.Errorf("it has ended: %s%s", n.death(exit), n.lastLines(c))
	}
	n.mu.Lock()
	usage, before := n.usage.Read(), n.kills
	n.mu.Unlock()
	if err := outOfMemory(usage, before); err != nil {
		return err
	}
	if why := c.Diagnose(ctx); why != "" { // the kernel of a paused one accepts connections
		return errors.New(why)
	}
	if n.ports[mainPort] == 0 {
		return nil
	}
	return accepts(ctx, c.Address(), 0)
}

// outOfMemory returns an error if the kernel has killed more processes of a service than before.
// Such a server may continue to run, and have lost its connections.
func outOfMemory(u *bench.NeedUsage, before int64) error {
	if u == nil || u.Memory == nil || u.Memory.OOMKills <= before {
		return nil
	}
	text := "the kernel killed " + units.Plural(u.Memory.OOMKills-before, "process") + " of it: out of memory"
	if u.Memory.Limit > 0 {
		text += ", its limit is " + units.Bytes(u.Memory.Limit)
	}
	return errors.New(text)
}

// killed returns the number of processes that the kernel has killed; 0: none, or not known.
func killed(u *bench.NeedUsage) int64 {
	if u == nil || u.Memory == nil {
		return 0
	}
	return u.Memory.OOMKills
}

// Close removes the container and all volumes. The seeded state of a copy is not its own.
func (n *Need) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var errs []error
	if n.relay != nil {
		errs = append(errs, n.relay())
		n.relay = nil
	}
	return errors.Join(append(errs, n.kill(ctx), n.state.remove(ctx, n.engine, !n.copied))...)
}

// kill ends and removes the container that runs, if any.
func (n *Need) kill(ctx context.Context) error {
	c := n.current()
	if c == nil {
		return nil
	}
	if err := c.Kill(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	address := n.address
	n.mu.Unlock()
	return n.set(nil, nil, address)
}

// exitOf returns how a container ended; nil while it runs.
func exitOf(c needs.Container) *bench.Exit {
	select {
	case <-c.Exited():
		if exit := c.Exit(); exit != nil {
			return exit
		}
		return &bench.Exit{Code: -1}
	default:
		return nil
	}
}
