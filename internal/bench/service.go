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
	Name  string `json:"name" yaml:"name" strict:"min=1"`
	Title string `json:"title,omitempty" yaml:"title" strict:"max=200"`
	// applied variant; "" in a manifest, and if there are no variants
	Variant         string   `json:"variant,omitempty"`
	Language        string   `json:"language" yaml:"language" strict:"min=1,max=100"`
	LanguageVersion string   `json:"language_version,omitempty" yaml:"language_version" strict:"max=100"`
	Framework       string   `json:"framework" yaml:"framework" strict:"min=1,max=100"`
	Version         string   `json:"version" yaml:"version" strict:"min=1,max=100"`
	Tags            []string `json:"tags,omitempty" yaml:"tags" strict:"max=20"` // async, blocking, jvm, native, …
	// endpoint groups that it serves: get closest associatedFeatured search featured api-docs
	// benchmark
	Endpoints []string          `json:"endpoints"`
	Port      int               `json:"port" yaml:"port" strict:"min=1,max=65535"` // inside a container
	Env       map[string]string `json:"env,omitempty" yaml:"env" strict:"max=200"` // templates
	Limits    Limits            `json:"limits,omitzero"`                           // its own, from the settings of the profile
	Ready     Ready             `json:"ready" yaml:"ready"`
	// runs as "locbench serve": an image with only the running binary
	Builtin  bool           `json:"builtin,omitempty" yaml:"builtin"`
	Docker   *DockerRecipe  `json:"docker,omitempty" yaml:"docker"`                      // nil: cannot run in a container unless Builtin
	Process  *ProcessRecipe `json:"process,omitempty" yaml:"process"`                    // nil: cannot run as a process unless Builtin
	Variants []Variant      `json:"variants,omitempty" yaml:"variants" strict:"max=100"` // the first is the default
	Needs    []NeedSpec     `json:"-"`                                                   // of its manifest; a run has them in its profile
	// why it was never verified; "" if it was
	Unverified string `json:"unverified,omitempty" yaml:"unverified" strict:"max=1000"`
	// signal that stops it; "": SIGTERM, in a container that of its image
	StopSignal string  `json:"stop_signal,omitempty" yaml:"stop_signal" strict:"min=1,max=20"`
	URL        string  `json:"url,omitempty"` // URL of a running service; "": locbench starts it
	Dir        string  `json:"dir"`           // folder of the manifest, for messages
	BuiltAs    *string `json:"-"`             // the variant of its image; nil: Variant
	Files      fs.FS   `json:"-"`             // content of that folder: sources, Dockerfile
}

// Manifest returns the path of the manifest, for messages.
func (s Service) Manifest() string { return s.Dir + "/service.yaml" }

// Ready says when a contender is ready.
type Ready struct {
	Path string `json:"path" yaml:"path" strict:"min=1,max=2000"` // path of the GET request
	// port of the request; 0: that of the service
	Port int `json:"port,omitempty" yaml:"port" strict:"min=1,max=65535"`
	// status of a ready response; 0: any 2xx or 3xx
	Status  int           `json:"status,omitempty" yaml:"status" strict:"min=200,max=599"`
	Timeout time.Duration `json:"timeout_ns" yaml:"timeout" strict:"min=100ms,max=1h"`
	// headers of the request; a Host replaces that of the profile's requests
	Header map[string]string `json:"header,omitempty" yaml:"header" strict:"max=50"`
}

// DockerRecipe says how to build a contender's image. Image alone names an existing one.
type DockerRecipe struct {
	Dockerfile string            `json:"dockerfile,omitempty" yaml:"dockerfile" strict:"min=1,max=1000"` // relative to the folder
	Image      string            `json:"image,omitempty" yaml:"image" strict:"min=1,max=500"`
	Target     string            `json:"target,omitempty" yaml:"target" strict:"max=200"` // stage of the Dockerfile
	Args       map[string]string `json:"args,omitempty" yaml:"args" strict:"max=200"`     // build arguments
	Command    []string          `json:"command,omitempty" yaml:"command" strict:"max=200"`
	Privileges Privileges        `json:"privileges,omitzero"`
	Confined   Confined          `json:"confined,omitzero"`
}

// Confined is what a container is given or denied in production, next to its limits.
type Confined struct {
	ReadOnly bool     `json:"read_only,omitempty" yaml:"read_only"` // its root file system
	Tmpfs    []string `json:"tmpfs,omitempty"`                      // paths in memory: "PATH" or "PATH:OPTIONS"
	// of /dev/shm; 0: the engine's default
	ShmSize int64 `json:"shm_size_bytes,omitempty" yaml:"shm_size" strict:"bytes,min=1MiB,max=1024TiB"`
	// user, and group, of its processes; "": the image's
	User string `json:"user,omitempty" yaml:"user" strict:"min=1,max=100"`
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
	// Linux capabilities without "CAP_", or ALL
	Capabilities []string `json:"capabilities,omitempty" yaml:"capabilities" strict:"max=50"`
	// programs may gain privileges when they start, such as setuid programs
	NewPrivileges bool `json:"new_privileges,omitempty" yaml:"new_privileges"`
	// limit of processes and threads, if the profile has none
	Processes int64 `json:"processes,omitempty" yaml:"processes" strict:"min=1,max=4194304"`
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
	Build   [][]string `json:"build,omitempty" yaml:"build" strict:"max=50"` // commands, run in the folder one after the other
	Command []string   `json:"command" yaml:"command" strict:"required,min=1,max=200" example:"['{{.Dir}}/service']"`
}

// Variant changes parts of its service. Empty fields keep the values of the service.
type Variant struct {
	Name    string            `json:"name" yaml:"name" strict:"required,min=1" example:"release"`
	Title   string            `json:"title,omitempty" yaml:"title" strict:"max=200"`
	Builtin *bool             `json:"builtin,omitempty" yaml:"builtin"`
	Args    map[string]string `json:"args,omitempty" yaml:"args" strict:"max=200"`
	Env     map[string]string `json:"env,omitempty" yaml:"env" strict:"max=200"`
	// command in the container and as a process
	Command    []string   `json:"command,omitempty" yaml:"command" strict:"max=200"`
	Target     string     `json:"target,omitempty" yaml:"target" strict:"max=200"`
	Dockerfile string     `json:"dockerfile,omitempty" yaml:"dockerfile" strict:"min=1,max=1000"`
	Image      string     `json:"image,omitempty" yaml:"image" strict:"min=1,max=500"`
	Endpoints  []string   `json:"endpoints,omitempty"`
	Build      [][]string `json:"build,omitempty" yaml:"build" strict:"max=50"` // process runtime
	Unverified string     `json:"unverified,omitempty" yaml:"unverified" strict:"max=1000"`
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

// AnyTarget is the name of a target that was given without one.
const AnyTarget = "target"

// Target is a running service that locbench did not start.
type Target struct {
	Name string `json:"name"` // name of the contender
	URL  string `json:"url"`  // origin, and the path prefix of the requests
}

// TLS says which certificates the client accepts.
type TLS struct {
	CACert   string `json:"ca_cert,omitempty"`  // file with trusted certificates, in addition to those of the system
	Insecure bool   `json:"insecure,omitempty"` // any certificate is accepted
}

// Args returns the equivalent command-line options.
func (t *TLS) Args() []string {
	switch {
	case t == nil:
		return nil
	case t.Insecure:
		return []string{"--insecure"}
	}
	return []string{"--cacert", t.CACert}
}

// TargetOf returns the URL of a contender that is a target; "" if locbench starts it.
func (r Run) TargetOf(sel Selection) string {
	for _, t := range r.Targets {
		if t.Name == sel.String() {
			return t.URL
		}
	}
	return ""
}

// The names of the lifecycle checks in profiles, under checks.lifecycle. In the group "lifecycle"
// CheckResult.Name starts with them; a check with several readings adds to the name, such as
// "threads (1 CPU)".
const (
	CheckNoEnvironment = "no-environment" // exits with an error if its environment is missing
	CheckNoNeeds       = "no-store"       // exits with an error if a need cannot be reached
	CheckLogsPort      = "logs-port"      // logs its port at start-up
	CheckLogsRequests  = "logs-requests"  // logs every request with its path
	CheckImageSize     = "image-size"     // size of the image or binary
	CheckThreads       = "threads"        // processes and threads under three CPU limits
	CheckStillResponds = "still-responds" // responds after the last step
	CheckStops         = "stops"          // stops gracefully on SIGTERM
)

// LifecycleChecks returns the names of all lifecycle checks in display order.
func LifecycleChecks() []string {
	return []string{
		CheckNoEnvironment, CheckNoNeeds, CheckLogsPort, CheckLogsRequests, CheckImageSize, CheckThreads, CheckStillResponds,
		CheckStops,
	}
}
