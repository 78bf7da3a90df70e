package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	containerPort   = 9200
	containerHeap   = "-Xms1g -Xmx1g"
	startTimeout    = 3 * time.Minute
	containerGrace  = 5 * time.Second // to stop; its data is removed with it
	startPoll       = 250 * time.Millisecond
	startLogLines   = 10
	startLogLineMax = 300
)

func (s *Store) openContainer(ctx context.Context, spec Spec, opts Options) error {
	if opts.Containers == nil {
		return errors.New("open container store: no Docker engine is in use")
	}
	image := cmp.Or(spec.Image, DefaultImage)
	if _, err := opts.Containers.Image(ctx, image, opts.Progress); err != nil {
		return fmt.Errorf("start store container of %s: %w", image, err)
	}
	c, _, err := opts.Containers.Run(ctx, docker.ContainerSpec{
		Name: "store", Image: image, Port: containerPort, CPUs: opts.CPUs, OnLog: opts.OnLog,
		Env: map[string]string{
			"discovery.type": "single-node",
			"ES_JAVA_OPTS":   containerHeap,
			// The data of the store can be made again at any time, and its network is its own.
			"xpack.security.enabled":                            "false",
			"ingest.geoip.downloader.enabled":                   "false",
			"cluster.routing.allocation.disk.threshold_enabled": "false",
		},
	})
	if err != nil {
		return fmt.Errorf("start store container of %s: %w", image, err)
	}
	s.container, s.url = c, "http://"+c.Address()
	probe := func(ctx context.Context) error {
		_, err := s.probe(ctx)
		return err
	}
	if err := awaitContainer(ctx, c, image, probe); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// awaitContainer waits until the server responds. It reports a crash at once, with the last logs.
func awaitContainer(ctx context.Context, c needs.Container, image string, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.Exited():
			return fmt.Errorf("store container of %s ended before it responded:%s", image, lastLines(c.Logs()))
		case <-ctx.Done():
			return fmt.Errorf("store container of %s did not respond: %w; its last lines:%s",
				image, err, lastLines(c.Logs()))
		case <-time.After(startPoll):
		}
	}
}

func lastLines(lines []bench.LogLine) string {
	if len(lines) == 0 {
		return " (it wrote nothing)"
	}
	text := ""
	for _, l := range lines[max(0, len(lines)-startLogLines):] {
		text += "\n  " + safe.Line(l.Text, startLogLineMax)
	}
	return text
}
