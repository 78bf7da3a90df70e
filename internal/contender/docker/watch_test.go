package docker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// followed returns what was reported of a container for which do is called a minute after its
// start, over an hour.
func followed(t *testing.T, f *fakeEngine, c *Container, do func()) (reported []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	stream := c.watch(ctx, time.Now())
	go func() {
		defer close(ended)
		c.follow(ctx, stream, func(i bench.Incident) { reported = append(reported, i.At.Sub(c.startedAt).String()+" "+i.Text) })
	}()
	time.Sleep(time.Minute)
	do()
	time.Sleep(time.Hour)
	cancel()
	<-ended
	return reported
}

// TestIncidents checks the reported incidents of a container for the engine's events.
func TestIncidents(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(f *fakeEngine)
		want    []string
	}{
		"paused": {func(f *fakeEngine) {
			f.event("container", "pause")
			f.after(time.Second, func() { f.event("container", "unpause") })
		}, []string{"1m0s paused externally", "1m1s resumed after the external pause"}},
		"out of memory": {func(f *fakeEngine) { f.event("container", "oom") }, []string{"1m0s out of memory: the kernel killed a process"}},
		"another's": {func(f *fakeEngine) {
			f.event("container", "pause")
			f.past[len(f.past)-1].Actor.ID = "another"
		}, nil},
		"not an incident": {func(f *fakeEngine) { f.event("container", "exec_create") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeEngine()
				reported := followed(t, f, f.container(t), func() { f.change(func() { tt.happens(f) }) })
				if !slices.Equal(reported, tt.want) {
					t.Errorf("%q, want %q", reported, tt.want)
				}
			})
		})
	}
}

// TestIncidents_BrokenStream: incidents during a break of the stream of events are reported after
// it, and none is reported twice.
func TestIncidents_BrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEngine()
		reported := followed(t, f, f.container(t), func() {
			f.change(func() { f.event("container", "pause") })
			time.Sleep(time.Second)
			f.change(func() { f.away = true })
			time.Sleep(time.Second)
			f.change(func() { f.event("container", "unpause") })
			time.Sleep(10 * time.Second)
			f.change(func() { f.away = false })
			time.Sleep(time.Minute)
			f.change(func() { f.event("container", "pause") })
		})
		want := []string{"1m0s paused externally", "1m2s resumed after the external pause", "2m12s paused externally"}
		if !slices.Equal(reported, want) {
			t.Errorf("%q, want %q", reported, want)
		}
	})
}

// TestIncidents_ByLocbench: what locbench does itself is not an incident.
func TestIncidents_ByLocbench(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEngine()
		c := f.container(t)
		reported := followed(t, f, c, func() {
			c.stopping.Store(true)
			f.change(func() { f.event("container", "oom") })
		})
		if len(reported) != 0 {
			t.Errorf("%q", reported)
		}
	})
}
