package docker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// followed returns what was reported of a container for which do is called a minute after its
// start, over an hour.
func followed(t *testing.T, f *fakedocker.Engine, c *Container, do func()) (reported []string) {
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
		happens func(f *fakedocker.Engine)
		want    []string
	}{
		"paused": {func(f *fakedocker.Engine) {
			f.Event(fakedocker.ID, "pause")
			f.After(time.Second, func() { f.Event(fakedocker.ID, "unpause") })
		}, []string{"1m0s paused externally", "1m1s resumed after the external pause"}},
		"out of memory":   {func(f *fakedocker.Engine) { f.Event(fakedocker.ID, "oom") }, []string{"1m0s out of memory: the kernel killed a process"}},
		"another's":       {func(f *fakedocker.Engine) { f.Event("another", "pause") }, nil},
		"not an incident": {func(f *fakedocker.Engine) { f.Event(fakedocker.ID, "exec_create") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				reported := followed(t, f, containerOf(t, f), func() { f.Change(func() { tt.happens(f) }) })
				testenv.Check(t, slices.Equal(reported, tt.want), "%q, want %q", reported, tt.want)
			})
		})
	}
}

// TestIncidents_BrokenStream: incidents during a break of the stream of events are reported after
// it, and none is reported twice.
func TestIncidents_BrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		reported := followed(t, f, containerOf(t, f), func() {
			f.Change(func() { f.Event(fakedocker.ID, "pause") })
			time.Sleep(time.Second)
			f.Change(func() { f.Away = true })
			time.Sleep(time.Second)
			f.Change(func() { f.Event(fakedocker.ID, "unpause") })
			time.Sleep(10 * time.Second)
			f.Change(func() { f.Away = false })
			time.Sleep(time.Minute)
			f.Change(func() { f.Event(fakedocker.ID, "pause") })
		})
		want := []string{"1m0s paused externally", "1m2s resumed after the external pause", "2m12s paused externally"}
		testenv.Check(t, slices.Equal(reported, want), "%q, want %q", reported, want)
	})
}

// TestIncidents_Before: what happened before the start is not reported after a break either.
func TestIncidents_Before(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		f.Change(func() { f.Event(fakedocker.ID, "pause") })
		time.Sleep(time.Second)
		reported := followed(t, f, containerOf(t, f), func() {
			f.Change(func() { f.Away = true })
			time.Sleep(time.Second)
			f.Change(func() { f.Away = false })
			time.Sleep(time.Second)
			f.Change(func() { f.Event(fakedocker.ID, "oom") })
		})
		want := []string{"1m2s out of memory: the kernel killed a process"}
		testenv.Check(t, slices.Equal(reported, want), "%q, want %q", reported, want)
	})
}

// TestIncidents_ByLocbench: what locbench does itself is not an incident.
func TestIncidents_ByLocbench(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		c := containerOf(t, f)
		reported := followed(t, f, c, func() {
			c.stopping.Store(true)
			f.Change(func() { f.Event(fakedocker.ID, "oom") })
		})
		testenv.Check(t, len(reported) == 0, "%q", reported)
	})
}
