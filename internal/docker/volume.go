package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

// CreateVolume makes an empty volume. After an error, also that of ctx, none is left.
func (g *Group) CreateVolume(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	uncancelled, cancel := detached(ctx, createTimeout) // see createTimeout
	defer cancel()
	labels := g.labels(name)
	name = uniqueName(g.id, name)
	_, err := g.cli.VolumeCreate(uncancelled, client.VolumeCreateOptions{Name: name, Labels: labels})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("create volume %s: %w", name, noSpace(err)), g.RemoveVolume(ctx, name))
	}
	return name, nil
}

// RemoveVolume removes a volume, even if ctx was canceled. A missing volume is not an error.
func (g *Group) RemoveVolume(ctx context.Context, name string) error {
	return WithCleanHint(g.removeVolume(ctx, name))
}

func (e *Engine) removeVolume(ctx context.Context, name string) error {
	ctx, cancel := detached(ctx, cleanupTimeout)
	defer cancel()
	err := retryWhileAway(ctx, func() error {
		_, err := e.cli.VolumeRemove(ctx, name, client.VolumeRemoveOptions{})
		return err
	})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove volume %s: %w", name, err)
	}
	return nil
}

// FreeSpace returns the bytes that are free for volumes, and where; "" if that is not known, as for
// an engine on another machine.
func (e *Engine) FreeSpace() (free int64, folder string) {
	if !e.Local() || e.info.Root == "" {
		return 0, ""
	}
	for _, folder := range []string{path.Join(e.info.Root, "volumes"), e.info.Root} {
		if free, ok := freeAt(folder); ok {
			return free, folder
		}
	}
	return 0, ""
}

// noSpace adds the remedy to the error of an engine whose disk is full. It has only words for that.
func noSpace(err error) error {
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
		return fmt.Errorf("the disk of the container engine is full; free space there, such as with \"docker image prune\": %w", err)
	}
	return err
}

// volumeAt is where a volume is mounted to be copied. An image has nothing there, which the engine
// would copy into an empty volume.
const volumeAt = "locbench-volume"

// ErrTooLarge is why CopyVolume has stopped.
var ErrTooLarge = errors.New("its files are larger than the space")

// Spare is the space that is left free for what a trial writes. A full disk would also stop others.
const Spare = 64 << 20

// NoRoom is ErrTooLarge, with what FreeSpace has found.
func NoRoom(free int64, folder string) error {
	return fmt.Errorf("%s has %s free; free more there, such as with `locbench clean` or `docker image prune`: %w", folder, units.Bytes(free), ErrTooLarge)
}

// CopyVolume copies the files of a volume into an empty one, with owners, rights and times, and
// returns their bytes; more than most are ErrTooLarge. Sockets are left out. No container
// may have one of the two. It reads and writes through two containers of the image that never start.
func (g *Group) CopyVolume(ctx context.Context, from, to, image string, most int64) (size int64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy volume %s: %w", from, noSpace(orCause(ctx, err)))
		}
	}()
	if g.info.Podman {
		return 0, g.copyInside(ctx, from, to, image)
	}
	source, err := g.holder(ctx, from, image, "copy")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, source.drop(ctx)) }()
	target, err := g.holder(ctx, to, image, "copy")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, target.drop(ctx)) }()
	read, err := g.cli.CopyFromContainer(ctx, source.id, client.CopyFromContainerOptions{SourcePath: "/" + volumeAt})
	if err != nil {
		return 0, err
	}
	defer read.Content.Close()
	out, in := io.Pipe()
	written := make(chan error, 1)
	go func() {
		// The folder itself is in the archive, so the root of the new volume gets its owner too.
		archive := struct{ io.Reader }{out} // without Close: the engine may not read the padding at the end
		_, err := g.cli.CopyToContainer(ctx, target.id, client.CopyToContainerOptions{DestinationPath: "/", Content: archive})
		if err == nil {
			_, _ = io.Copy(io.Discard, out)
		}
		out.CloseWithError(err) // for the reader
		written <- err
	}()
	size, err = sizeIn(io.TeeReader(&bounded{read.Content, most}, in))
	in.CloseWithError(err) // nil: the end
	if failed := <-written; err == nil {
		err = failed
	}
	return size, err
}

// copyInside copies a volume by the cp of an image. Podman's archives have no owners, and what it reads into a
// container that has not started does not reach its volumes (4.3.1), without an error.
func (g *Group) copyInside(ctx context.Context, from, to, image string) error {
	const source, target = "/" + volumeAt, "/locbench-copy"
	c, _, _, err := g.Run(ctx, ContainerSpec{
		Name: "copy", Image: image, Entrypoint: []string{"cp", "-a", source + "/.", target}, User: "0",
		Mounts: []Mount{{Volume: from, Target: source, Complete: true}, {Volume: to, Target: target, Complete: true}},
	})
	if err != nil {
		return fmt.Errorf("with Podman the image needs the program cp: %w", err)
	}
	select {
	case <-c.Exited():
	case <-ctx.Done():
	}
	exit, said := c.Exit(), c.Logs()
	if err := c.Kill(ctx); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if exit.Code != 0 {
		last := exit.String()
		if len(said) > 0 {
			last = said[len(said)-1].Text
		}
		return fmt.Errorf("cp: %s", safe.Line(last, 300))
	}
	return nil
}

// sizeIn reads a tar archive of one folder to its end, and returns the bytes of its files.
func sizeIn(archive io.Reader) (size int64, err error) {
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			_, err = io.Copy(io.Discard, archive) // the padding, which the engine has sent too
			return size, err
		case err != nil:
			return size, err
		case h.Typeflag != tar.TypeDir && !strings.Contains(strings.Trim(h.Name, "/"), "/"): // the files are elsewhere
			return size, fmt.Errorf("the image has a link or a file at /%s; remove it from the image", volumeAt)
		}
		size += h.Size
	}
}

// bounded is a reader of at most left bytes; more are an error.
type bounded struct {
	io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err = ErrTooLarge
	}
	return n, err
}

// holder creates a container that only has a volume.
func (g *Group) holder(ctx context.Context, volume, image, name string) (*Container, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	uncancelled, cancel := detached(ctx, createTimeout) // see createTimeout
	defer cancel()
	created, err := g.cli.ContainerCreate(uncancelled, client.ContainerCreateOptions{
		Name:   uniqueName(g.id, name),
		Config: &container.Config{Image: image, Entrypoint: []string{"/never-started"}, Labels: g.labels(name)},
		HostConfig: &container.HostConfig{NetworkMode: "none", LogConfig: container.LogConfig{Type: "none"}, Mounts: []mount.Mount{{
			Type: mount.TypeVolume, Source: volume, Target: "/" + volumeAt, VolumeOptions: &mount.VolumeOptions{NoCopy: true},
		}}},
	})
	if err != nil {
		return nil, translateNotFound(err)
	}
	return &Container{engine: g.Engine, id: created.ID}, nil
}

// drop removes a container that was never started.
func (c *Container) drop(ctx context.Context) error {
	ctx, cancel := detached(ctx, cleanupTimeout)
	defer cancel()
	return c.remove(ctx)
}
