package container

import (
	"context"
	"errors"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
)

// running is the container of a need that runs, and what others may ask for at any time.
type running struct {
	mu      sync.Mutex
	c       needs.Container
	usage   *hostusage.Counters
	address bench.NeedAddress
	kills   int64 // processes that the kernel had killed at the last restore
	used    bool  // a contender may have got the address since the last restore
}

// current returns the container that runs, or ran last; nil: none.
func (r *running) current() needs.Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.c
}

// set replaces the running container, and where contenders reach it.
func (r *running) set(c needs.Container, usage *hostusage.Counters, address bench.NeedAddress) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.usage
	r.c, r.usage, r.address, r.used, r.kills = c, usage, address, false, 0
	return before.Close()
}

// where returns where contenders reach the service, and whether one may have got that since the last
// restore.
func (r *running) where() (at bench.NeedAddress, used bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address, r.used
}

// Address returns where contenders reach the service. From then on it counts as changed.
func (r *running) Address() bench.NeedAddress {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = true
	return r.address
}

// Read reads the counters of the container that runs.
func (r *running) Read() *bench.NeedUsage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage.Read()
}

// AddPressure makes the kernel add up the waiting of the container for disks.
func (r *running) AddPressure() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage.AddPressure()
}

// Local returns where this machine reaches the service, as HOST:PORT; "" while it does not run.
func (r *running) Local() string {
	if c := r.current(); c != nil {
		return c.Address()
	}
	return ""
}

// kill ends and removes the container that runs, if any.
func (r *running) kill(ctx context.Context) error {
	c := r.current()
	if c == nil {
		return nil
	}
	if err := c.Kill(ctx); err != nil {
		return err
	}
	address, _ := r.where()
	return r.set(nil, nil, address)
}

// outOfMemory returns an error if the kernel has killed more processes of a service than at the last
// restore. Such a server may continue to run, and have lost its connections.
func (r *running) outOfMemory() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return outOfMemory(r.usage.Read(), r.kills)
}

func outOfMemory(u *bench.NeedUsage, before int64) error {
	if killed(u) <= before {
		return nil
	}
	text := "the kernel killed " + units.Plural(killed(u)-before, "process") + " of it: out of memory"
	if u.Memory.Limit > 0 {
		text += ", its limit is " + units.Bytes(u.Memory.Limit)
	}
	return errors.New(text)
}

// noteKills makes outOfMemory count from now on.
func (r *running) noteKills() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills = killed(r.usage.Read())
}

// killed returns the number of processes that the kernel has killed; 0: none, or not known.
func killed(u *bench.NeedUsage) int64 {
	if u == nil || u.Memory == nil {
		return 0
	}
	return u.Memory.OOMKills
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
