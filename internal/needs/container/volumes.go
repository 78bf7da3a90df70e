package container

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/locbench/locbench/internal/bench"
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
	bytes  atomic.Int64 // of its files; known from the first copy on
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
	most := int64(math.MaxInt64)
	free, folder := s.engine.FreeSpace()
	if folder != "" {
		most = free - docker.Spare
	}
	s.of = of
	for i, d := range s.data {
		var err error
		if d.volume, err = s.engine.CreateVolume(ctx, volumeName(label, i)); err != nil {
			return err
		}
		from := d.seeded[of]
		bytes, err := s.engine.CopyVolume(ctx, from.volume, d.volume, image, most)
		if errors.Is(err, docker.ErrTooLarge) {
			return fmt.Errorf("no space for a copy of its seeded state: %w", docker.NoRoom(free, folder))
		}
		if err != nil {
			return err
		}
		most -= bytes
		from.bytes.Store(bytes)
	}
	return nil
}
