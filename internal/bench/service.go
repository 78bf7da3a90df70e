package bench

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/bench/units"
)

// Service is a contender as described by its manifest. Package contender fills in its templates.
type Service struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// applied variant; "" in a manifest, and if there are no variants
	Variant         string   `json:"variant,omitempty"`
	Language        string   `json:"language"`
	LanguageVersion string   `json:"language_version,omitempty"`
	Framework       string   `json:"framework"`
	Version         string   `json:"version"`
	Tags            []string `json:"tags,omitempty"` // async, blocking, jvm, native, …
	// endpoint groups that it serves: get closest associatedFeatured search featured api-docs
	// benchmark
	Endpoints []string          `json:"endpoints"`
	Port      int               `json:"port"`            // inside a container
	Env       map[string]string `json:"env,omitempty"`   // templates
	Limits    Limits            `json:"limits,omitzero"` // its own, from the settings of the profile
	Ready     Ready             `json:"ready"`
	// runs as "locbench serve": an image with only the running binary
	Builtin    bool           `json:"builtin,omitempty"`
	Docker     *DockerRecipe  `json:"docker,omitempty"`     // nil: cannot run in a container unless Builtin
	Process    *ProcessRecipe `json:"process,omitempty"`    // nil: cannot run as a process unless Builtin
	Variants   []Variant      `json:"variants,omitempty"`   // the first is the default
	Needs      []NeedSpec     `json:"-"`                    // of its manifest; a run has them in its profile
	Unverified string         `json:"unverified,omitempty"` // why it was never verified; "" if it was
	// signal that stops it; "": SIGTERM, in a container that of its image
	StopSignal string  `json:"stop_signal,omitempty"`
	URL        string  `json:"url,omitempty"` // URL of a running service; "": locbench starts it
	Dir        string  `json:"dir"`           // folder of the manifest, for messages
	BuiltAs    *string `json:"-"`             // the variant of its image; nil: Variant
	Files      fs.FS   `json:"-"`             // content of that folder: sources, Dockerfile
	Root       string  `json:"-"`             // where its links may lead without a repository; "": they are not followed
}

// Manifest returns the path of the manifest, for messages.
func (s Service) Manifest() string { return s.Dir + "/service.yaml" }

// Ready says when a contender is ready.
type Ready struct {
	Path    string        `json:"path"`             // path of the GET request
	Port    int           `json:"port,omitempty"`   // port of the request; 0: that of the service
	Status  int           `json:"status,omitempty"` // status of a ready response; 0: any 2xx or 3xx
	Timeout time.Duration `json:"timeout_ns"`
	// headers of the request; a Host replaces that of the profile's requests
	Header map[string]string `json:"header,omitempty"`
}

// DockerRecipe says how to build a contender's image. Image alone names an existing one.
type DockerRecipe struct {
	Dockerfile string            `json:"dockerfile,omitempty"` // relative to the folder
	Image      string            `json:"image,omitempty"`
	Target     string            `json:"target,omitempty"` // stage of the Dockerfile
	Args       map[string]string `json:"args,omitempty"`   // build arguments
	Command    []string          `json:"command,omitempty"`
	Privileges Privileges        `json:"privileges,omitzero"`
	Confined   Confined          `json:"confined,omitzero"`
}

// Confined is what a container is given or denied in production, next to its limits.
type Confined struct {
	ReadOnly bool     `json:"read_only,omitempty"`      // its root file system
	Tmpfs    []string `json:"tmpfs,omitempty"`          // paths in memory: "PATH" or "PATH:OPTIONS"
	ShmSize  int64    `json:"shm_size_bytes,omitempty"` // of /dev/shm; 0: the engine's default
	User     string   `json:"user,omitempty"`           // user, and group, of its processes; "": the image's
}

// String lists it: "read-only, tmpfs /tmp, 256 MiB of /dev/shm, user 1000:1000"; "" for none.
func (c Confined) String() string {
	var all []string
	if c.ReadOnly {
		all = append(all, "read-only")
	}
	for _, t := range c.Tmpfs {
		all = append(all, "tmpfs "+t)
	}
	if c.ShmSize > 0 {
		all = append(all, units.Bytes(c.ShmSize)+" of /dev/shm")
	}
	if c.User != "" {
		all = append(all, "user "+c.User)
	}
	return strings.Join(all, ", ")
}

// DefaultProcesses is the limit of processes and threads of a container if neither profile nor
// manifest sets one: enough for a thread per connection at 2,048 connections.
const DefaultProcesses = 4096

// Privileges are the privileges of a container beyond the defaults.
type Privileges struct {
	Capabilities []string `json:"capabilities,omitempty"` // Linux capabilities without "CAP_", or ALL
	// programs may gain privileges when they start, such as setuid programs
	NewPrivileges bool  `json:"new_privileges,omitempty"`
	Processes     int64 `json:"processes,omitempty"` // limit of processes and threads, if the profile has none
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

// ProcessRecipe says how to build and start a contender without a container.
type ProcessRecipe struct {
	Build   [][]string `json:"build,omitempty"` // commands, run in the folder one after the other
	Command []string   `json:"command"`
}

// Variant changes parts of its service. Empty fields keep the values of the service.
type Variant struct {
	Name       string            `json:"name"`
	Title      string            `json:"title,omitempty"`
	Builtin    *bool             `json:"builtin,omitempty"`
	Args       map[string]string `json:"args,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Command    []string          `json:"command,omitempty"` // command in the container and as a process
	Target     string            `json:"target,omitempty"`
	Dockerfile string            `json:"dockerfile,omitempty"`
	Image      string            `json:"image,omitempty"`
	Endpoints  []string          `json:"endpoints,omitempty"`
	Build      [][]string        `json:"build,omitempty"` // process runtime
	Unverified string            `json:"unverified,omitempty"`
}

// Artifact is a contender that is ready to start: a build or an existing image.
type Artifact struct {
	Image       string        `json:"image,omitempty"`          // Docker: image reference to start
	ImageID     string        `json:"image_id,omitempty"`       // Docker: SHA-256 of the image's configuration
	Contents    string        `json:"image_contents,omitempty"` // Docker: SHA-256 of the image without locbench's labels
	ImageSize   int64         `json:"image_bytes,omitempty"`    // Docker
	Healthcheck bool          `json:"healthcheck,omitempty"`    // Docker: the image has a health check, which is off in the run
	Command     []string      `json:"command,omitempty"`        // process: argv; Docker: overrides the image's CMD where set
	Dir         string        `json:"dir,omitempty"`            // process: folder of the build
	Files       []string      `json:"-"`                        // process: the contender's own files and folders in Dir
	BinarySize  int64         `json:"binary_bytes,omitempty"`   // process: size of the program, if it is one file
	BuildTime   time.Duration `json:"build_ns,omitempty"`       // 0: nothing had to be built
	BuildCached bool          `json:"build_cached,omitempty"`
	// SHA-256 of the contender's manifest and sources, which also detects uncommitted changes
	Sources string `json:"sources_hash,omitempty"`
}

// LaunchSpec describes an instance to launch.
type LaunchSpec struct {
	RunID    string // becomes a label, by which "locbench clean" finds the containers of a killed run
	Name     string // Trial.String or the name of a lifecycle check; for labels and the container's name
	Artifact Artifact
	URL      string            // of a running service
	Env      map[string]string // the complete environment, with templates filled in
	Port     int               // port to listen on; process runtime: a free one
	Ready    int               // port of the readiness requests; 0: Port
	Folder   string            // process runtime: made for this start, removed at its end; "": none
	Limits   Limits
	More     Privileges    // additional ones of a container
	Confined Confined      // of a container
	Signal   string        // Service.StopSignal
	CPUs     cpuset.Set    // CPUs to run on; empty: chosen by Limits.CPUSet
	Joins    string        // network of the needs that the contender has for itself; "": none
	OnLog    func(LogLine) // may be nil; called from one goroutine; must not block

	// OnIncident receives incidents that the runtime reports. It has the rules of OnLog.
	OnIncident func(Incident)
}

// Dir returns the working directory of a process: its own copy of the build, or the build itself.
func (s LaunchSpec) Dir() string {
	if s.Folder == "" {
		return s.Artifact.Dir
	}
	return filepath.Join(s.Folder, "dir")
}

// NeedAddress is where and as whom contenders reach a need.
type NeedAddress struct {
	URL, Host, Port          string
	Ports                    map[string]string // by their names
	User, Password, Database string
	Kind                     Database // that of Connection; "": it has none
}

// NeedFields are the fields of an address. NAME is that of a port.
func NeedFields() []string {
	return append([]string{"URL", "Host", "Port", "Ports.NAME", "User", "Password", "Database"}, Connections()...)
}

// Field returns a field of the address by its name.
func (a NeedAddress) Field(name string) (value string, ok bool) {
	if port, ofPorts := strings.CutPrefix(name, "Ports."); ofPorts {
		value, ok = a.Ports[port]
		return value, ok
	}
	value, ok = map[string]string{
		"URL": a.URL, "Host": a.Host, "Port": a.Port, "User": a.User, "Password": a.Password, "Database": a.Database,
	}[name]
	return value, ok
}

// Template holds the values for "{{…}}" in a manifest.
type Template struct {
	Needs  map[string]NeedAddress // by their names
	Other  NeedAddress            // of needs that the run does not have
	Listen string                 // address to listen on: all in a container, loopback for a process
	Port   int                    // port to listen on
	Name   string                 // name of the contender
	Dir    string                 // process runtime: its working directory, with sources and build output
	Self   string                 // process runtime: path of the running locbench binary
}

// Address returns where contenders reach a need.
func (t Template) Address(need string) NeedAddress {
	if at, ok := t.Needs[need]; ok {
		return at
	}
	return t.Other
}
