package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/text/safe"
)

// Files of this machine travel into containers through the engine, which needs no path of theirs: it
// may be on another machine, in a virtual one, or in another mount namespace.

// given are the volumes with folders of this machine, by the paths of these.
type given struct {
	mu      sync.Mutex
	volumes map[string]string
}

// withFolders returns the mounts of a container. A folder of this machine becomes a read-only volume of
// the run, into which its files are copied once: what a need starts again with costs nothing then.
func (g *Group) withFolders(ctx context.Context, spec ContainerSpec) (all []Mount, err error) {
	all = slices.Clone(spec.Mounts)
	for i, m := range all {
		if m.Source == "" {
			continue
		}
		info, err := os.Stat(m.Source)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			all[i] = Mount{Target: m.Target, ReadOnly: true, Complete: true}
			if all[i].Volume, err = g.folder(ctx, m.Source, spec.Image); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// folder returns the volume with the files of a folder. It is written through a container of an image
// that never starts.
func (g *Group) folder(ctx context.Context, source, image string) (volume string, err error) {
	if g.of != nil {
		return g.of.folder(ctx, source, image)
	}
	g.given.mu.Lock()
	defer g.given.mu.Unlock()
	if volume = g.given.volumes[source]; volume != "" {
		return volume, nil
	}
	if volume, err = g.CreateVolume(ctx, "files"); err != nil {
		return "", err
	}
	c, err := g.holder(ctx, volume, image, "files")
	if err == nil {
		const at = "/" + volumeAt
		err = errors.Join(c.put(ctx, at, []Mount{{Source: source, Target: at}}), c.drop(ctx))
	}
	if err != nil {
		return "", errors.Join(err, g.RemoveVolume(ctx, volume))
	}
	if g.given.volumes == nil {
		g.given.volumes = map[string]string{}
	}
	g.given.volumes[source] = volume
	return volume, nil
}

// give copies the files of this machine among mounts into a container that has not started. What is in
// a volume is given to the volume: not every engine mounts those meanwhile.
func (c *Container) give(ctx context.Context, mounts []Mount) error {
	files := map[string][]Mount{} // by the volume's path, or /
	for _, m := range mounts {
		if m.Volume != "" {
			continue
		}
		at := "/"
		for _, v := range mounts {
			if v.Volume != "" && strings.HasPrefix(m.Target, v.Target+"/") && len(v.Target) > len(at) {
				at = v.Target
			}
		}
		files[at] = append(files[at], m)
		c.given = append(c.given, path.Clean(m.Target))
	}
	for _, at := range slices.Sorted(maps.Keys(files)) {
		if err := c.put(ctx, at, files[at]); err != nil {
			return err
		}
	}
	return nil
}

// put copies files and folders of this machine to their places below a folder of a container that has
// not started.
func (c *Container) put(ctx context.Context, at string, all []Mount) error {
	p := packing{at: at, left: math.MaxInt64, rootless: c.engine.info.Rootless}
	if free, folder := c.engine.FreeSpace(); folder != "" {
		p.left, p.more = free-Spare, NoRoom(free, folder)
	}
	out, in := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := p.pack(in, all)
		in.CloseWithError(err)
		packed <- err
	}()
	_, err := c.engine.cli.CopyToContainer(ctx, c.id, client.CopyToContainerOptions{DestinationPath: at, Content: out})
	out.Close()
	if packErr := <-packed; packErr != nil && !errors.Is(packErr, io.ErrClosedPipe) {
		err = packErr // the cause of the engine's error
	}
	if err == nil {
		return nil
	}
	var names []string
	for _, m := range all {
		if m.Source != "" {
			names = append(names, m.Source)
		}
	}
	return fmt.Errorf("copy %s into the container: %w", strings.Join(names, ", "), noSpace(orCause(ctx, err)))
}

// packing writes an archive of files and folders for their places in a container, with owners, rights
// and times. There only root may write to them. Sockets and devices are left out.
type packing struct {
	tar      *tar.Writer
	at       string // the folder of the container that names in the archive begin in
	left     int64  // bytes that fit into the engine
	more     error  // for more than those
	rootless bool   // in such an engine, what is this user's is root's
}

func (p *packing) pack(w io.Writer, all []Mount) error {
	p.tar = tar.NewWriter(w)
	for _, m := range all {
		if err := p.add(m); err != nil {
			return err
		}
	}
	return p.tar.Close()
}

func (p *packing) add(m Mount) error {
	name := func(below string) string {
		return path.Join(".", strings.TrimPrefix(path.Join(m.Target, filepath.ToSlash(below)), p.at))
	}
	if m.Link != "" {
		return p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name(""), Linkname: m.Link, Mode: 0o777})
	}
	source, err := filepath.EvalSymlinks(m.Source)
	if err != nil {
		return err
	}
	return filepath.WalkDir(source, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(source, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		link := ""
		switch kind := info.Mode().Type(); {
		case kind == fs.ModeSymlink:
			if link, err = os.Readlink(at); err != nil {
				return err
			}
			if !filepath.IsAbs(link) && !filepath.IsLocal(filepath.Join(filepath.Dir(below), link)) {
				return fmt.Errorf("%s is a link out of its folder, to %s; put a copy of that in its place", at, link)
			}
		case kind != 0 && !info.IsDir():
			if at == source {
				return fmt.Errorf("%s is neither a file nor a folder", at)
			}
			return nil
		}
		h, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		h.Name, h.Uname, h.Gname = name(below), "", ""
		if p.rootless {
			h.Uid, h.Gid = 0, 0
		}
		if h.Typeflag != tar.TypeReg {
			return p.tar.WriteHeader(h)
		}
		h.Mode &^= 0o222
		return p.file(at, h)
	})
}

// file writes a file, which may be larger than memory.
func (p *packing) file(at string, h *tar.Header) error {
	if p.left -= h.Size; p.left < 0 {
		return p.more
	}
	f, err := safe.Open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := p.tar.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(p.tar, f)
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && n < h.Size {
		return fmt.Errorf("%s has changed meanwhile", at)
	}
	return err
}
