package container

import (
	"context"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// files returns the files and folders of this machine that a service uses.
func files(n bench.NeedSpec) (all []needs.File) {
	s := specOf(n)
	add := func(key, path string, i ...any) {
		if path != "" {
			all = append(all, needs.File{Key: fmt.Sprintf(key, i...), Path: path})
		}
	}
	if s.Dockerfile != "" {
		all = append(all, needs.File{Key: "dockerfile", Path: string(s.Dockerfile), Built: true})
	}
	for i, one := range s.Seed {
		add("seed[%d]", one.File, i)
		for j, v := range one.Volumes {
			add("seed[%d].volumes[%d]", v.Source, i, j)
		}
	}
	for i, file := range s.EnvFile {
		add("env_file[%d]", file, i)
	}
	for i, v := range s.Volumes {
		add("volumes[%d]", v.Source, i)
	}
	return all
}

// runsOf returns the images and commands of a service.
func runsOf(n bench.NeedSpec) (all []string) {
	complete(&n)
	s := specOf(n)
	add := func(what string, command ...string) {
		if len(command) > 0 && command[0] != "" {
			all = append(all, what+" "+masked(command))
		}
	}
	add("image", s.Image)
	add("Dockerfile", string(s.Dockerfile))
	add("command", slices.Concat(s.Entrypoint, s.Command)...)
	add("ready command", s.Ready.Command...)
	for _, one := range s.Seed {
		add("seed image", one.Image)
		add("seed command", slices.Concat(one.Entrypoint, []string(one.Command))...)
	}
	return all
}

var _ needs.Imaged = (*Need)(nil)

// Images returns the images of the service, and of the containers that run once.
func (n *Need) Images() []bench.NeedPart { return n.images }

// findImages finds the images of the containers that run once, before a seed begins.
func (n *Need) findImages(ctx context.Context) error {
	if n.spec.Image != "" && n.spec.Dockerfile == "" {
		n.images = append(n.images, bench.NeedPart{Key: "image", Image: n.spec.Image, Hash: n.image.ID})
	}
	for i, one := range n.spec.Seed {
		if one.Image == "" {
			continue
		}
		image, err := n.at.Containers.Image(ctx, one.Image, n.at.Progress)
		if err != nil {
			return err
		}
		n.images = append(n.images, bench.NeedPart{Key: fmt.Sprintf("seed[%d].image", i), Image: one.Image, Hash: image.ID})
	}
	return nil
}

// masked returns a command in a line, without secrets.
func masked(command []string) string { return safe.Shell(secret.Masker{}.Args(command)) }
