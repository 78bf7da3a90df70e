package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// ContainerRunner runs the container of a store; it is implemented over the Docker handle.
type ContainerRunner interface {
	// RunContainer pulls the image if needed and starts it. After an error nothing of it is left.
	RunContainer(ctx context.Context, spec ContainerSpec) (Container, error)
}

// ContainerSpec is the container that the store needs.
type ContainerSpec struct {
	RunID string // for the labels: "locbench clean" finds what a killed run left by it
	Name  string
	Image string
	Env   map[string]string
	Port  int // the server listens on it inside the container
	OnLog func(bench.LogLine)
}

// Container is a running container.
type Container interface {
	Address() string                // host:port under which this machine reaches ContainerSpec.Port
	NetworkAddress() string         // host:port for contenders in containers on the same network
	PID() int                       // of the main process on this machine; 0 if it runs elsewhere
	Exited() <-chan struct{}        // closed as soon as the main process has ended
	Logs() []bench.LogLine          // the last lines, oldest first
	Stop(ctx context.Context) error // ends and removes the container; idempotent
}

const (
	containerPort   = 9200
	containerHeap   = "-Xms1g -Xmx1g"
	startTimeout    = 3 * time.Minute
	startPoll       = 250 * time.Millisecond
	startLogLines   = 10
	startLogLineMax = 300
)

func (s *Store) openContainer(ctx context.Context, spec bench.StoreSpec, opts Options) error {
	if opts.Containers == nil {
		return errors.New("open container store: no Docker engine is in use")
	}
	image := cmp.Or(spec.Image, DefaultImage)
	c, err := opts.Containers.RunContainer(ctx, ContainerSpec{
		RunID: opts.RunID, Name: "store", Image: image, Port: containerPort, OnLog: opts.OnLog,
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
func awaitContainer(ctx context.Context, c Container, image string, probe func(context.Context) error) error {
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
