package bench

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"locbench/internal/bench/cpuset"
)

// Service is a contender as its manifest describes it. Its templates are not filled in yet (package
// contender does that).
type Service struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// the one that was applied; "" in a manifest and where there are none
	Variant         string   `json:"variant,omitempty"`
	Language        string   `json:"language"`
	LanguageVersion string   `json:"language_version,omitempty"`
	Framework       string   `json:"framework"`
	Version         string   `json:"version"`
	Tags            []string `json:"tags,omitempty"` // async, blocking, jvm, native, …
	// groups served: get closest associatedFeatured search featured api-docs benchmark
	Endpoints []string          `json:"endpoints"`
	Port      int               `json:"port"`          // inside a container
	Env       map[string]string `json:"env,omitempty"` // templates
	Ready     Ready             `json:"ready"`         //
	// runs as "locbench serve": image FROM scratch plus the running binary
	Builtin    bool           `json:"builtin,omitempty"`
	Docker     *DockerRecipe  `json:"docker,omitempty"`     // nil: cannot run in a container (unless Builtin)
	Process    *ProcessRecipe `json:"process,omitempty"`    // nil: cannot run as a process (unless Builtin)
	Variants   []Variant      `json:"variants,omitempty"`   // the first is the default
	Unverified string         `json:"unverified,omitempty"` // why nobody has seen it run; "" when verified
	URL        string         `json:"url,omitempty"`        // where it runs already; "": locbench starts it
	Dir        string         `json:"dir"`                  // where the manifest was found, for messages
	Files      fs.FS          `json:"-"`                    // the folder of the manifest: sources, Dockerfile
}

// Ready says when a contender counts as started.
type Ready struct {
	Path    string        `json:"path"`             // of GET
	Status  int           `json:"status,omitempty"` // of the response that ends the start-up time; 0: any 2xx or 3xx
	Timeout time.Duration `json:"timeout_ns"`
}

// DockerRecipe is how a contender's image comes to be. Image alone names one that exists already.
type DockerRecipe struct {
	Dockerfile string            `json:"dockerfile,omitempty"` // relative to the folder
	Image      string            `json:"image,omitempty"`
	Target     string            `json:"target,omitempty"` // stage
	Args       map[string]string `json:"args,omitempty"`   // build arguments
	Command    []string          `json:"command,omitempty"`
	Privileges Privileges        `json:"privileges,omitzero"`
}

// DefaultProcesses bounds the processes and threads of a container where neither profile nor
// manifest does: a thread for each of 2,048 connections, and no flood.
const DefaultProcesses = 4096

// Privileges are what a container gets beyond those that contenders have by default.
type Privileges struct {
	Capabilities []string `json:"capabilities,omitempty"` // Linux capabilities without "CAP_", or ALL
	// its programs may gain privileges when they start, as setuid ones do
	NewPrivileges bool  `json:"new_privileges,omitempty"`
	Processes     int64 `json:"processes,omitempty"` // processes and threads together, where the profile has no such limit
}

// String lists them; "" for none.
func (p Privileges) String() string {
	var all []string
	if len(p.Capabilities) > 0 {
		all = append(all, "capabilities "+strings.Join(p.Capabilities, ", "))
	}
	if p.NewPrivileges {
		all = append(all, "new privileges")
	}
	if p.Processes > 0 {
		all = append(all, fmt.Sprintf("up to %d processes and threads", p.Processes))
	}
	return strings.Join(all, "; ")
}

// ProcessRecipe is how a contender is built and started without a container, on a machine that has
// its toolchain.
type ProcessRecipe struct {
	Build   [][]string `json:"build,omitempty"` // commands, run in the folder one after the other
	Command []string   `json:"command"`
}

// Variant changes parts of its service: what it leaves empty stays as the service has it.
type Variant struct {
	Name       string            `json:"name"`
	Title      string            `json:"title,omitempty"`
	Builtin    *bool             `json:"builtin,omitempty"`
	Args       map[string]string `json:"args,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Command    []string          `json:"command,omitempty"` // in the container and as a process
	Target     string            `json:"target,omitempty"`
	Dockerfile string            `json:"dockerfile,omitempty"`
	Image      string            `json:"image,omitempty"`
	Endpoints  []string          `json:"endpoints,omitempty"`
	Build      [][]string        `json:"build,omitempty"` // process runtime
	Unverified string            `json:"unverified,omitempty"`
}

// Artifact is what can be started: the outcome of building (or warning) a contender.
type Artifact struct {
	Image       string        `json:"image,omitempty"`        // Docker: reference to start
	ImageID     string        `json:"image_id,omitempty"`     // Docker: sha256 of the image's configuration
	ImageSize   int64         `json:"image_bytes,omitempty"`  // Docker
	Command     []string      `json:"command,omitempty"`      // process: argv; Docker: overrides the image's CMD where set
	Dir         string        `json:"dir,omitempty"`          // process: working directory
	BinarySize  int64         `json:"binary_bytes,omitempty"` // process: size of what is started, if it is one file
	BuildTime   time.Duration `json:"build_ns,omitempty"`     // 0: nothing had to be built
	BuildCached bool          `json:"build_cached,omitempty"`
	// SHA-256 of the contender's manifest and sources, so an uncommitted change is seen too
	Sources string `json:"sources_hash,omitempty"`
}

// LaunchSpec asks a launcher for one instance.
type LaunchSpec struct {
	RunID    string            // goes into the labels, so that "locbench clean" finds what a killed run left
	Name     string            // Trial.String or the name of a lifecycle check; goes into labels and the container's name
	Artifact Artifact          //
	URL      string            // of a service that runs already
	Env      map[string]string // filled in, nothing is added but what a container has anyway
	Port     int               // the port that the service listens on (process runtime: already a free one)
	Limits   Limits
	More     Privileges    // of a container
	CPUs     cpuset.Set    // to run on; none: as Limits.CPUSet says
	OnLog    func(LogLine) // may be nil; called from one goroutine, must not block long

	// OnIncident gets what others do to the instance, where the runtime knows it; as OnLog.
	OnIncident func(Incident)
}

// Template is what "{{…}}" in a manifest may name.
type Template struct {
	Elastic struct{ URL, Host, Port string } // the store as seen from where the contender runs
	Listen  string                           // the address to listen on: all of a container, loopback alone as a process
	Port    int                              // to listen on
	Name    string                           // of the contender
	Dir     string                           // process runtime: the folder with its sources and build output
	Self    string                           // process runtime: the running locbench binary
}
