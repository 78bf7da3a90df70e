package check

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/services/go-nethttp/locations"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Idle connections of http.DefaultClient, with which the tests fill their store.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// contenders has the behaviors that lifecycle checks must distinguish, each in a goroutine. ctx
// ends with SIGTERM; a contender that does not return then ignores the signal.
var contenders = map[string]func(ctx context.Context, env func(string) string, log func(string)) bench.Exit{
	// The reference contender.
	"good": func(ctx context.Context, env func(string) string, log func(string)) bench.Exit {
		cfg, err := locations.ConfigFromEnv(env, logWriter(log))
		if err == nil {
			err = locations.Run(ctx, cfg)
		}
		if err != nil {
			log(err.Error())
			return bench.Exit{Code: 1}
		}
		return bench.Exit{}
	},
	"starts without a store": func(ctx context.Context, _ func(string) string, log func(string)) bench.Exit {
		log("up")
		return hang()
	},
	"exits with 0": func(_ context.Context, _ func(string) string, log func(string)) bench.Exit {
		log("no store")
		return bench.Exit{}
	},
	"exits late": func(_ context.Context, _ func(string) string, log func(string)) bench.Exit {
		log("no store")
		time.Sleep(1_234_567 * time.Microsecond)
		return bench.Exit{Code: 1}
	},
	"says nothing": func(context.Context, func(string) string, func(string)) bench.Exit { return bench.Exit{Code: 1} },
	"is killed": func(_ context.Context, _ func(string) string, log func(string)) bench.Exit {
		log("about to die")
		return bench.Exit{Code: 137, Signal: "SIGKILL"}
	},
	"logs nothing": func(ctx context.Context, env func(string) string, _ func(string)) bench.Exit {
		l, err := net.Listen("tcp", "127.0.0.1:"+env("PORT"))
		if err != nil {
			return bench.Exit{Code: 1}
		}
		s := &http.Server{Handler: http.NotFoundHandler()}
		defer context.AfterFunc(ctx, func() { s.Close() })()
		_ = s.Serve(l)
		return bench.Exit{}
	},
}

// hang returns the exit of a contender that does not listen and ignores SIGTERM. No other has its
// code.
func hang() bench.Exit { return bench.Exit{Code: hangs} }

const hangs = -99

type logWriter func(string)

func (w logWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		w(strings.TrimSuffix(line, "\n"))
	}
	return len(p), nil
}

// fakeLauncher starts a contender in this process. It keeps the contract of Launcher and
// bench.Instance.
type fakeLauncher struct {
	contender string
	enforced  bool // LimitsEnforced of the instances

	mu     sync.Mutex
	specs  []bench.LaunchSpec
	living int
}

func (p *fakeLauncher) Launch(_ context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.specs = append(p.specs, spec)
	run := contenders[p.contender]
	if run == nil {
		return nil, errors.New("no such image")
	}
	ctx, terminate := context.WithCancel(context.Background())
	inst := &fakeInstance{launcher: p, terminate: terminate, killed: make(chan struct{}), exited: make(chan struct{}), info: bench.InstanceInfo{
		Runtime: bench.RuntimeProcess, StartedAt: time.Now(), Limits: spec.Limits, LimitsEnforced: p.enforced,
		LimitsNote: "a test", Address: "127.0.0.1:" + strconv.Itoa(spec.Port),
	}}
	p.living++
	inst.done.Go(func() {
		defer close(inst.exited)
		exit := run(ctx, func(k string) string { return spec.Env[k] }, inst.log)
		if exit.Code == hangs {
			<-inst.killed
			exit = bench.Exit{Code: 137, Signal: "SIGKILL"}
		}
		exit.At = time.Now()
		inst.mu.Lock()
		defer inst.mu.Unlock()
		inst.exit = &exit
	})
	return inst, nil
}

// newLauncher returns a launcher that must have stopped all instances in the end.
func newLauncher(t *testing.T, contender string, enforced bool) *fakeLauncher {
	p := &fakeLauncher{contender: contender, enforced: enforced}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		testenv.Equal(t, p.living, 0, "instances are left")
	})
	return p
}

type fakeInstance struct {
	launcher  *fakeLauncher
	terminate context.CancelFunc
	killed    chan struct{}
	info      bench.InstanceInfo
	exited    chan struct{}
	done      sync.WaitGroup

	mu   sync.Mutex
	logs []bench.LogLine
	exit *bench.Exit
	stop *bench.StopResult
}

func (p *fakeInstance) log(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.logs = append(p.logs, bench.LogLine{At: time.Now(), Stream: "stdout", Text: line})
}

func (p *fakeInstance) BaseURL() string          { return "http://" + p.info.Address }
func (p *fakeInstance) Info() bench.InstanceInfo { return p.info }
func (p *fakeInstance) Exited() <-chan struct{}  { return p.exited }

func (p *fakeInstance) Exit() *bench.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

func (p *fakeInstance) Logs() []bench.LogLine {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]bench.LogLine(nil), p.logs...)
}

func (p *fakeInstance) Usage(context.Context) (bench.Usage, error) {
	one, threads := 1, 7
	return bench.Usage{At: time.Now(), Source: "fake", Processes: &one, Threads: &threads}, nil
}

func (p *fakeInstance) Stop(_ context.Context, grace time.Duration) (bench.StopResult, error) {
	p.mu.Lock()
	stopped, already := p.stop, p.exit != nil
	p.mu.Unlock()
	if stopped != nil {
		return *stopped, nil
	}
	start, result := time.Now(), bench.StopResult{ExitedBeforeStop: already}
	p.terminate()
	select {
	case <-p.exited:
	case <-time.After(grace):
		result.Killed = true
		close(p.killed)
	}
	p.done.Wait()
	result.Took, result.Exit = time.Since(start), *p.Exit()
	result.Graceful = !already && !result.Killed && result.Exit.Code == 0
	p.mu.Lock()
	p.stop = &result
	p.mu.Unlock()
	p.launcher.mu.Lock()
	p.launcher.living--
	p.launcher.mu.Unlock()
	return result, nil
}
