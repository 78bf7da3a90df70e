// Package compose has what a profile says of a service that contenders need, in the keys of compose
// files; what known images add to it, and what is wrong with it. It starts nothing.
package compose

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Service is what a profile says of a service: the value of bench.NeedSpec.Of. Keys are those of
// compose files, so lines of one can be pasted; compose's own reader reads those that come later.
type Service struct {
	Image           string            `json:"image,omitempty" yaml:"image" strict:"min=1,max=500" example:"postgres:17"`
	Dockerfile      dockerfile        `json:"dockerfile,omitempty" yaml:"dockerfile" strict:"min=1" example:"db/Dockerfile"`
	External        string            `json:"-" yaml:"external" strict:"min=1,max=2000" example:"10.0.0.5:5432"`
	Like            string            `json:"like,omitempty" yaml:"like" example:"postgres"`
	Entrypoint      []string          `json:"entrypoint,omitempty" yaml:"entrypoint" strict:"later"`
	Command         []string          `json:"command,omitempty" yaml:"command" strict:"later"`
	Environment     map[string]string `json:"environment,omitempty" yaml:"environment" strict:"later"`
	EnvFile         []string          `json:"env_file,omitempty" yaml:"env_file" strict:"later"`
	Limits          serviceLimits     `json:"limits,omitzero" yaml:"limits"`
	Ports           Ports             `json:"ports,omitempty" yaml:"ports"`
	Ready           ready             `json:"ready,omitzero" yaml:"ready"`
	Healthcheck     struct{}          `json:"-" yaml:"healthcheck" strict:"later"` // it is in Ready
	Seed            []Seed            `json:"seed,omitempty" yaml:"seed" strict:"max=100"`
	Volumes         []Volume          `json:"volumes,omitempty" yaml:"volumes" strict:"later"`
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

// Bench returns them in the terms of results.
func (l serviceLimits) Bench() bench.Limits {
	return bench.Limits{CPUs: float64(l.CPUs), Memory: int64(l.Memory), PIDs: l.PIDs}
}

// cpus is a number of CPUs. Compose files have it in quotes.
type cpus float64

// UnmarshalStrict reads a number.
func (c *cpus) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	n, err := strconv.ParseFloat(text, 64)
	if ok && (err != nil || !(n >= 0.01 && n <= 1024)) {
		v.Wrong("write a number of CPUs from 0.01 to 1024, such as 0.5")
	}
	*c = cpus(n)
}

// MainPort is the name of the port whose address is the service's.
const MainPort = "main"

// Ports are ports of the container by their names.
type Ports map[string]int

var portName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)

// UnmarshalStrict reads a number or a map of numbers.
func (p *Ports) UnmarshalStrict(v strictyaml.Value) {
	number := func(v strictyaml.Value) int {
		text, ok := v.Text()
		n, err := strconv.Atoi(text)
		if ok && (err != nil || n < 1 || n > 65535) {
			v.Wrong("write a port of the container, from 1 to 65535")
		}
		return n
	}
	switch v.Kind() {
	case strictyaml.Scalar:
		*p = Ports{MainPort: number(v)}
	case strictyaml.Map:
		*p = Ports{}
		for _, f := range v.Fields() {
			if !portName.MatchString(f.Key) {
				f.Value.Mistake(fmt.Sprintf("a port has the name %.40q", f.Key), "write lower-case letters, digits and _")
			}
			(*p)[f.Key] = number(f.Value)
		}
		if _, ok := (*p)[MainPort]; !ok {
			v.Mistake("no port is named `main`", "write `main` for the port that contenders use")
		}
	default:
		v.Wrong("write a port of the container, such as `ports: 5432`, or `{main: 9092, admin: 8080}`: no port is published")
	}
}

// ulimit is a limit of processes; -1: none.
type ulimit struct {
	Soft int64 `json:"soft" yaml:"soft" strict:"required,min=-1" example:"1024"`
	Hard int64 `json:"hard" yaml:"hard" strict:"required,min=-1" example:"65536"`
}

type ulimitMap ulimit

// UnmarshalStrict reads a number or {soft: …, hard: …}.
func (u *ulimit) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Map {
		v.Decode((*ulimitMap)(u))
		return
	}
	text, ok := v.Text()
	n, err := strconv.ParseInt(text, 10, 64)
	if ok && (err != nil || n < -1) {
		v.Wrong("write a number, -1 for no limit, or {soft: 1024, hard: 65536}")
	}
	*u = ulimit{n, n}
}

// ReadyTimeout is how long a service may take to be ready unless it says otherwise.
const ReadyTimeout = time.Minute

// ready says when the service is ready: the first of its rules that is given.
type ready struct {
	Command     shell         `json:"command,omitempty" yaml:"command"`
	TCP         int           `json:"tcp,omitempty" yaml:"tcp" strict:"min=1,max=65535"`
	HTTP        ReadyHTTP     `json:"http,omitzero" yaml:"http"`
	Log         ReadyLog      `json:"log,omitzero" yaml:"log"`
	Healthcheck bool          `json:"healthcheck,omitempty" yaml:"healthcheck"`
	Times       int           `json:"times,omitempty" yaml:"times" strict:"min=1,max=100"`
	Timeout     time.Duration `json:"timeout_ns,omitempty" yaml:"timeout" strict:"min=1s,max=30m"`
}

// readyMap is ready without its methods.
type readyMap ready

// ReadyHTTP is a path whose response says that the need is ready.
type ReadyHTTP struct {
	Port   int    `json:"port,omitempty" yaml:"port" strict:"min=1,max=65535"`
	Path   string `json:"path,omitempty" yaml:"path" strict:"required,min=1,max=2000" example:"/health"`
	Status int    `json:"status,omitempty" yaml:"status" strict:"min=100,max=599"`
}

// ReadyLog is a line of the log that says so, after it was written some number of times.
type ReadyLog struct {
	Line  string `json:"line,omitempty" yaml:"line" strict:"required,min=1,max=500" example:"ready to accept connections"`
	Times int    `json:"times,omitempty" yaml:"times" strict:"min=1,max=100"`
}

// UnmarshalStrict reads `healthcheck` or a map.
func (r *ready) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		if text, _ := v.Text(); text != "healthcheck" {
			v.Wrong("write `healthcheck`, for that of the image, or one of {command: […]}, {tcp: 5432}, " +
				"{http: {port: 8080, path: /health}}, {log: {line: …, times: 2}}")
		}
		*r = ready{Healthcheck: true}
		return
	}
	v.Decode((*readyMap)(r))
	if names := r.Rules(); len(names) > 1 {
		slices.Sort(names)
		v.Mistake("`ready` has several rules: "+strings.Join(names, ", "), "keep one of them")
	}
}

// Rules returns the names of the rules that are given.
func (r ready) Rules() (names []string) {
	for name, given := range map[string]bool{
		"command": r.Command != nil, "tcp": r.TCP != 0, "http": r.HTTP != ReadyHTTP{}, "log": r.Log != ReadyLog{},
		"healthcheck": r.Healthcheck,
	} {
		if given {
			names = append(names, name)
		}
	}
	return names
}

// Volume is a file or folder of this machine, mounted read-only, or a path whose files are part of
// the service's state.
type Volume struct {
	Source string `json:"source,omitempty"` // absolute; "": a volume of the run
	Target string `json:"target"`
}

func specOf(n bench.NeedSpec) (s Service) {
	s, _ = bench.ReadForm[Service](n.Of) // Find reports what a record has in another form
	return s
}

// put puts s into n.
func (s Service) put(n *bench.NeedSpec) {
	n.Of = bench.FormOf(s)
}

// Read reads a need of a profile.
func Read(v strictyaml.Value) bench.NeedSpec {
	var s Service
	v.Decode(&s)
	if of, ok := composed(v); ok {
		s.Entrypoint, s.Command = argv(v, "entrypoint", of.Entrypoint), argv(v, "command", of.Command)
		s.Environment, s.EnvFile = variables(v, of.Environment), envFiles(v, of.EnvFiles)
		s.Volumes = mounts(v, of.Volumes)
		s.Ready.rule(v, of.HealthCheck)
	}
	for i, t := range s.Tmpfs {
		if strings.Contains(string(t), "$") {
			v.Find(fmt.Sprintf("tmpfs[%d]", i)).Mistake("locbench reads no variables in `tmpfs`", "write the path")
		}
	}
	s.Image = places(v.At("image"), s.Image)
	s.User = places(v.At("user"), s.User)
	n := bench.NeedSpec{From: bench.NeedContainer, URL: s.External}
	if s.External != "" {
		n.From = bench.NeedExternal
	}
	s.External = ""
	s.findSeeds(v)
	s.put(&n)
	return n
}

// Complete fills in the preset of the image. It says nothing of what the image itself says.
func Complete(n *bench.NeedSpec) {
	s := specOf(*n)
	s.Fill(n.Name, n.From.Traits().ByURL)
	s.put(n)
}

// Fill fills in what a preset knows, for a service of this name.
func (s *Service) Fill(name string, external bool) {
	p, known := PresetOf(*s)
	if !known {
		return
	}
	if s.Ports == nil && !external {
		s.Ports = p.Fills.Ports
	}
	if external {
		return
	}
	of := p.named(name, s.Ports[MainPort])
	if len(s.Ready.Rules()) == 0 {
		s.Ready.Command, s.Ready.HTTP = of.Ready.Command, of.Ready.HTTP
		if p.secured(s.Environment) {
			s.Ready.HTTP, s.Ready.TCP = ReadyHTTP{}, s.Ports[MainPort]
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
func (s *Service) mounted(path string) bool {
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

// dockerfile is the path of a Dockerfile, whose folder is the context of the build.
type dockerfile string

// UnmarshalStrict reads the path of a file of the profile's folder.
func (d *dockerfile) UnmarshalStrict(v strictyaml.Value) {
	file, ok := existing(v, "")
	if _, err := safe.ReadFile(file, maxDockerfile); ok && err != nil {
		v.Wrong("write the path of a Dockerfile, such as `db/Dockerfile`; its folder is the context of the build")
	}
	*d = dockerfile(file)
}

// short returns the path with only the last folder.
func (d dockerfile) Short() string {
	folder, name := filepath.Split(string(d))
	return path.Join(filepath.Base(folder), name)
}

// maxDockerfile is the most of a Dockerfile that is read, in bytes.
const maxDockerfile = 1 << 20
