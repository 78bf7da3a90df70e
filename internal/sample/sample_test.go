package sample

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// instance counts the readings of its counters: the n-th reading says n ns.
type instance struct {
	bench.Instance
	exited chan struct{}

	mu    sync.Mutex
	reads int
	at    int  // readings under way
	both  bool // two were at a time
	fail  func(n int) error
	slow  time.Duration
}

func (i *instance) Exited() <-chan struct{} { return i.exited }

func (i *instance) Usage(ctx context.Context) (bench.Usage, error) {
	i.mu.Lock()
	i.reads++
	n := i.reads
	i.at++
	i.both = i.both || i.at > 1
	i.mu.Unlock()
	defer func() { i.mu.Lock(); i.at--; i.mu.Unlock() }()
	select {
	case <-time.After(i.slow):
	case <-ctx.Done():
		return bench.Usage{}, ctx.Err()
	}
	if i.fail != nil {
		if err := i.fail(n); err != nil {
			return bench.Usage{}, err
		}
	}
	return bench.Usage{CPU: time.Duration(n)}, nil
}

func TestRead(t *testing.T) {
	i := &instance{exited: make(chan struct{})}
	if u, err := Read(t.Context(), i); err != nil || u.CPU != 1 {
		t.Errorf("%+v, %v", u, err)
	}
	i.fail = func(int) error { return errors.New("gone") }
	if u, err := Read(t.Context(), i); u != nil || err == nil || err.Error() != "read counters: gone" {
		t.Errorf("%+v, %v", u, err)
	}
}

// starter is an instance whose high-water mark can begin anew.
type starter struct {
	*instance
	begun int // readings there had been when it did
	err   error
}

func (s *starter) BeginPeak() error { s.begun = s.reads; return s.err }

func TestBegin(t *testing.T) {
	for _, err := range []error{nil, errors.New("the kernel keeps one mark")} {
		i := &starter{instance: &instance{exited: make(chan struct{})}, begun: -1, err: err}
		if u, err := Begin(t.Context(), i); err != nil || u.CPU != 1 || i.begun != 0 {
			t.Errorf("%+v, %v: the mark began after %d readings", u, err, i.begun)
		}
	}
	if u, err := Begin(t.Context(), &instance{exited: make(chan struct{})}); err != nil || u.CPU != 1 {
		t.Errorf("one that cannot: %+v, %v", u, err)
	}
}

func TestSampler(t *testing.T) {
	i := &instance{exited: make(chan struct{}), slow: 3 * time.Millisecond, fail: func(n int) error {
		if n%3 == 0 {
			return errors.New("now and then")
		}
		return nil
	}}
	var mu sync.Mutex
	var got []bench.Usage
	s := Start(t.Context(), i, time.Millisecond, func(u bench.Usage) { mu.Lock(); got = append(got, u); mu.Unlock() })
	testenv.Until(t, 10*time.Second, "ten readings", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) >= 10 })
	samples := s.Stop()
	if len(samples) != len(got) || s.Failed() < 3 || i.both {
		t.Errorf("%d samples, %d reported, %d failed, two at a time: %v", len(samples), len(got), s.Failed(), i.both)
	}
	for n := range samples {
		if samples[n] != got[n] || n > 0 && samples[n].CPU <= samples[n-1].CPU {
			t.Errorf("sample %d: %+v, reported %+v", n, samples[n], got[n])
		}
	}
	if again := s.Stop(); len(again) != len(samples) {
		t.Errorf("stopped again: %d samples", len(again))
	}
}

func TestSamplerEnds(t *testing.T) {
	for _, how := range []string{"exit", "context", "stop during a reading", "stop before the first"} {
		t.Run(strings.ReplaceAll(how, " ", "_"), func(t *testing.T) {
			i := &instance{exited: make(chan struct{})}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			interval := time.Millisecond
			switch how {
			case "stop during a reading":
				i.slow = time.Hour
			case "stop before the first":
				interval = time.Hour
			}
			s := Start(ctx, i, interval, nil)
			if how != "stop before the first" {
				testenv.Until(t, 10*time.Second, "a reading", func() bool { i.mu.Lock(); defer i.mu.Unlock(); return i.reads > 0 })
			}
			switch how {
			case "exit":
				close(i.exited)
				<-s.done
			case "context":
				cancel()
				<-s.done
			}
			if samples := s.Stop(); interval == time.Hour && len(samples) > 0 || s.Failed() > 0 {
				t.Errorf("%d samples, %d failed", len(samples), s.Failed())
			}
		})
	}
}
