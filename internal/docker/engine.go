// Package docker is locbench's only access to a Docker engine. It finds the engine as the docker
// command does, builds and pulls images, runs containers under limits, and finds by label what a
// killed run has left.
//
// Its API has no type of the docker client.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/secret"
)

// The labels of all that locbench creates in an engine. Clean also checks that names match
// LabelRun.
const (
	LabelRun   = "locbench.run"   // the ID of the run
	LabelName  = "locbench.name"  // the trial or check
	LabelOwner = "locbench.owner" // the locbench process; once it is dead, Clean may remove the object
)

const (
	pingTimeout    = 5 * time.Second  // for the first response; after it the engine counts as absent
	infoTimeout    = 20 * time.Second // for one request, also to a busy engine
	pullTimeout    = time.Hour        // for an image, with all its layers
	enginePatience = 10 * time.Second // for an engine to come back, before its objects are given up
	cleanupTimeout = 30 * time.Second // for removals after the caller's context has ended
)

// Engine is a connection to a Docker engine. It is safe for concurrent use.
type Engine struct {
	cli      *client.Client
	host     string
	info     Info
	root     ownRoot
	peer     netip.Addr        // the engine's address; none for a socket or a pipe
	proxies  map[string]string // build arguments, see readProxies
	patience time.Duration     // the time limit of one request
	local    atomic.Bool       // see Local
}

// Info is what the engine says about itself and its machine.
type Info struct {
	Name          string // the machine's host name
	Version       string // the engine's version
	APIVersion    string // the negotiated version
	OS            string // "linux"
	Arch          string // as Go names it: "amd64"
	Kernel        string
	System        string // "Debian GNU/Linux 12 (bookworm)", "Docker Desktop"
	CPUs          int
	MemoryBytes   int64
	CgroupVersion int // 1, 2; 0 unknown
	Rootless      bool
	Podman        bool // it is not Docker
	CPUQuota      bool // this and the next four: whether the kernel can enforce the limit
	CPUSet        bool
	MemoryLimit   bool
	SwapLimit     bool
	PIDsLimit     bool
	BuildKit      bool           // it has BuildKit, too
	Root          string         // folder of its data, on its machine
	Warnings      bench.Warnings // the engine's warnings about itself
}

// Connect finds the engine (DOCKER_HOST, DOCKER_CONTEXT, the current context, the default socket)
// and reads its properties. Where there is no engine, the error is a *ConnectError.
func Connect(ctx context.Context) (*Engine, error) {
	home, _ := os.UserHomeDir() // without one, there are no contexts
	return connect(ctx, os.Getenv, home)
}

func connect(ctx context.Context, getenv func(string) string, home string) (*Engine, error) {
	ep, err := resolve(getenv, home)
	if err != nil {
		return nil, err
	}
	cli, err := ep.client()
	if err != nil {
		return nil, fmt.Errorf("docker engine %s: %w", ep.host, err)
	}
	var peer netip.Addr
	var dialed atomic.Pointer[net.OpError] // why the last dial failed; the client keeps only words of it
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) {
			failed, _ := errors.AsType[*net.OpError](err)
			dialed.Store(failed)
		},
		GotConn: func(c httptrace.GotConnInfo) {
			if at, err := netip.ParseAddrPort(c.Conn.RemoteAddr().String()); err == nil {
				peer = at.Addr().Unmap()
			}
		},
	})
	info, err := describe(traced, cli)
	if err != nil {
		cli.Close()
		return nil, unreachable(ep, err, dialed.Load())
	}
	e := &Engine{cli: cli, host: ep.host, info: info, root: newOwnRoot(), peer: peer, proxies: ep.proxies, patience: infoTimeout}
	if info.Podman && e.SameHost() {
		e.info.delegated("/")
	}
	return e, nil
}

func describe(ctx context.Context, cli *client.Client) (Info, error) {
	ping, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if _, err := cli.Ping(ping, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return Info{}, err
	}
	ctx, cancel = within(ctx, infoTimeout)
	defer cancel()
	raw, err := cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return Info{}, orCause(ctx, err)
	}
	info := translate(raw.Info)
	info.APIVersion = cli.ClientVersion()
	version, err := cli.ServerVersion(ctx, client.ServerVersionOptions{})
	podman := func(c system.ComponentVersion) bool { return strings.HasPrefix(c.Name, "Podman") }
	info.Podman = err == nil && slices.ContainsFunc(version.Components, podman)
	// Each Docker that the client supports has BuildKit, except on Windows. Podman builds all
	// Dockerfiles by the classic request.
	info.BuildKit = info.OS == "linux" && !info.Podman
	return info, nil
}

// Product returns the engine's name and version: "Podman engine 4.3.1".
func (info Info) Product() string {
	if info.Podman {
		return "Podman engine " + info.Version
	}
	return "engine " + info.Version
}

func translate(raw system.Info) Info {
	version, _ := strconv.Atoi(raw.CgroupVersion)
	if version == 0 && raw.OSType == "linux" {
		version = 1 // engines before 20.10 do not report it and have only this one
	}
	rootless := func(option string) bool { return strings.Contains(option, "rootless") }
	return Info{
		Name: raw.Name, Version: raw.ServerVersion, OS: raw.OSType,
		Arch:   cmp.Or(map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[raw.Architecture], raw.Architecture),
		Kernel: raw.KernelVersion, System: raw.OperatingSystem, CPUs: raw.NCPU, MemoryBytes: raw.MemTotal,
		CgroupVersion: version, Rootless: slices.ContainsFunc(raw.SecurityOptions, rootless),
		CPUQuota: raw.CPUCfsQuota, CPUSet: raw.CPUSet, MemoryLimit: raw.MemoryLimit, SwapLimit: raw.SwapLimit,
		PIDsLimit: raw.PidsLimit, Root: raw.DockerRootDir, Warnings: warningsOf(raw.Warnings...),
	}
}

// warningsOf returns an engine's warnings without "WARNING:", and without those of limits that its
// kernel lacks ("No swap limit support"): Info has fields for them.
func warningsOf(said ...string) (all bench.Warnings) {
	for _, w := range said {
		w = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(w), "WARNING:"))
		if w != "" && !strings.HasPrefix(w, "No ") {
			all = append(all, bench.Warning{Text: w})
		}
	}
	return all
}

// ConnectError is why there is no engine to use.
type ConnectError struct {
	What   string // "docker engine", "docker host", "docker"
	Where  string // "unix:///var/run/docker.sock (of DOCKER_HOST)"
	Reason error
	Fix    string // what to do about it
}

// Problem returns the error without its fix.
func (e *ConnectError) Problem() string { return e.What + " " + e.Where + ": " + e.Reason.Error() }

func (e *ConnectError) Error() string { return e.Problem() + "; " + e.Fix }
func (e *ConnectError) Unwrap() error { return e.Reason }

// unreachable returns the error for an engine that did not respond. dialed is why the last dial
// failed; nil: it did not, or the engine is at a named pipe.
func unreachable(ep endpoint, err error, dialed *net.OpError) error {
	fix := "start it (Linux: sudo systemctl start docker; macOS, Windows: start Docker Desktop) " +
		"or select one with DOCKER_HOST or \"docker context use\""
	switch {
	case dialed != nil && errors.Is(dialed, os.ErrPermission), pipeRefused(ep, err):
		fix = "no permission for the socket: run as root, or run \"sudo usermod -aG docker $USER\" and log in again"
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("no response")
	case dialed != nil && (dialed.Net == "unix" || dialed.Timeout() || errors.Is(dialed, syscall.ECONNREFUSED)),
		errors.Is(err, os.ErrNotExist):
		err = errors.New("nothing listening")
	}
	return &ConnectError{"docker engine", ep.place(), err, fix}
}

// pipeRefused reports whether this user may not open the named pipe. Dials of pipes have no trace,
// and the client wraps nothing, so its words are all there is.
func pipeRefused(ep endpoint, err error) bool {
	return strings.HasPrefix(ep.host, "npipe:") && strings.Contains(err.Error(), "permission denied")
}

// Close closes idle connections.
func (e *Engine) Close() error { return e.cli.Close() }

// Info returns the engine's properties, as Connect read them.
func (e *Engine) Info() Info { return e.info }

// Host returns the engine's address, such as unix:///var/run/docker.sock.
func (e *Engine) Host() string { return e.host }

// Local reports whether the engine shares this machine's kernel and network. It is false until
// CreateNetwork has seen it (see Network.Local).
func (e *Engine) Local() bool { return e.local.Load() }

// SameHost reports whether the engine's machine has the name and the kernel of this one. Two
// machines may share both: unlike Local it is a hint, not a proof.
func (e *Engine) SameHost() bool {
	name, err := os.Hostname()
	kernel, kernelErr := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && kernelErr == nil && e.info.Name == name && e.info.Kernel == strings.TrimSpace(string(kernel))
}

// Near reports whether the engine is reached through a socket of this machine: then another machine
// of the same name hardly uses the engine too.
func (e *Engine) Near() bool {
	return strings.HasPrefix(e.host, "unix://") || strings.HasPrefix(e.host, "npipe://")
}

// Elsewhere reports whether the engine that Connect would find has the address of another machine.
// It does not connect. getenv returns environment variables.
func Elsewhere(getenv func(string) string) bool {
	home, _ := os.UserHomeDir() // without one, there are no contexts
	ep, err := resolve(getenv, home)
	return err == nil && !(&Engine{host: ep.host}).Near()
}

// Reach reports, for an engine that is not Local, whether this machine reaches the ports that the
// engine publishes, at PublishedHost, and whether its containers reach this machine's loopback
// interface, as host.docker.internal.
func (e *Engine) Reach() (ports, loopback bool) {
	switch {
	case !e.publishAddress().IsLoopback():
		return true, false // another machine
	case runtime.GOOS != "linux", e.desktop():
		return true, true // a virtual machine of this one, with ways in and out
	}
	// RootlessKit has a way in. Any other engine at a socket or on loopback whose bridges are not
	// here is behind a forwarded socket, or in another network namespace.
	return e.info.Rootless && e.SameHost(), false
}

func (e *Engine) desktop() bool { return strings.Contains(e.info.System, "Docker Desktop") }

// PublishedHost returns the address, or if it is unknown the host name, at which this machine
// reaches the engine and the ports that the engine publishes.
func (e *Engine) PublishedHost() string {
	if e.peer.IsValid() && !e.peer.IsLoopback() {
		return e.peer.String()
	}
	if u, err := secret.ParseURL(e.host); err == nil && u.Hostname() != "" && !e.Near() && !e.peer.IsLoopback() {
		return u.Hostname()
	}
	return "127.0.0.1"
}

// ClockOffset returns the engine's clock minus this machine's, to within half the request's time.
// For a local engine it is zero, without a request.
func (e *Engine) ClockOffset(ctx context.Context) (time.Duration, error) {
	if e.Local() {
		return 0, nil
	}
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	before := time.Now()
	response, err := e.cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return 0, fmt.Errorf("read docker engine's time: %w", orCause(ctx, err))
	}
	took := time.Since(before)
	theirs, err := time.Parse(time.RFC3339Nano, response.Info.SystemTime)
	if err != nil {
		return 0, fmt.Errorf("docker engine's time %q: %w", response.Info.SystemTime, err)
	}
	return theirs.Sub(before.Add(took / 2)), nil
}

// within returns ctx with a time limit of d, whose cause names the engine.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("no response from the engine within %v", d))
}

// detached returns a context that outlives ctx: what was begun in the engine is finished or removed
// even if the run was interrupted.
func detached(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), timeout)
}

// retryWhileAway repeats do for up to enginePatience while the engine is away, as in a restart.
func retryWhileAway(ctx context.Context, do func() error) error {
	for deadline := time.Now().Add(enginePatience); ; {
		err := do()
		over := err == nil || !client.IsErrConnectionFailed(err) || time.Now().After(deadline)
		if over || !pause(ctx, 200*time.Millisecond) {
			return err
		}
	}
}

// pause waits for d. It returns false if ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// publishAddress returns the address to which the engine binds published ports: the one at which it
// was reached, or loopback on this machine. No other network of its machine reaches them.
func (e *Engine) publishAddress() netip.Addr {
	if at, err := netip.ParseAddr(e.PublishedHost()); err == nil && !at.IsLoopback() {
		return at.WithZone("")
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
