// Package container is the need for a service of any image, such as a database: started in a
// container for the run, seeded once, and started again from a copy of its seeded volumes for each
// trial. Or it runs already; then locbench only reaches it.
package container

import (
	"cmp"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Kind is this kind of need. Its needs have names of their profile's choice.
var Kind = needs.Kind{
	Name: "container",
	Read: read, Complete: complete, Wrong: wrong,
	Traits: traits, Files: files, Runs: runsOf,
	Missing: "needs the address of a service: write `external: 10.0.0.5:5432` in the profile",
	Find:    find,
}

// service is what a profile says of a service. Its JSON is bench.NeedSpec.Of. Keys are spelled as
// in compose files, so lines of one can be pasted.
type service struct {
	Image           string            `json:"image,omitempty" yaml:"image" strict:"min=1,max=500" example:"postgres:17"`
	Dockerfile      dockerfile        `json:"dockerfile,omitempty" yaml:"dockerfile" strict:"min=1" example:"db/Dockerfile"`
	Base            string            `json:"base,omitempty" yaml:"-"` // the image that the Dockerfile begins with
	External        string            `json:"-" yaml:"external" strict:"min=1,max=2000" example:"10.0.0.5:5432"`
	Writable        bool              `json:"writable,omitempty" yaml:"writable"`
	Like            string            `json:"like,omitempty" yaml:"like" example:"postgres"`
	Entrypoint      words             `json:"entrypoint,omitempty" yaml:"entrypoint"`
	Command         words             `json:"command,omitempty" yaml:"command"`
	Environment     environment       `json:"environment,omitempty" yaml:"environment"`
	EnvFile         paths             `json:"env_file,omitempty" yaml:"env_file"`
	Limits          serviceLimits     `json:"limits,omitzero" yaml:"limits"`
	Ports           ports             `json:"ports,omitempty" yaml:"ports"`
	Ready           ready             `json:"ready,omitzero" yaml:"ready"`
	Seed            []seed            `json:"seed,omitempty" yaml:"seed" strict:"max=100"`
	Volumes         []volume          `json:"volumes,omitempty" yaml:"volumes" strict:"max=50"`
	Tmpfs           needs.TmpfsList   `json:"tmpfs,omitempty" yaml:"tmpfs"`
	ShmSize         strictyaml.Bytes  `json:"shm_size,omitempty" yaml:"shm_size" strict:"min=1MiB,max=1024TiB"`
	Ulimits         map[string]ulimit `json:"ulimits,omitempty" yaml:"ulimits"`
	Hostname        string            `json:"hostname,omitempty" yaml:"hostname" strict:"min=1,max=63"`
	Aliases         []string          `json:"aliases,omitempty" yaml:"aliases" strict:"max=20"`
	User            string            `json:"user,omitempty" yaml:"user" strict:"min=1,max=100"`
	Init            bool              `json:"init,omitempty" yaml:"init"`
	StopSignal      string            `json:"stop_signal,omitempty" yaml:"stop_signal" strict:"min=1,max=20"`
	StopGracePeriod time.Duration     `json:"stop_grace_period_ns,omitempty" yaml:"stop_grace_period" strict:"min=1s,max=10m"`
	RestoreTimeout  time.Duration     `json:"restore_timeout_ns,omitempty" yaml:"restore_timeout" strict:"min=3m,max=24h"`
	After           []string          `json:"after,omitempty" yaml:"after" strict:"max=20"`
	Keep            bool              `json:"keep,omitempty" yaml:"keep"`
}

// serviceLimits are bench.Limits without a CPU set.
type serviceLimits struct {
	CPUs   cpus             `json:"cpus,omitempty" yaml:"cpus"`
	Memory strictyaml.Bytes `json:"memory,omitempty" yaml:"memory" strict:"min=6MiB,max=1024TiB"`
	PIDs   int64            `json:"pids,omitempty" yaml:"pids" strict:"min=1,max=4194304"`
}

func (l serviceLimits) bench() bench.Limits {
	return bench.Limits{CPUs: float64(l.CPUs), Memory: int64(l.Memory), PIDs: l.PIDs}
}

// ready says when the service is ready: the first of its rules that is given.
type ready struct {
	Command     shell         `json:"command,omitempty" yaml:"command"`
	TCP         int           `json:"tcp,omitempty" yaml:"tcp" strict:"min=1,max=65535"`
	HTTP        readyHTTP     `json:"http,omitzero" yaml:"http"`
	Log         readyLog      `json:"log,omitzero" yaml:"log"`
	Healthcheck bool          `json:"healthcheck,omitempty" yaml:"healthcheck"`
	Times       int           `json:"times,omitempty" yaml:"times" strict:"min=1,max=100"`
	Timeout     time.Duration `json:"timeout_ns,omitempty" yaml:"timeout" strict:"min=1s,max=30m"`
}

// readyMap is ready without its methods.
type readyMap ready

type readyHTTP struct {
	Port   int    `json:"port,omitempty" yaml:"port" strict:"min=1,max=65535"`
	Path   string `json:"path,omitempty" yaml:"path" strict:"required,min=1,max=2000" example:"/health"`
	Status int    `json:"status,omitempty" yaml:"status" strict:"min=100,max=599"`
}

type readyLog struct {
	Line  string `json:"line,omitempty" yaml:"line" strict:"required,min=1,max=500" example:"ready to accept connections"`
	Times int    `json:"times,omitempty" yaml:"times" strict:"min=1,max=100"`
}

// rules returns the names of the rules that are given.
func (r ready) rules() (names []string) {
	for name, given := range map[string]bool{
		"command": r.Command != nil, "tcp": r.TCP != 0, "http": r.HTTP != readyHTTP{}, "log": r.Log != readyLog{},
		"healthcheck": r.Healthcheck,
	} {
		if given {
			names = append(names, name)
		}
	}
	return names
}

// volume is a file or folder of this machine, mounted read-only, or a path whose files are part of
// the service's state.
type volume struct {
	Source string `json:"source,omitempty"` // absolute; "": a volume of the run
	Target string `json:"target"`
}

func specOf(n bench.NeedSpec) (s service) {
	s, _ = bench.ReadForm[service](n.Of) // Find reports what a record has in another form
	return s
}

// put puts s into n.
func (s service) put(n *bench.NeedSpec) {
	n.Of = bench.FormOf(s)
}

func read(v strictyaml.Value) bench.NeedSpec {
	var s service
	v.Decode(&s)
	n := bench.NeedSpec{From: bench.NeedContainer, URL: s.External}
	if s.External != "" {
		n.From = bench.NeedExternal
	}
	s.External, s.Base = "", s.Dockerfile.base()
	s.mountSeeds(v)
	s.put(&n)
	return n
}

// complete fills in the preset of the image. It says nothing of what the image itself says.
func complete(n *bench.NeedSpec) {
	s := specOf(*n)
	s.fill(n.Name, n.From.Traits().ByURL)
	s.put(n)
}

// fill fills in what a preset knows, for a service of this name.
func (s *service) fill(name string, external bool) {
	p, known := presetOf(*s)
	if !known {
		return
	}
	if s.Ports == nil && !external {
		s.Ports = p.Fills.Ports
	}
	if external {
		return
	}
	of := p.named(name, s.Ports[mainPort])
	if len(s.Ready.rules()) == 0 {
		s.Ready.Command, s.Ready.HTTP = of.Ready.Command, of.Ready.HTTP
		if p.secured(s.Environment) {
			s.Ready.HTTP, s.Ready.TCP = readyHTTP{}, s.Ports[mainPort]
		}
	}
	s.Ready.Timeout = cmp.Or(s.Ready.Timeout, of.Ready.Timeout)
	s.ShmSize = cmp.Or(s.ShmSize, p.Fills.ShmSize)
	if s.Command == nil && s.Entrypoint == nil {
		s.Command = p.Fills.Command
	}
	s.Environment = p.environment(of, *s)
	for _, v := range p.Fills.Volumes {
		if !s.mounted(v.Target) {
			s.Volumes = append(slices.Clip(s.Volumes), v)
		}
	}
}

// mounted reports whether something of the profile is mounted at a path of the container.
func (s *service) mounted(path string) bool {
	for _, v := range s.Volumes {
		if v.Target == path {
			return true
		}
	}
	for _, t := range s.Tmpfs {
		if t.Path() == path {
			return true
		}
	}
	return false
}
