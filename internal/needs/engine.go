package needs

import (
	"context"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
)

// Containers is a docker.Group, or its counterpart in a test: the containers of a run in one
// network, and its volumes.
type Containers interface {
	// Run starts a container, and returns which limits the engine does not enforce. After an error
	// nothing of it is left.
	Run(ctx context.Context, spec docker.ContainerSpec) (c Container, unenforced string, err error)
	Image(ctx context.Context, ref string, progress func(bench.Progress)) (docker.Image, error)
	CreateVolume(ctx context.Context, name string) (volume string, err error)
	CopyVolume(ctx context.Context, from, to, image string, most int64) (bytes int64, err error)
	FreeSpace() (free int64, folder string)
	RemoveVolume(ctx context.Context, volume string) error
}

// Container is a running container: a docker.Container.
type Container interface {
	Address() string
	NetworkAddress() string
	LocalPID() int
	Exited() <-chan struct{}
	Exit() *bench.Exit
	Logs() []bench.LogLine
	Exec(ctx context.Context, command []string, heard func(line string)) (output string, code int, err error)
	Diagnose(ctx context.Context) string
	Written(ctx context.Context) ([]string, error)
	End(ctx context.Context, grace time.Duration) (clean bool, err error)
	Kill(ctx context.Context) error
}

// Of has the containers of a group.
type Of struct{ *docker.Group }

// Run starts a container of a need, whose processes gain no privileges.
func (of Of) Run(ctx context.Context, spec docker.ContainerSpec) (Container, string, error) {
	spec.NoGain = true
	c, _, note, err := of.Group.Run(ctx, spec)
	if err != nil {
		return nil, "", err
	}
	return c, note, nil
}
