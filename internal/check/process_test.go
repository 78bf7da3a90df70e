//go:build linux

package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
	"locbench/services/go-nethttp/locations"
)

func TestMain(m *testing.M) {
	if run := contenders[os.Getenv("CHECK_CONTENDER")]; run != nil {
		os.Exit(run())
	}
	goleak.VerifyTestMain(m,
		// Kept connections of http.DefaultClient, with which the tests fill their store.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// contenders are programs that this test binary turns into when CHECK_CONTENDER names one. They
// show the behaviours that lifecycle checks must tell apart. They find out by themselves whether
// they have their environment.
var contenders = map[string]func() int{
	// The reference contender.
	"good": func() int {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		cfg, err := locations.ConfigFromEnv(os.Getenv, os.Stdout)
		if err == nil {
			err = locations.Run(ctx, cfg)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"starts without a store": func() int { fmt.Println("up"); return hang() },
	"exits with 0":           func() int { fmt.Println("no store"); return 0 },
	"says nothing":           func() int { return 1 },
	"is killed": func() int {
		fmt.Println("about to die")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return hang()
	},
	"logs nothing": func() int {
		l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
		if err != nil {
			return 1
		}
		http.Serve(l, http.NotFoundHandler())
		return 1
	},
}

// hang serves nobody and ignores SIGTERM.
func hang() int {
	signal.Ignore(syscall.SIGTERM)
	time.Sleep(time.Minute)
	return 0
}

// processLauncher starts this test binary as a contender. It honours the contract of Launcher and
// bench.Instance.
type processLauncher struct {
	contender string
	enforced  bool // what the instances say of their limits

	mu     sync.Mutex
	specs  []bench.LaunchSpec
	living int
}

func (p *processLauncher) Launch(_ context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.specs = append(p.specs, spec)
	if p.contender == "" {
		return nil, errors.New("no such image")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"CHECK_CONTENDER=" + p.contender}
	for k, v := range spec.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	inst := &process{launcher: p, cmd: cmd, exited: make(chan struct{}), info: bench.InstanceInfo{
		Runtime: bench.RuntimeProcess, StartedAt: time.Now(), Limits: spec.Limits, LimitsEnforced: p.enforced,
		LimitsNote: "limits not enforced: a test", Address: "127.0.0.1:" + strconv.Itoa(spec.Port),
	}}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.living++
	inst.info.PID = cmd.Process.Pid
	inst.done.Go(func() { inst.wait(out) })
	return inst, nil
}

func (p *processLauncher) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.living
}

type process struct {
	launcher *processLauncher
	cmd      *exec.Cmd
	info     bench.InstanceInfo
	exited   chan struct{}
	done     sync.WaitGroup

	mu   sync.Mutex
	logs []bench.LogLine
	exit *bench.Exit
	stop *bench.StopResult
}

func (p *process) wait(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.mu.Lock()
		p.logs = append(p.logs, bench.LogLine{At: time.Now(), Stream: "stdout", Text: lines.Text()})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait()
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	exit := &bench.Exit{At: time.Now(), Code: status.ExitStatus()}
	if status.Signaled() {
		exit.Code, exit.Signal = 128+int(status.Signal()), "SIGKILL"
	}
	p.mu.Lock()
	p.exit = exit
	p.mu.Unlock()
	close(p.exited)
}

func (p *process) BaseURL() string          { return "http://" + p.info.Address }
func (p *process) Info() bench.InstanceInfo { return p.info }
func (p *process) Exited() <-chan struct{}  { return p.exited }

func (p *process) Exit() *bench.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

func (p *process) Logs() []bench.LogLine {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]bench.LogLine(nil), p.logs...)
}

func (p *process) Usage(context.Context) (bench.Usage, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.info.PID))
	if err != nil {
		return bench.Usage{}, err
	}
	_, after, _ := strings.Cut(string(status), "Threads:")
	threads, err := strconv.Atoi(strings.Fields(after)[0])
	one := 1
	return bench.Usage{At: time.Now(), Source: "/proc", Processes: &one, Threads: &threads}, err
}

func (p *process) Stop(_ context.Context, grace time.Duration) (bench.StopResult, error) {
	p.mu.Lock()
	stopped, already := p.stop, p.exit != nil
	p.mu.Unlock()
	if stopped != nil {
		return *stopped, nil
	}
	start, result := time.Now(), bench.StopResult{Already: already}
	if !already {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.exited:
		case <-time.After(grace):
			result.Killed = true
			_ = p.cmd.Process.Kill()
		}
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
