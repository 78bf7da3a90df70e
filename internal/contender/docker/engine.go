// Package docker is locbench's only handle on a Docker engine: it finds the engine as the docker
// command does, builds and pulls images, runs containers under limits, and finds by label what a
// killed run has left.
//
// No type of the docker client leaves it.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"locbench/internal/bench"
	"locbench/internal/text/secret"
)

// The labels of everything that locbench creates in an engine. Clean looks at LabelRun, and at whether
// the name agrees with it.
const (
	LabelRun   = "locbench.run"   // the ID of the run
	LabelName  = "locbench.name"  // the trial or check that it is for
	LabelOwner = "locbench.owner" // the process that created it: whether that is alive decides whether it is left over
)

const (
	pingTimeout    = 5 * time.Second  // for the first word: an engine that does not respond by then is as good as absent
	infoTimeout    = 20 * time.Second // for one question, such as what it is: a busy engine takes its time
	pullTimeout    = time.Hour        // for an image, with all its layers
	enginePatience = 10 * time.Second // for an engine that is away, before what it holds is given up
	cleanupTimeout = 30 * time.Second // for the removal of things when the caller's context has ended already
)

// Engine is a connection to a Docker engine. It is safe for concurrent use.
type Engine struct {
	cli      *client.Client
	host     string
	info     Info
	shell    shell
	peer     netip.Addr    // at which it was reached; none for a socket or a pipe
	patience time.Duration // for one question
	local    atomic.Bool   // see Local
}

// Info is what the engine says about itself and its machine.
type Info struct {
	Name          string // of its machine
	Version       string // of the engine
	APIVersion    string // negotiated
	OS            string // "linux"
	Arch          string // as Go names it: "amd64"
	Kernel        string
	System        string // "Debian GNU/Linux 12 (bookworm)", "Docker Desktop"
	CPUs          int
	MemoryBytes   int64
	CgroupVersion int // 1, 2; 0 unknown
	Rootless      bool
	CPUQuota      bool // whether the kernel can enforce the limit, here and below
	CPUSet        bool
	MemoryLimit   bool
	SwapLimit     bool
	PIDsLimit     bool
	Builder       Builder
	Warnings      bench.Warnings // of the engine about itself
}

// Builder is what an engine builds images with.
type Builder int

const (
	// BuilderClassic is the one that knows no more than the Dockerfiles of 2018.
	BuilderClassic Builder = iota
	// BuilderBuildKit is an engine with both: what it is asked for by BuildOptions.BuildKit.
	BuilderBuildKit
	// BuilderBuildah is Podman's, which takes both kinds of Dockerfile by the classic request.
	BuilderBuildah
)

// Connect finds the engine (DOCKER_HOST, DOCKER_CONTEXT, the current context, the default socket),
// asks whether it is alive and what it is. The error says how to start one.
func Connect(ctx context.Context) (*Engine, error) {
	home, _ := os.UserHomeDir() // without one, contexts are simply not found
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
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if at, err := netip.ParseAddrPort(c.Conn.RemoteAddr().String()); err == nil {
			peer = at.Addr().Unmap()
		}
	}})
	info, err := ask(traced, cli)
	if err != nil {
		cli.Close()
		return nil, unreachable(ep, err)
	}
	return &Engine{cli: cli, host: ep.host, info: info, shell: newShell(), peer: peer, patience: infoTimeout}, nil
}

func ask(ctx context.Context, cli *client.Client) (Info, error) {
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
	info.Builder = builderOf(ctx, cli, info)
	return info, nil
}

// builderOf asks which product answers. Each Docker that the client speaks to has BuildKit in it, but
// on Windows.
func builderOf(ctx context.Context, cli *client.Client, info Info) Builder {
	version, err := cli.ServerVersion(ctx, client.ServerVersionOptions{})
	podman := func(c system.ComponentVersion) bool { return strings.HasPrefix(c.Name, "Podman") }
	switch {
	case err == nil && slices.ContainsFunc(version.Components, podman):
		return BuilderBuildah
	case info.OS == "linux":
		return BuilderBuildKit
	}
	return BuilderClassic
}

func translate(raw system.Info) Info {
	version, _ := strconv.Atoi(raw.CgroupVersion)
	if version == 0 && raw.OSType == "linux" {
		version = 1 // engines before 20.10 do not say and know no other
	}
	rootless := func(option string) bool { return strings.Contains(option, "rootless") }
	return Info{
		Name: raw.Name, Version: raw.ServerVersion, OS: raw.OSType,
		Arch:   cmp.Or(map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[raw.Architecture], raw.Architecture),
		Kernel: raw.KernelVersion, System: raw.OperatingSystem, CPUs: raw.NCPU, MemoryBytes: raw.MemTotal,
		CgroupVersion: version, Rootless: slices.ContainsFunc(raw.SecurityOptions, rootless),
		CPUQuota: raw.CPUCfsQuota, CPUSet: raw.CPUSet, MemoryLimit: raw.MemoryLimit, SwapLimit: raw.SwapLimit,
		PIDsLimit: raw.PidsLimit, Warnings: warningsOf(raw.Warnings...),
	}
}

// warningsOf returns an engine's warnings without its word "WARNING:", and without the limits that its
// kernel lacks ("No swap limit support"), which Info's fields have.
func warningsOf(said ...string) (all bench.Warnings) {
	for _, w := range said {
		w = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(w), "WARNING:"))
		if w != "" && !strings.HasPrefix(w, "No ") {
			all = append(all, bench.Warning{Text: w})
		}
	}
	return all
}

func unreachable(ep endpoint, err error) error {
	hint := "start it (Linux: sudo systemctl start docker; macOS, Windows: start Docker Desktop) " +
		"or select one with DOCKER_HOST or \"docker context use\""
	switch {
	case errors.Is(err, os.ErrPermission) || strings.Contains(err.Error(), "permission denied"):
		hint = "no permission for the socket: run as root, or run \"sudo usermod -aG docker $USER\" and log in again"
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("no response")
	case errors.Is(err, os.ErrNotExist), strings.HasPrefix(err.Error(), "Cannot connect"): // "… to the Docker daemon"
		err = errors.New("nothing listening")
	}
	return fmt.Errorf("docker engine %s (of %s): %w; %s", ep.host, ep.from, err, hint)
}

// Close closes idle connections.
func (e *Engine) Close() error { return e.cli.Close() }

// Info returns what the engine answered when Connect asked.
func (e *Engine) Info() Info { return e.info }

// Host returns the engine's address, such as unix:///var/run/docker.sock.
func (e *Engine) Host() string { return e.host }

// Local reports whether the engine shares this machine's kernel and network. It is known from the
// first network on that the engine has made (see Network.Here), and taken for not so before.
func (e *Engine) Local() bool { return e.local.Load() }

// SameHost reports whether the engine has the name and the kernel of this machine. Two machines may
// have both in common: it is a hint, not a proof as Local is.
func (e *Engine) SameHost() bool {
	name, err := os.Hostname()
	kernel, kernelErr := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && kernelErr == nil && e.info.Name == name && e.info.Kernel == strings.TrimSpace(string(kernel))
}

// Near reports whether the engine is reached through a socket of this machine: then another machine
// of the same name hardly uses it too.
func (e *Engine) Near() bool {
	return strings.HasPrefix(e.host, "unix://") || strings.HasPrefix(e.host, "npipe://")
}

// Reach reports of an engine that is not Local whether the ports that it publishes are within reach
// of this machine, at PublishedHost, and whether its containers reach this machine's loopback
// interface, as host.docker.internal.
func (e *Engine) Reach() (ports, loopback bool) {
	switch {
	case !e.publishAddress().IsLoopback():
		return true, false // another machine
	case runtime.GOOS != "linux", e.desktop():
		return true, true // a virtual machine of this one, with ways in and out
	}
	// RootlessKit has a way in. Any other engine that is spoken to by a socket or loopback, and
	// whose bridges are not here, is behind a socket that somebody forwards, or in another network
	// namespace.
	return e.info.Rootless && e.SameHost(), false
}

func (e *Engine) desktop() bool { return strings.Contains(e.info.System, "Docker Desktop") }

// PublishedHost returns the address, or where that is not known the host name, at which this machine
// reaches ports that the engine publishes: the one at which it reaches the engine.
func (e *Engine) PublishedHost() string {
	if e.peer.IsValid() && !e.peer.IsLoopback() {
		return e.peer.String()
	}
	if u, err := secret.ParseURL(e.host); err == nil && u.Hostname() != "" && !e.Near() && !e.peer.IsLoopback() {
		return u.Hostname()
	}
	return "127.0.0.1"
}

// ClockAhead returns how far the engine's clock is ahead of this machine's, known to half of the time
// that the question took. For a local engine it is zero without asking.
func (e *Engine) ClockAhead(ctx context.Context) (time.Duration, error) {
	if e.Local() {
		return 0, nil
	}
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	before := time.Now()
	response, err := e.cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return 0, fmt.Errorf("ask docker engine for its time: %w", orCause(ctx, err))
	}
	took := time.Since(before)
	theirs, err := time.Parse(time.RFC3339Nano, response.Info.SystemTime)
	if err != nil {
		return 0, fmt.Errorf("docker engine's time %q: %w", response.Info.SystemTime, err)
	}
	return theirs.Sub(before.Add(took / 2)), nil
}

// within returns ctx for a call that is given up after d.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("no response from the engine within %v", d))
}

// detached outlives ctx: what was begun in the engine is finished or removed even if the run has
// been interrupted.
func detached(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), timeout)
}

// patiently does what must not be left undone only because the engine is being restarted just now.
func patiently(ctx context.Context, do func() error) error {
	for deadline := time.Now().Add(enginePatience); ; {
		err := do()
		over := err == nil || !client.IsErrConnectionFailed(err) || time.Now().After(deadline)
		if over || !pause(ctx, 200*time.Millisecond) {
			return err
		}
	}
}

// pause is false where ctx has ended before d is over.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// publishAddress returns where the engine is to bind published ports: the address at which it was reached
// itself, and loopback where that is this machine's. So they are open to those who reach the engine,
// and to no other network of its machine.
func (e *Engine) publishAddress() netip.Addr {
	if at, err := netip.ParseAddr(e.PublishedHost()); err == nil && !at.IsLoopback() {
		return at.WithZone("")
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
