package hostusage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// instance counts the readings of its counters: the n-th reading says n ns.
type instance struct {
	bench.Instance
	exited chan struct{}

	mu    sync.Mutex
	reads int
	at    int  // readings in progress
	both  bool // two were in progress at the same time
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
	u, err := ReadInstance(t.Context(), i)
	testenv.Check(t, err == nil && u.CPU == 1, "%+v, %v", u, err)
	i.fail = func(int) error { return errors.New("gone") }
	u, err = ReadInstance(t.Context(), i)
	testenv.Check(t, u == nil && err != nil && err.Error() == "read counters: gone", "%+v, %v", u, err)
}

// starter is an instance whose high-water mark can be reset.
type starter struct {
	*instance
	begun int // number of readings before the reset
	err   error
}

func (s *starter) BeginPeak() error { s.begun = s.reads; return s.err }

func TestBegin(t *testing.T) {
	for _, err := range []error{nil, errors.New("the kernel keeps one mark")} {
		i := &starter{instance: &instance{exited: make(chan struct{})}, begun: -1, err: err}
		if u, err := BeginInstance(t.Context(), i); err != nil || u.CPU != 1 || i.begun != 0 {
			t.Errorf("%+v, %v: the mark began after %d readings", u, err, i.begun)
		}
	}
	u, err := BeginInstance(t.Context(), &instance{exited: make(chan struct{})})
	testenv.Check(t, err == nil && u.CPU == 1, "one that cannot: %+v, %v", u, err)
}

// TestSampler lets every third reading fail, in virtual time. A reading that takes longer
// than the interval makes the next one late; two are never in progress at the same time.
func TestSampler(t *testing.T) {
	for name, tt := range map[string]struct {
		interval, slow time.Duration
		// in ten seconds
		readings, samples, failed int
	}{
		"at every interval":          {time.Second, 3 * time.Millisecond, 10, 7, 3},
		"slower than their interval": {time.Second, 1500 * time.Millisecond, 7, 4, 2}, // the seventh is in progress at the end
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := &instance{exited: make(chan struct{}), slow: tt.slow, fail: func(n int) error {
					if n%3 == 0 {
						return errors.New("now and then")
					}
					return nil
				}}
				var got []bench.Usage
				s := Sample(t.Context(), i, tt.interval, func(u bench.Usage) { got = append(got, u) })
				time.Sleep(10*time.Second + tt.interval/10)
				samples := s.Stop()
				testenv.Check(t, i.reads == tt.readings && len(samples) == tt.samples && s.Failed() == tt.failed,
					"%d readings, %d samples, %d failed", i.reads, len(samples), s.Failed())
				testenv.Check(t, reflect.DeepEqual(samples, got) && !i.both, "%d samples, %d reported, two at a time: %v",
					len(samples), len(got), i.both)
				for n := 1; n < len(samples); n++ {
					testenv.Check(t, samples[n].CPU > samples[n-1].CPU, "sample %d is %v, after %v", n,
						samples[n].CPU, samples[n-1].CPU)
				}
				again := s.Stop()
				testenv.Check(t, len(again) == len(samples), "stopped again: %d samples", len(again))
			})
		})
	}
}

func TestSamplerEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		slow    time.Duration
		after   time.Duration // readings come every second
		end     func(i *instance, cancel func())
		samples int
	}{
		"exit":                  {0, 2500 * time.Millisecond, func(i *instance, _ func()) { close(i.exited) }, 2},
		"context":               {0, 2500 * time.Millisecond, func(_ *instance, cancel func()) { cancel() }, 2},
		"stop":                  {0, 2500 * time.Millisecond, nil, 2},
		"stop during a reading": {time.Hour, 2500 * time.Millisecond, nil, 0},
		"stop before the first": {0, 500 * time.Millisecond, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := &instance{exited: make(chan struct{}), slow: tt.slow}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := Sample(ctx, i, time.Second, nil)
				time.Sleep(tt.after)
				if tt.end != nil {
					tt.end(i, cancel)
					<-s.done // without Stop
				}
				samples := s.Stop()
				testenv.Check(t, len(samples) == tt.samples && s.Failed() == 0, "%d samples, %d failed", len(samples), s.Failed())
			})
		})
	}
}

// TestReadIsGivenUp: an engine that does not respond delays a reading only up to the time limit.
func TestReadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &instance{exited: make(chan struct{}), slow: time.Hour}
		began := time.Now()
		_, err := ReadInstance(t.Context(), i)
		testenv.Check(t, errors.Is(err, context.DeadlineExceeded) && time.Since(began) == readTimeout, "%v after %v", err, time.Since(began))
	})
}

// TestListeners finds sockets of this process in the tables of this machine.
func TestListeners(t *testing.T) {
	for _, c := range []struct{ listen, table string }{{"127.0.0.1:0", "tcp"}, {"[::1]:0", "tcp6"}, {"[::]:0", "tcp6"}} {
		l, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Skipf("%s: %v", c.listen, err)
		}
		defer l.Close()
		data, err := os.ReadFile("/proc/self/net/" + c.table)
		if err != nil {
			t.Skip(err)
		}
		all := Listeners(data)
		i := slices.IndexFunc(all, func(one Listener) bool { return one.Address.String() == l.Addr().String() })
		if i < 0 {
			t.Errorf("%s is not among %v", l.Addr(), all)
			continue
		}
		found := false
		fds, _ := os.ReadDir("/proc/self/fd")
		for _, fd := range fds {
			to, _ := os.Readlink("/proc/self/fd/" + fd.Name())
			found = found || to == "socket:["+all[i].Inode+"]"
		}
		testenv.Check(t, found, "%s: no file of this process is socket:[%s]", l.Addr(), all[i].Inode)
	}
}

func TestListenersOfNonsense(t *testing.T) {
	line := func(address, state string) string {
		return fmt.Sprintf("   0: %s 00000000:0000 %s 00000000:00000000 00:00000000 00000000     0        0 1234 1 0000000000000000 100 0 0 10 0\n", address, state)
	}
	for _, text := range []string{
		"", "sl  local_address rem_address   st\n", "\x00\xff\n", line("0100007F:1F90", "01"), line("0100007F", "0A"), line("0100007:1F90", "0A"), line("01:1F90", "0A"),
		line("0100007F:1F9000", "0A"), line(":1F90", "0A"), line(strings.Repeat("00", 400)+":1F90", "0A"),
	} {
		got := Listeners([]byte(text))
		testenv.Check(t, len(got) == 0, "%.60q: %v", text, got)
	}
	got := Listeners([]byte(strings.Repeat(line("00000000:1F90", "0A"), 5000)))
	testenv.Check(t, len(got) == 1000, "%d of them", len(got))
}

type presser struct {
	times int
	can   bool
}

func (p *presser) AddPressure() bool {
	p.times++
	return p.can
}

// KeepPressure calls those that can, and none after stop.
func TestKeepPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cannot := presser{can: true}, presser{}
		stop := KeepPressure(t.Context(), 50*time.Millisecond, "no presser", &p, &cannot)
		time.Sleep(time.Second + time.Millisecond)
		stop()
		time.Sleep(time.Second)
		testenv.Equal(t, [2]int{p.times, cannot.times}, [2]int{21, 1}, "times")
		KeepPressure(t.Context(), time.Second, "no presser")()
	})
}
