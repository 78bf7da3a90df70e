package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench"
)

// Network is a bridge network of the engine.
type Network struct {
	ID         string
	Name       string
	Gateway    string // address of the engine's machine in the network; "" if unknown
	Subnets    []netip.Prefix
	Local      bool   // this machine has, or will have, the bridge as an interface
	OwnAddress string // address in the network of the container that locbench runs in; "": none

	Warnings bench.Warnings // the engine's warnings, such as that it does not isolate the containers
}

// Direct reports whether this process reaches addresses in the network.
func (n Network) Direct() bool { return n.Local || n.OwnAddress != "" }

// CreateNetwork makes a bridge network for the run that the labels name. With apart its containers
// do not reach each other; Podman cannot do that. If this process runs in a container of the engine, that
// container joins the network and apart has no effect: the others would not reach this process either.
// After an error, also that of ctx, no network is left.
func (e *Engine) CreateNetwork(ctx context.Context, labels map[string]string, apart bool) (n Network, err error) {
	if err := ctx.Err(); err != nil {
		return n, err
	}
	own, err := e.ownContainer(ctx)
	if err != nil {
		return n, err
	}
	uncancelled, cancel := detached(ctx, createTimeout) // see createTimeout
	defer cancel()
	name := uniqueName(labels[LabelRun], "")
	opts := client.NetworkCreateOptions{Driver: "bridge", Labels: labels}
	if apart && own == "" && !e.info.Podman {
		opts.Options = map[string]string{"com.docker.network.bridge.enable_icc": "false"}
	}
	created, err := e.cli.NetworkCreate(uncancelled, name, opts)
	if err != nil {
		if strings.Contains(err.Error(), "address pool") { // the engine has no code for this, only words
			err = fmt.Errorf("%w; free some with \"locbench clean\" or \"docker network prune\"", err)
		}
		return n, fmt.Errorf("create network %s: %w", name, err)
	}
	raw, err := e.cli.NetworkInspect(uncancelled, created.ID, client.NetworkInspectOptions{})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return n, errors.Join(fmt.Errorf("create network %s: %w", name, err), e.RemoveNetwork(ctx, created.ID))
	}
	var address string
	if own != "" {
		if address, err = e.join(uncancelled, created.ID, name, own); err != nil {
			return n, errors.Join(err, e.RemoveNetwork(ctx, created.ID))
		}
	}
	n = Network{ID: created.ID, Name: name, OwnAddress: address, Warnings: warningsOf(created.Warning...)}
	for _, c := range raw.Network.IPAM.Config {
		if c.Subnet.IsValid() {
			n.Subnets = append(n.Subnets, c.Subnet)
		}
		if n.Gateway == "" && c.Gateway.Is4() {
			n.Gateway = c.Gateway.String()
		}
	}
	if n.Local = e.isLocal(n); n.Local {
		e.local.Store(true)
	}
	return n, nil
}

// isLocal reports whether this machine has the bridge of a network. Podman makes it when the first
// container starts, so there it follows from who the engine is: not rootless, at a socket of a process in
// this network namespace, on a machine with this one's name and kernel.
func (e *Engine) isLocal(n Network) bool {
	if !e.info.Podman {
		return isLocalBridge(n.ID, n.Gateway)
	}
	return !e.info.Rootless && e.Near() && e.SameHost() && !e.otherNetwork()
}

// isLocalBridge reports whether the bridge of a network is an interface of this machine, with the
// gateway's address. The bridge's name has the network's ID, which is unique. So an engine behind a
// forwarded socket, in a virtual machine or in another network namespace (such as a rootless one)
// is never local, whatever addresses and process numbers it reports.
func isLocalBridge(id, gateway string) bool {
	if len(id) < 12 {
		return false
	}
	return interfaceHas("br-"+id[:12], gateway)
}

func interfaceHas(name, address string) bool {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return false
	}
	addrs, err := i.Addrs()
	return err == nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.String() == address
	})
}

// RemoveNetwork removes a network, even if ctx was canceled. A missing network is not an error.
func (e *Engine) RemoveNetwork(ctx context.Context, id string) error {
	ctx, cancel := detached(ctx, cleanupTimeout)
	defer cancel()
	e.leave(ctx, id)
	err := retryWhileAway(ctx, func() error {
		_, err := e.cli.NetworkRemove(ctx, id, client.NetworkRemoveOptions{})
		return err
	})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove network %.12s: %w", id, err)
	}
	return nil
}

// Left is a container, network or volume that has LabelRun, and a name that matches it.
type Left struct {
	Kind  string // "container", "network", "volume"
	ID    string
	Name  string
	Run   string // the value of LabelRun
	Owner string // the value of LabelOwner
}

// List returns the containers, then the networks, then the volumes, of one run; with run == "", of
// every run.
func (e *Engine) List(ctx context.Context, run string) ([]Left, error) {
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	label := LabelRun
	if run != "" {
		label += "=" + run
	}
	filter := client.Filters{}.Add("label", label)
	containers, err := e.cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filter})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", orCause(ctx, err))
	}
	networks, err := e.cli.NetworkList(ctx, client.NetworkListOptions{Filters: filter})
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", orCause(ctx, err))
	}
	volumes, err := e.cli.VolumeList(ctx, client.VolumeListOptions{Filters: filter})
	if err != nil {
		return nil, fmt.Errorf("list volumes: %w", orCause(ctx, err))
	}
	var all []Left
	for _, c := range containers.Items {
		if name := firstName(c); named(c.Labels, name) {
			all = append(all, Left{"container", c.ID, name, c.Labels[LabelRun], c.Labels[LabelOwner]})
		}
	}
	for _, n := range networks.Items {
		if named(n.Labels, n.Name) {
			all = append(all, Left{"network", n.ID, n.Name, n.Labels[LabelRun], n.Labels[LabelOwner]})
		}
	}
	for _, v := range volumes.Items {
		if named(v.Labels, v.Name) {
			all = append(all, Left{"volume", v.Name, v.Name, v.Labels[LabelRun], v.Labels[LabelOwner]})
		}
	}
	return all, nil
}

// Clean removes the containers (also running ones), networks and volumes that List finds, except
// those for which keep returns true, and the anonymous volumes of removed containers; keep may be
// nil. It removes no image. It continues after a failure and returns what was removed, with all
// errors. What is in use may be so by a container that the engine was still making for a run that
// was killed: all are listed again then, twice at most.
func (e *Engine) Clean(ctx context.Context, run string, keep func(Left) bool) (removed []Left, err error) {
	for again := 2; ; again-- {
		var now []Left
		now, err = e.clean(ctx, run, keep)
		removed = append(removed, now...)
		if !errdefs.IsConflict(err) || again == 0 || !pause(ctx, time.Second) {
			return removed, err
		}
	}
}

func (e *Engine) clean(ctx context.Context, run string, keep func(Left) bool) (removed []Left, err error) {
	all, err := e.List(ctx, run)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, l := range all { // containers come first: what they use cannot be removed
		if keep != nil && keep(l) {
			continue
		}
		switch l.Kind {
		case "container":
			err = (&Container{engine: e, id: l.ID}).remove(ctx)
		case "network":
			err = e.RemoveNetwork(ctx, l.ID)
		default:
			err = e.removeVolume(ctx, l.ID)
		}
		if failed = append(failed, err); err == nil {
			removed = append(removed, l)
		}
	}
	return removed, errors.Join(failed...)
}

// Running lists the names of the running containers that are not of the given run of locbench, the
// last started first. With run == "" it lists all of them.
func (e *Engine) Running(ctx context.Context, run string) ([]string, error) {
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	all, err := e.cli.ContainerList(ctx, client.ContainerListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", orCause(ctx, err))
	}
	var names []string
	for _, c := range all.Items {
		if c.Labels[LabelRun] == run && named(c.Labels, firstName(c)) {
			continue
		}
		names = append(names, cmp.Or(firstName(c), c.ID))
	}
	return names, nil
}

func firstName(c container.Summary) string {
	if len(c.Names) == 0 {
		return ""
	}
	return strings.TrimPrefix(c.Names[0], "/")
}

// uniqueName returns a new name that the engine accepts: locbench-RUN-WISH-<8 hex digits>.
func uniqueName(run, wish string) string {
	var suffix [4]byte
	rand.Read(suffix[:]) // never fails
	parts := []string{namePrefix(run)}
	if wish = plainName(wish); wish != "" {
		parts = append(parts, wish[:min(len(wish), 50)])
	}
	return strings.Join(append(parts, hex.EncodeToString(suffix[:])), "-")
}

// namePrefix returns the prefix of the names of what a run has in the engine.
func namePrefix(run string) string {
	run = cmp.Or(plainName(run), "none")
	return "locbench-" + run[:min(len(run), 50)]
}

func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, text)
}

var nameEnd = regexp.MustCompile(`-[0-9a-f]{8}$`)

// named reports whether a container, network or volume with these labels has a name that uniqueName
// made for its run. Others may have the labels too: an image made from a contender passes them on.
func named(labels map[string]string, name string) bool {
	run, ours := labels[LabelRun]
	return ours && run != "" && strings.HasPrefix(name, namePrefix(run)+"-") && nameEnd.MatchString(name)
}
