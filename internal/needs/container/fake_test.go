package container

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// fakeEngine is an engine whose volumes have texts by their names, and whose containers listen on
// loopback. It records the calls.
type fakeEngine struct {
	image   docker.Image
	volumes map[string]string
	made    int
	running []*fakeServed

	// started is called for each container before it is returned; nil: it listens.
	started    func(c *fakeServed)
	written    []string // outside of volumes
	unclean    *bench.Exit
	unenforced string
	exec       func(c *fakeServed, command []string) (string, int, error)
	failing    string // prefix of the call that fails
	free       int64  // bytes on its disk; 0: not known

	mu    sync.Mutex
	calls []string
}

func (e *fakeEngine) called(format string, args ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
	if e.failing != "" && strings.HasPrefix(e.calls[len(e.calls)-1], e.failing) {
		return fmt.Errorf("%s failed", e.failing)
	}
	return nil
}

// since returns the calls since the last one, one a line.
func (e *fakeEngine) since() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := strings.Join(e.calls, "\n")
	e.calls = nil
	return text
}

// left returns what is not removed.
func (e *fakeEngine) left() (all []string) {
	for _, c := range e.running {
		if !c.gone {
			all = append(all, "container")
		}
	}
	return append(all, slices.Sorted(maps.Keys(e.volumes))...)
}

func (e *fakeEngine) Image(_ context.Context, ref string, _ func(bench.Progress)) (docker.Image, error) {
	return e.image, e.called("image %s", ref)
}

func (e *fakeEngine) build(_ context.Context, need, dockerfile string, _ func(bench.Progress)) (string, error) {
	return "locbench/need-" + need + ":1", e.called("build %s from %s", need, filepath.Base(dockerfile))
}

func (e *fakeEngine) CreateVolume(_ context.Context, name string) (string, error) {
	if err := e.called("create %s", name); err != nil {
		return "", err
	}
	if e.volumes == nil {
		e.volumes = map[string]string{}
	}
	e.made++
	volume := fmt.Sprintf("%s.v%d", name, e.made)
	e.volumes[volume] = ""
	return volume, nil
}

func (e *fakeEngine) CopyVolume(_ context.Context, from, to, _ string, most int64) (int64, error) {
	for _, c := range e.running {
		if !c.gone && c.has(from, to) {
			return 0, fmt.Errorf("copy: a container has %s or %s", from, to)
		}
	}
	if int64(len(e.volumes[from]))<<20 > most {
		return 0, docker.ErrTooLarge
	}
	e.volumes[to] = e.volumes[from]
	return int64(len(e.volumes[from])), e.called("copy %s to %s", from, to)
}

func (e *fakeEngine) FreeSpace() (int64, string) {
	if e.free == 0 {
		return 0, ""
	}
	return e.free, "/var/lib/docker/volumes"
}

func (e *fakeEngine) RemoveVolume(ctx context.Context, volume string) error {
	if err := e.called("remove %s", volume); err != nil {
		return err
	}
	delete(e.volumes, volume)
	return ctx.Err()
}

func (e *fakeEngine) Run(_ context.Context, spec docker.ContainerSpec) (needs.Container, string, error) {
	var mounts []string
	for _, m := range spec.Mounts {
		from := m.Volume + m.Link
		if m.Source != "" {
			from = filepath.Base(m.Source)
			for _, v := range spec.Mounts {
				if content, _ := os.ReadFile(m.Source); v.Volume != "" && strings.HasPrefix(m.Target, v.Target+"/") {
					e.volumes[v.Volume] += string(content)
				}
			}
		}
		mounts = append(mounts, from+":"+m.Target)
	}
	if err := e.called("run %s %s", spec.Name, strings.Join(mounts, " ")); err != nil {
		return nil, "", err
	}
	c := &fakeServed{engine: e, spec: spec, exited: make(chan struct{})}
	e.running = append(e.running, c)
	if e.started == nil {
		c.listen()
	} else {
		e.started(c)
	}
	return c, e.unenforced, nil
}

type fakeServed struct {
	engine   *fakeEngine
	spec     docker.ContainerSpec
	listener net.Listener
	address  string
	inside   string // its network address, if it differs
	exited   chan struct{}
	exit     *bench.Exit
	gone     bool
	logs     []bench.LogLine
	seen     int // connections
	paused   string
}

// listen listens and keeps connections open.
func (c *fakeServed) listen() {
	c.listenOn(nil)
	go acceptAll(c.listener)
}

// acceptAll keeps all connections open until the listener is closed.
func acceptAll(l net.Listener) {
	var all []net.Conn
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		all = append(all, conn)
	}
	for _, conn := range all {
		conn.Close()
	}
}

func (c *fakeServed) listenOn(serve func(net.Conn)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	c.listener, c.address = l, l.Addr().String()
	if serve == nil {
		return
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
}

func (c *fakeServed) log(line string) {
	l := bench.LogLine{Text: line}
	c.logs = append(c.logs, l)
	c.spec.OnLog(l)
}

func (c *fakeServed) end(exit bench.Exit) {
	select {
	case <-c.exited:
	default:
		c.exit = &exit
		close(c.exited)
	}
	if c.listener != nil {
		c.listener.Close()
	}
}

// write writes to its first volume.
func (c *fakeServed) write(text string) {
	for _, m := range c.spec.Mounts {
		if m.Volume != "" {
			c.engine.volumes[m.Volume] += text
			return
		}
	}
}

func (c *fakeServed) has(volumes ...string) bool {
	return slices.ContainsFunc(c.spec.Mounts, func(m docker.Mount) bool { return m.Volume != "" && slices.Contains(volumes, m.Volume) })
}

func (c *fakeServed) Address() string {
	if c.address == "" {
		return "127.0.0.1:0"
	}
	return c.address
}

func (c *fakeServed) NetworkAddress() string {
	if c.inside != "" {
		return c.inside
	}
	return c.Address()
}
func (c *fakeServed) LocalPID() int           { return 0 }
func (c *fakeServed) Exited() <-chan struct{} { return c.exited }
func (c *fakeServed) Logs() []bench.LogLine   { return c.logs }
func (c *fakeServed) Exit() *bench.Exit       { return c.exit }

func (c *fakeServed) Exec(_ context.Context, command []string, heard func(string)) (string, int, error) {
	if err := c.engine.called("exec %s", strings.Join(command, " ")); err != nil {
		return "", 0, err
	}
	if c.engine.exec == nil {
		return "", 0, nil
	}
	output, code, err := c.engine.exec(c, command)
	for line := range strings.Lines(output) {
		if heard != nil {
			heard(strings.TrimRight(line, "\n"))
		}
	}
	return output, code, err
}

func (c *fakeServed) Diagnose(context.Context) string { return c.paused }

func (c *fakeServed) Written(context.Context) ([]string, error) {
	return c.engine.written, c.engine.called("written")
}

func (c *fakeServed) End(_ context.Context, grace time.Duration) (bool, error) {
	exit := bench.Exit{}
	if c.engine.unclean != nil {
		exit = *c.engine.unclean
	}
	c.end(exit)
	return c.engine.unclean == nil, c.engine.called("end %s", grace)
}

func (c *fakeServed) Kill(ctx context.Context) error {
	c.end(bench.Exit{Code: 137, Signal: "SIGKILL"})
	c.gone = true
	return cmpErr(c.engine.called("kill"), ctx.Err())
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// fixture is the need db of a YAML text with a fake engine.
type fixture struct {
	*Need
	engine *fakeEngine
	warned *[]string
	hidden *[]string // what the run masks
	place  needs.Place
	of     bench.NeedSpec
}

// contender is the one whose trial follows.
var contender = bench.Selection{Contender: "bookings"}

const inContainers = "172.18.0.1" // for needs.Network.Host

// newFixture returns the need db of the lines below its key.
func newFixture(t *testing.T, text string) fixture {
	t.Helper()
	dir := testenv.Folder(t, map[string]string{"schema.sql": "", "rows.sql": "", "more.sh": "", "pw.txt": "from file\n", "pw.txt2": "of another",
		"Dockerfile": "FROM postgres:17\n",
		"vars.env":   "A=1\nTOKEN=of-a-file\nexport B=\"two words\"\nC='x'\n\nD="})
	lines := "db:\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
	var n bench.NeedSpec
	testenv.OK(t, strictyaml.DecodeThen(filepath.Join(dir, "p.yaml"), []byte(lines), new(any), func(v strictyaml.Value) {
		n = compose.Read(v.At("db"))
		n.Name = "db"
	}))
	found, err := find(n, bench.Profile{}, n.URL)
	testenv.OK(t, err)
	f := fixture{of: n, Need: found.Need.(*Need), engine: &fakeEngine{image: docker.Image{ID: "sha256:0123456789abcdef"}},
		warned: &[]string{}, hidden: &[]string{}}
	if f.spec.Ready.Timeout == time.Second { // the least of a profile
		f.spec.Ready.Timeout = 200 * time.Millisecond
	}
	f.pace = pace{time.Millisecond, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond}
	f.place = needs.Place{
		Containers: f.engine, Build: f.engine.build, Network: needs.Network{Host: inContainers},
		Progress: func(bench.Progress) {}, Warn: func(w bench.Warning) { *f.warned = append(*f.warned, w.Text) },
		Hide:   func(secrets ...string) { *f.hidden = append(*f.hidden, secrets...) },
		Getenv: func(name string) string { return map[string]string{"PW": "p@y/ 100%#1"}[name] },
	}
	t.Cleanup(func() {
		testenv.OK(t, f.Close(t.Context()))
		left := f.engine.left()
		testenv.Check(t, len(left) <= 0, "left: %q", left)
	})
	return f
}

func (f fixture) open(t *testing.T) {
	t.Helper()
	testenv.OK(t, f.Open(t.Context(), f.place))
}

func (f fixture) seed(t *testing.T) string {
	t.Helper()
	note, err := f.Seed(t.Context(), func(bench.Progress) {})
	testenv.OK(t, err)
	return note
}

func (f fixture) restore(t *testing.T) {
	t.Helper()
	changed, err := f.Restore(t.Context(), contender)
	testenv.OK(t, err)
	testenv.Equal(t, changed, "", "changed")
}

// last returns the container that was started last.
func (f fixture) last() *fakeServed { return f.engine.running[len(f.engine.running)-1] }
