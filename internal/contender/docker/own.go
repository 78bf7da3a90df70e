package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// shell is how a process sees whether it runs in a container: by files of its root folder. The zero
// value sees none.
type shell struct{ root fs.FS }

func newShell() shell { return shell{os.DirFS("/")} }

// fullID is in the path of what an engine mounts into a container, such as
// /var/lib/docker/containers/ID/hostname.
var fullID = regexp.MustCompile(`/containers/([0-9a-f]{64})/`)

// id returns the container that this process runs in; "" where none is found. The engine lays files of
// its own over /etc/hostname and its neighbours, and the kernel says where these are from. What is
// mounted elsewhere says nothing: the engine's machine sees the mounts of all its containers.
func (s shell) id() string {
	if s.root == nil {
		return ""
	}
	table, err := fs.ReadFile(s.root, "proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(table)) {
		// "36 35 98:0 ROOT MOUNTPOINT rw …"
		fields := strings.Fields(line)
		if len(fields) < 5 || path.Dir(fields[4]) != "/etc" {
			continue
		}
		if found := fullID.FindStringSubmatch(fields[3]); found != nil {
			return found[1]
		}
	}
	return ""
}

// inside reports whether this process runs in a container, of whatever engine.
func (s shell) inside() bool {
	if s.root == nil {
		return false
	}
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(s.root, mark); err == nil {
			return true
		}
	}
	return s.id() != ""
}

// InContainer reports whether this process runs in a container itself.
func (e *Engine) InContainer() bool { return e.shell.inside() }

// own returns the container of this engine that this process runs in with its own network; "" where
// it runs in none, in one of another engine, or in the network of the engine's machine.
func (e *Engine) own(ctx context.Context) (id string, err error) {
	if id = e.shell.id(); id == "" {
		return "", nil
	}
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	c, err := e.cli.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	switch {
	case errdefs.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("inspect the container of locbench itself: %w", orCause(ctx, err))
	case c.Container.HostConfig != nil && c.Container.HostConfig.NetworkMode.IsHost():
		return "", nil
	}
	return id, nil
}

// join takes the container of this process into a network and returns its address there.
func (e *Engine) join(ctx context.Context, network, own string) (address string, err error) {
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	var c client.ContainerInspectResult
	_, err = e.cli.NetworkConnect(ctx, network, client.NetworkConnectOptions{Container: own})
	if err == nil {
		c, err = e.cli.ContainerInspect(ctx, own, client.ContainerInspectOptions{})
	}
	if err == nil && c.Container.NetworkSettings != nil {
		for _, n := range c.Container.NetworkSettings.Networks {
			if n != nil && n.NetworkID == network && n.IPAddress.IsValid() {
				return n.IPAddress.String(), nil
			}
		}
	}
	if err == nil {
		err = errors.New("it has got no address there")
	}
	return "", fmt.Errorf("locbench runs in container %.12s, which cannot be connected to the network of the contenders: "+
		"%w; start it with --network host", own, orCause(ctx, err))
}

// leave is the end of join; a network that holds the container of this process could not be removed.
func (e *Engine) leave(ctx context.Context, network string) {
	if own := e.shell.id(); own != "" {
		o := client.NetworkDisconnectOptions{Container: own, Force: true}
		_, _ = e.cli.NetworkDisconnect(ctx, network, o) // it may not be in it
	}
}
