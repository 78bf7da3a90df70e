package docker

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Images lists the engine's images: their references ("name:tag") and labels.
func (e *Engine) Images(ctx context.Context) ([]ListedImage, error) {
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	raw, err := e.cli.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", orCause(ctx, err))
	}
	list := make([]ListedImage, len(raw.Items))
	for i, r := range raw.Items {
		list[i] = ListedImage{Refs: r.RepoTags, Labels: r.Labels}
	}
	return list, nil
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

// ListedImage is an image in the engine's list.
type ListedImage struct {
	Refs   []string
	Labels map[string]string
}
