package docker

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

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
