package needs

import (
	"context"
	"errors"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

// ContainerRunner runs containers in the network of the run.
type ContainerRunner interface {
	// RunContainer pulls the image if needed and starts it. After an error nothing of it is left.
	RunContainer(ctx context.Context, spec ContainerSpec) (Container, error)
}

// ErrTooLarge is why Engine.CopyVolume has stopped.
var ErrTooLarge = errors.New("its files are larger than the space")

// Engine runs containers, and keeps what they write in volumes of the run.
type Engine interface {
	ContainerRunner
	// BuildImage builds the image of a need from a Dockerfile, with its folder as the context,
	// unless nothing in it has changed since it was built.
	BuildImage(ctx context.Context, need, dockerfile string, progress func(bench.Progress)) (image string, err error)
	// Image describes an image, which it pulls if needed.
	Image(ctx context.Context, ref string, progress func(bench.Progress)) (Image, error)
	// CreateVolume makes an empty volume. "locbench clean" finds it by the run.
	CreateVolume(ctx context.Context, runID, name string) (volume string, err error)
	// CopyVolume gives a new volume the files of another one, with owners and rights. No container
	// may have one of the two. image is any image of this engine; its program does not run. More than
	// most bytes are ErrTooLarge.
	CopyVolume(ctx context.Context, from, to, image string, most int64) (files Files, err error)
	// VolumeSize returns the bytes of a volume's files, all of which it reads.
	VolumeSize(ctx context.Context, volume, image string) (int64, error)
	// FreeSpace returns the bytes that are free for volumes, and in which folder; "": not known.
	FreeSpace() (free int64, folder string)
	// RemoveVolume removes a volume, even if ctx has ended. One that is gone is not an error.
	RemoveVolume(ctx context.Context, volume string) error
}

// Files is what a volume or a container has written.
type Files struct {
	Bytes int64
	Hash  string // of names, owners, rights and contents, in the order of names
}

// Image is what an image says of itself.
type Image struct {
	ID          string // sha256 of its configuration
	Env         map[string]string
	Volumes     []string // paths that it declares as volumes, sorted
	Ports       []int    // TCP ports that it exposes, sorted
	Healthcheck []string // its health check as a command, with its shell if it has one; nil: none
	StopSignal  string   // "": SIGTERM
	User        string
	Emulated    bool // it is for another architecture than the engine's
}

// ContainerSpec says which container to start. Health checks of the image are off: they would run
// in measured steps.
type ContainerSpec struct {
	RunID      string // for the labels: "locbench clean" finds what a killed run left by it
	Name       string
	Image      string
	Entrypoint []string // nil: the image's
	Command    []string // nil: the image's
	Env        map[string]string
	Port       int // the server listens on it inside the container; 0: none
	CPUs       cpuset.Set
	Limits     bench.Limits // without CPUSet, for which CPUs has the set
	User       string
	Hostname   string   // "": the engine's
	Aliases    []string // more names in the network of the run
	Mounts     []Mount
	Tmpfs      []Tmpfs
	ShmSize    int64 // bytes of /dev/shm; 0: the engine's default
	Ulimits    []Ulimit
	Init       bool // an init process forwards signals and reaps processes
	StopSignal string
	OnLog      func(bench.LogLine)
	OnIncident func(bench.Incident)
	Warn       func(text string)    // of limits that the engine does not enforce; may be nil
	Progress   func(bench.Progress) // of the pull and the start
}

// Mount is a volume, or a file or folder of this machine, in a container.
type Mount struct {
	Volume   string // name of the volume; "": Source
	Source   string // absolute path on this machine
	Target   string
	ReadOnly bool
	Complete bool // an empty volume does not get what the image has at Target
}

// Tmpfs is a file system in memory.
type Tmpfs struct {
	Target, Options string
}

// Ulimit is a limit of processes, such as nofile; -1: none.
type Ulimit struct {
	Name       string
	Soft, Hard int64
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

// Served is a container of an Engine.
type Served interface {
	Container
	// Exec runs a command in the container until it ends, and returns its output, of which at most
	// the last 64 KiB, and its exit code. err is that of the engine. When ctx ends, it is killed. heard
	// gets each line of all of its output; nil: none.
	Exec(ctx context.Context, command []string, env map[string]string, heard func(line string)) (output string, code int, err error)
	// Diagnose returns the engine's reason why it may not respond, such as a pause; "" if it has none.
	Diagnose(ctx context.Context) string
	// Exit returns how the main process ended; nil while it runs.
	Exit() *bench.Exit
	// Written returns the files that the container has written or deleted outside of its mounts, at
	// most the first 100 by name.
	Written(ctx context.Context) ([]string, error)
	// End sends the stop signal, waits for the main process for at most a time, kills it then, and
	// keeps the container until Stop. clean: it ended by itself, with exit code 0.
	End(ctx context.Context, grace time.Duration) (clean bool, err error)
	// Kill ends and removes the container at once; its mounted volumes stay. It is idempotent.
	Kill(ctx context.Context) error
}
