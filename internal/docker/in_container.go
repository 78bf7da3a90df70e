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

// ownRoot finds out, from files of the root folder, whether this process runs in a container.
type ownRoot struct{ root fs.FS }

func newOwnRoot() ownRoot { return ownRoot{os.DirFS("/")} }

// fullID matches the ID in the path of a file that an engine mounts into a container, such as
// /var/lib/docker/containers/ID/hostname; with Podman /containers/storage/overlay-containers/ID/userdata/hostname.
var fullID = regexp.MustCompile(`[/-]containers/([0-9a-f]{64})/`)

// id returns the ID of the container that this process runs in; "" if none is found. The engine
// mounts its files over /etc/hostname and others in /etc, and the kernel says where they come from.
// Mounts elsewhere are ignored: the engine's machine has those of all its containers.
func (s ownRoot) id() string {
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

// inside reports whether this process runs in a container of any engine.
func (s ownRoot) inside() bool {
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

// InContainer reports whether this process runs in a container.
func (e *Engine) InContainer() bool { return e.root.inside() }

// ownContainer returns the ID of this engine's container in which this process runs; "" if it runs
// in none, in one of another engine, or in the network of the engine's machine.
func (e *Engine) ownContainer(ctx context.Context) (id string, err error) {
	if id = e.root.id(); id == "" {
		return "", nil
	}
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	c, err := e.cli.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	switch {
	case errdefs.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("inspect locbench's container: %w", orCause(ctx, err))
	case c.Container.HostConfig != nil && c.Container.HostConfig.NetworkMode.IsHost():
		return "", nil
	}
	return id, nil
}

// join connects the container of this process to a network and returns its address there.
func (e *Engine) join(ctx context.Context, network, name, own string) (address string, err error) {
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	var c client.ContainerInspectResult
	_, err = e.cli.NetworkConnect(ctx, network, client.NetworkConnectOptions{Container: own})
	if err == nil {
		c, err = e.cli.ContainerInspect(ctx, own, client.ContainerInspectOptions{})
	}
	if err == nil && c.Container.NetworkSettings != nil {
		if n := c.Container.NetworkSettings.Networks[name]; n != nil && n.IPAddress.IsValid() {
			return n.IPAddress.String(), nil
		}
	}
	if err == nil {
		err = errors.New("no address assigned")
	}
	return "", fmt.Errorf("connect locbench's container %.12s to the contenders' network: %w; "+
		"start it with --network host", own, orCause(ctx, err))
}

// leave undoes join: a network with the container of this process in it cannot be removed.
func (e *Engine) leave(ctx context.Context, network string) {
	if own := e.root.id(); own != "" {
		o := client.NetworkDisconnectOptions{Container: own, Force: true}
		_, _ = e.cli.NetworkDisconnect(ctx, network, o) // fails if it is not in the network
	}
}
