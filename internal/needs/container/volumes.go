package container

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
)

// state is the seeded state of a service: the files of its volumes. Contenders that complete it by
// their start have one each.
type state struct {
	engine needs.Containers
	data   []*data
	kept   map[bench.Selection]bool // whose state is kept; that of `shared` too. Copies have the same map
	of     bench.Selection          // whose state that in use is a copy of
	broken error                    // why there is no seeded state
	beside bool                     // the service wrote outside of its volumes, too
}

// shared is the key of the state that all contenders have.
var shared bench.Selection

// data is what a service writes below one path.
type data struct {
	path   string
	volume string                      // in use
	seeded map[bench.Selection]*copied // copies have the same map
}

// copied is a volume with a seeded state.
type copied struct {
	volume string

	mu    sync.Mutex // of what follows: copies are restored at the same time
	hash  string     // of the first copy; "": not known yet
	bytes int64      // 0: not known yet
}

// written reports whether one of its files has content. It is known from the first copy on.
func (c *copied) written() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes > 0
}

// make makes an empty volume for each path.
func (s *state) make(ctx context.Context, label string, paths []string) error {
	for _, path := range paths {
		volume, err := s.engine.CreateVolume(ctx, volumeName(label, len(s.data)))
		if err != nil {
			return err
		}
		s.data = append(s.data, &data{path: path, volume: volume, seeded: map[bench.Selection]*copied{}})
	}
	return nil
}

func volumeName(label string, i int) string { return label + "-" + strconv.Itoa(i+1) }

// keep makes the state in use a seeded one.
func (s *state) keep(of bench.Selection) {
	for _, d := range s.data {
		d.seeded[of], d.volume = &copied{volume: d.volume}, ""
	}
	s.kept[of] = true
}

// remove removes the volumes in use, and those with a seeded state.
func (s *state) remove(ctx context.Context, seeded bool) error {
	var errs []error
	for _, d := range s.data {
		errs = append(errs, s.drop(ctx, &d.volume))
		for _, c := range d.seeded {
			if seeded {
				errs = append(errs, s.drop(ctx, &c.volume))
			}
		}
	}
	return errors.Join(errs...)
}

// drop removes a volume, if there is one.
func (s *state) drop(ctx context.Context, volume *string) error {
	if *volume == "" {
		return nil
	}
	err := s.engine.RemoveVolume(ctx, *volume)
	if err == nil {
		*volume = ""
	}
	return err
}

// copy replaces the volumes in use by copies of a seeded state. An image of the service does it.
func (s *state) copy(ctx context.Context, of bench.Selection, label, image string) error {
	for _, d := range s.data {
		if err := s.drop(ctx, &d.volume); err != nil {
			return err
		}
	}
	most, err := s.room(ctx, of, 1, image)
	if err != nil {
		return err
	}
	s.of = of
	for i, d := range s.data {
		if d.volume, err = s.engine.CreateVolume(ctx, volumeName(label, i)); err != nil {
			return err
		}
		from := d.seeded[of]
		files, err := s.engine.CopyVolume(ctx, from.volume, d.volume, image, most)
		if errors.Is(err, docker.ErrTooLarge) {
			return fmt.Errorf("no space for a copy of its seeded state; free some, %s: %w", freeSpace, err)
		}
		if err != nil {
			return err
		}
		most -= files.Bytes
		if !from.same(files) {
			return fmt.Errorf("the files of %s differ from its seeded state: something else writes to volume %s", d.path, from.volume)
		}
	}
	return nil
}

// same reports whether a copy has the files of the first one.
func (c *copied) same(files docker.Files) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hash == "" {
		c.hash, c.bytes = files.Hash, files.Bytes
	}
	return files.Hash == c.hash
}

// spare is the space that is left free for what a trial writes.
const spare = 64 << 20

const freeSpace = "such as with `locbench clean` or `docker image prune`"

// room returns an error if the disk of the engine has no space for copies of the seeded state: a
// full disk would also stop others that write to it. Of a single copy whose size is not known yet
// it returns the most bytes that the copy may have, so the state is not read twice.
func (s *state) room(ctx context.Context, of bench.Selection, copies int, image string) (most int64, err error) {
	free, folder := s.engine.FreeSpace()
	if folder == "" {
		return math.MaxInt64, nil
	}
	var size int64
	for _, d := range s.data {
		bytes, err := s.sizeOf(ctx, d.seeded[of], copies > 1, image)
		if err != nil {
			return 0, err
		}
		size += bytes
	}
	what := "a copy"
	if copies > 1 {
		what = fmt.Sprintf("%d copies", copies)
	}
	if all := int64(copies) * (size + spare); free < all {
		return 0, fmt.Errorf("no space for %s of its seeded state, %s: %s has %s free; free %s there, %s", what, units.Bytes(size),
			folder, units.Bytes(free), units.Bytes(all-free), freeSpace)
	}
	return free - spare, nil
}

// sizeOf returns the bytes of a seeded volume; 0 if they are not known, and not to be read.
func (s *state) sizeOf(ctx context.Context, c *copied, read bool, image string) (bytes int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes == 0 && read {
		c.bytes, err = s.engine.VolumeSize(ctx, c.volume, image)
	}
	return c.bytes, err
}
