package docker

import (
	"context"
	"fmt"

	"github.com/docker/docker/api/types/image"
)

// Images lists what the engine has: each image's references ("name:tag") and labels.
func (e *Engine) Images(ctx context.Context) ([]ListedImage, error) {
	raw, err := e.cli.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", orCause(ctx, err))
	}
	list := make([]ListedImage, len(raw))
	for i, r := range raw {
		list[i] = ListedImage{Refs: r.RepoTags, Labels: r.Labels}
	}
	return list, nil
}

// ListedImage is an image in the engine's list.
type ListedImage struct {
	Refs   []string
	Labels map[string]string
}
