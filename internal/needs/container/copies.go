package container

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/docker"
)

// drop removes a volume, if there is one.
func (n *Need) drop(ctx context.Context, volume *string) error {
	if *volume == "" {
		return nil
	}
	err := n.engine.RemoveVolume(ctx, *volume)
	if err == nil {
		*volume = ""
	}
	return err
}

// spare is the space that is left free for what a trial writes.
const spare = 64 << 20

// room returns an error if the disk of the engine has no space for copies of the seeded state: a
// full disk would also stop others that write to it. Of a single copy whose size is not known yet
// it returns the most bytes that the copy may have, so the state is not read twice.
func (n *Need) room(ctx context.Context, of bench.Selection, copies int) (most int64, err error) {
	free, folder := n.engine.FreeSpace()
	if folder == "" {
		return math.MaxInt64, nil
	}
	most = free - spare
	var size int64
	for _, d := range n.state.data {
		bytes, err := n.sizeOf(ctx, d.seeded[of], copies > 1)
		if err != nil {
			return 0, err
		}
		size += bytes
	}
	what, each := "a copy", size+spare
	if copies > 1 {
		what = fmt.Sprintf("%d copies", copies)
	}
	if all := int64(copies) * each; free < all {
		return 0, fmt.Errorf("no space for %s of its seeded state, %s: %s has %s free; free %s there, %s", what, units.Bytes(size),
			folder, units.Bytes(free), units.Bytes(all-free), freeSpace)
	}
	return most, nil
}

const freeSpace = "such as with `locbench clean` or `docker image prune`"

// sizeOf returns the bytes of a seeded volume; 0 if they are not known, and not to be read.
func (n *Need) sizeOf(ctx context.Context, c *copied, read bool) (bytes int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes == 0 && read {
		c.bytes, err = n.engine.VolumeSize(ctx, c.volume, n.spec.Image)
	}
	return c.bytes, err
}

// copyOf makes the volume in use, a copy of a seeded one, of at most some bytes, which it subtracts.
func (n *Need) copyOf(ctx context.Context, i int, d *data, from *copied, most *int64) error {
	var err error
	if d.volume, err = n.engine.CreateVolume(ctx, n.volumeName(i)); err != nil {
		return err
	}
	files, err := n.engine.CopyVolume(ctx, from.volume, d.volume, n.spec.Image, *most)
	if errors.Is(err, docker.ErrTooLarge) {
		return fmt.Errorf("no space for a copy of its seeded state; free some, %s: %w", freeSpace, err)
	}
	if err != nil {
		return err
	}
	*most -= files.Bytes
	from.mu.Lock()
	defer from.mu.Unlock()
	if from.hash == "" {
		from.hash, from.bytes = files.Hash, files.Bytes
	}
	if files.Hash != from.hash {
		return fmt.Errorf("the files of %s differ from its seeded state: something else writes to volume %s", d.path, from.volume)
	}
	return nil
}
