package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/text/safe"
)

// noSource matches what an engine says of a path of this machine that its own does not have.
var noSource = regexp.MustCompile(`bind source path does not exist|statfs .*no such file`)

// createGiving creates a container. Files and folders of this machine are mounted, or copied into it
// if the engine's machine may have others, or none, at their paths: it is another machine, locbench
// runs in a container into which an engine mounts its files, or the engine finds none there. given are
// those that were copied.
func (e *Engine) createGiving(ctx context.Context, spec ContainerSpec) (created client.ContainerCreateResult, given []Mount, err error) {
	bound := func(m Mount) bool { return m.Volume == "" }
	copies := slices.ContainsFunc(spec.Mounts, bound) && (!e.Local() || e.root.id() != "")
	if !copies {
		created, err = e.create(ctx, spec)
		if err == nil || !noSource.MatchString(err.Error()) {
			return created, nil, err
		}
	}
	for _, m := range spec.Mounts {
		if !bound(m) {
			continue
		}
		if memory := inMemory(spec, m.Target); memory != "" {
			return created, nil, fmt.Errorf("%s cannot be copied to %s, as the engine's machine does not have it: %s is in memory and would hide it; "+
				"write a path outside of it", m.Source, m.Target, memory)
		}
		given = append(given, m)
	}
	spec.Mounts = slices.DeleteFunc(slices.Clone(spec.Mounts), bound)
	created, err = e.create(ctx, spec)
	return created, given, err
}

// inMemory returns the file system in memory of a container that has a path; "" if none has.
func inMemory(spec ContainerSpec, at string) string {
	folders := []string{"/dev", "/proc", "/sys"}
	for _, t := range spec.Tmpfs {
		folders = append(folders, path.Clean(t.Target))
	}
	for _, f := range folders {
		if at = path.Clean(at); at == f || strings.HasPrefix(at, f+"/") {
			return f
		}
	}
	return ""
}

// give copies files and folders of this machine into a container that has not started.
func (c *Container) give(ctx context.Context, all []Mount) error {
	for _, m := range all {
		out, in := io.Pipe()
		packed := make(chan error, 1)
		go func() {
			err := packGiven(in, m)
			in.CloseWithError(err)
			packed <- err
		}()
		_, err := c.engine.cli.CopyToContainer(ctx, c.id, client.CopyToContainerOptions{DestinationPath: "/", Content: out})
		out.Close()
		if packErr := <-packed; packErr != nil && !errors.Is(packErr, io.ErrClosedPipe) {
			err = packErr // the cause of the engine's error
		}
		if err != nil {
			return fmt.Errorf("copy %s into the container, since the engine's machine does not have it: %w", m.Source, noSpace(err))
		}
		c.given = append(c.given, path.Clean(m.Target))
	}
	return nil
}

// packGiven writes an archive of a file or folder for its place in a container, with owners, rights
// and times. Sockets and devices are left out.
func packGiven(w io.Writer, m Mount) error {
	tw := tar.NewWriter(w)
	err := filepath.WalkDir(m.Source, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && at == m.Source {
			info, err = os.Stat(at) // a mount follows it
		}
		if err != nil {
			return err
		}
		link := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if link, err = os.Readlink(at); err != nil {
				return err
			}
		} else if !info.Mode().IsRegular() && !info.IsDir() {
			return nil
		}
		h, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(m.Source, at)
		if err != nil {
			return err
		}
		h.Name = path.Join(m.Target, filepath.ToSlash(below))[1:]
		if info.IsDir() {
			h.Name += "/"
		}
		if err := tw.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
			return err
		}
		f, err := safe.Open(at)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(tw, f)
		return err
	})
	if err != nil {
		return err
	}
	return tw.Close()
}
