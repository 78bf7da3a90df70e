package docker

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// maxWritten bounds the files that Written returns: each costs a request.
const maxWritten = 100

// Written returns, by name, the first 100 files that the container has changed or deleted outside
// of its mounts. Folders do not count.
func (c *Container) Written(ctx context.Context) ([]string, error) {
	files, err := c.written(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the changes of container %.12s: %w", c.id, orCause(ctx, err))
	}
	return files, nil
}

func (c *Container) written(ctx context.Context) (files []string, err error) {
	ctx, cancel := within(ctx, createTimeout)
	defer cancel()
	cli := c.engine.cli
	inspected, err := cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, err
	}
	diff, err := cli.ContainerDiff(ctx, c.id, client.ContainerDiffOptions{})
	if err != nil {
		return nil, err
	}
	for _, change := range outside(diff.Changes, append(mountPoints(inspected.Container), c.given...)) {
		if len(files) == maxWritten {
			break
		}
		if change.Kind != container.ChangeDelete {
			at, err := cli.ContainerStatPath(ctx, c.id, client.ContainerStatPathOptions{Path: change.Path})
			if errdefs.IsNotFound(err) || err == nil && at.Stat.Mode.IsDir() {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		files = append(files, change.Path)
	}
	return files, nil
}

func mountPoints(c container.InspectResponse) (all []string) {
	for _, m := range c.Mounts {
		all = append(all, path.Clean(m.Destination))
	}
	if c.HostConfig != nil {
		for target := range c.HostConfig.Tmpfs {
			all = append(all, path.Clean(target))
		}
	}
	return all
}

// outside returns, by name, the changes that are neither mount points nor below them.
func outside(changes []container.FilesystemChange, mounts []string) []container.FilesystemChange {
	rest := slices.DeleteFunc(changes, func(c container.FilesystemChange) bool {
		return slices.ContainsFunc(mounts, func(m string) bool { return c.Path == m || strings.HasPrefix(c.Path, m+"/") })
	})
	slices.SortFunc(rest, func(a, b container.FilesystemChange) int { return strings.Compare(a.Path, b.Path) })
	return rest
}
