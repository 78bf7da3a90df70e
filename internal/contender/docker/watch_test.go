package docker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// followed returns what was told of a container while do has happened, a minute after its start, and an
// hour has passed.
func followed(t *testing.T, f *fakeEngine, c *Container, do func()) (told []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	stream := c.watch(ctx, time.Now())
	go func() {
		defer close(ended)
		c.follow(ctx, stream, func(i bench.Incident) { told = append(told, i.At.Sub(c.startedAt).String()+" "+i.Text) })
	}()
	time.Sleep(time.Minute)
	do()
	time.Sleep(time.Hour)
	cancel()
	<-ended
	return told
}

// TestIncidents is about what befalls a container, as the engine's events tell it.
func TestIncidents(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(f *fakeEngine)
		want    []string
	}{
		"paused": {func(f *fakeEngine) {
			f.event("container", "pause")
			f.after(time.Second, func() { f.event("container", "unpause") })
		}, []string{"1m0s paused from outside", "1m1s runs again: the pause from outside has ended"}},
		"out of memory": {func(f *fakeEngine) { f.event("container", "oom") }, []string{"1m0s out of memory: the kernel has killed one of its processes"}},
		"another's": {func(f *fakeEngine) {
			f.event("container", "pause")
			f.past[len(f.past)-1].Actor.ID = "another"
		}, nil},
		"not an incident": {func(f *fakeEngine) { f.event("container", "exec_create") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeEngine()
				told := followed(t, f, f.container(t), func() { f.change(func() { tt.happens(f) }) })
				if !slices.Equal(told, tt.want) {
					t.Errorf("%q, want %q", told, tt.want)
				}
			})
		})
	}
}

// TestIncidents_BrokenStream: what happens while the stream of events is broken is told once it is
// there again, and nothing twice.
func TestIncidents_BrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEngine()
		told := followed(t, f, f.container(t), func() {
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
		want := []string{"1m0s paused from outside", "1m2s runs again: the pause from outside has ended", "2m12s paused from outside"}
		if !slices.Equal(told, want) {
			t.Errorf("%q, want %q", told, want)
		}
	})
}

// TestIncidents_OwnDoing: of what this side does nothing is told.
func TestIncidents_OwnDoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEngine()
		c := f.container(t)
		told := followed(t, f, c, func() {
			c.asked.Store(true)
			f.change(func() { f.event("container", "oom") })
		})
		if len(told) != 0 {
			t.Errorf("%q", told)
		}
	})
}
