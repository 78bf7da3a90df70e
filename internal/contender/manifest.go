package contender

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Schema is the JSON Schema of manifests. TestKeys of package cli compares it with what is read.
//
//go:embed service.schema.json
var Schema strictyaml.Schema

// Groups returns the endpoint groups of the locations API, in the order of its description.
func Groups() []string {
	return []string{"get", "closest", "associatedFeatured", "search", "featured", "api-docs", "benchmark"}
}

const (
	defaultPort         = 8080
	defaultReadyTimeout = time.Minute
)

var (
	namePattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	tagPattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9.+#-]{0,30}$`)
	envPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	groupPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$`)
	argPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerPattern = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	imagePattern  = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]*$`)
)

// manifest is a service.yaml as written in the file.
type manifest struct {
	Name            string             `yaml:"name" strict:"min=1"`
	Title           string             `yaml:"title" strict:"max=200"`
	Language        string             `yaml:"language" strict:"min=1,max=100"`
	LanguageVersion string             `yaml:"language_version" strict:"max=100"`
	Framework       string             `yaml:"framework" strict:"min=1,max=100"`
	Version         string             `yaml:"version" strict:"min=1,max=100"`
	Tags            []string           `yaml:"tags" strict:"max=20"`
	Endpoints       endpoints          `yaml:"endpoints" example:"[get, benchmark]"`
	Port            int                `yaml:"port" strict:"min=1,max=65535"`
	Env             map[string]string  `yaml:"env" strict:"max=200"`
	Ready           ready              `yaml:"ready"`
	StopSignal      string             `yaml:"stop_signal" strict:"min=1,max=20"`
	Needs           kinds.ManifestList `yaml:"needs"`
	Builtin         bool               `yaml:"builtin"`
	Docker          *dockerPart        `yaml:"docker"`
	Process         *processPart       `yaml:"process"`
	Variants        []variant          `yaml:"variants" strict:"max=100"`
	Unverified      string             `yaml:"unverified" strict:"max=1000"`

	files fs.FS // the folder; nil: do not check for files
}

type ready struct {
	Path    string        `yaml:"path" strict:"min=1,max=2000"`
	Port    int           `yaml:"port" strict:"min=1,max=65535"`
	Status  int           `yaml:"status" strict:"min=200,max=599"`
	Timeout time.Duration `yaml:"timeout" strict:"min=100ms,max=1h"`

	Header map[string]string `yaml:"header" strict:"max=50"`
}

type dockerPart struct {
	Dockerfile string            `yaml:"dockerfile" strict:"min=1,max=1000"`
	Image      string            `yaml:"image" strict:"min=1,max=500"`
	Target     string            `yaml:"target" strict:"max=200"`
	Args       map[string]string `yaml:"args" strict:"max=200"`
	Command    []string          `yaml:"command" strict:"max=200"`

	Capabilities  []string `yaml:"capabilities" strict:"max=50"`
	NewPrivileges bool     `yaml:"new_privileges"`
	Processes     int64    `yaml:"processes" strict:"min=1,max=4194304"`

	ReadOnly bool             `yaml:"read_only"`
	Tmpfs    needs.TmpfsList  `yaml:"tmpfs"`
	ShmSize  strictyaml.Bytes `yaml:"shm_size" strict:"min=1MiB,max=1024TiB"`
	User     string           `yaml:"user" strict:"min=1,max=100"`
}

type processPart struct {
	Build   [][]string `yaml:"build" strict:"max=50"`
	Command []string   `yaml:"command" strict:"required,min=1,max=200" example:"['{{.Dir}}/service']"`
}

type variant struct {
	Name       string            `yaml:"name" strict:"required,min=1" example:"release"`
	Title      string            `yaml:"title" strict:"max=200"`
	Builtin    *bool             `yaml:"builtin"`
	Args       map[string]string `yaml:"args" strict:"max=200"`
	Env        map[string]string `yaml:"env" strict:"max=200"`
	Command    []string          `yaml:"command" strict:"max=200"`
	Target     string            `yaml:"target" strict:"max=200"`
	Dockerfile string            `yaml:"dockerfile" strict:"min=1,max=1000"`
	Image      string            `yaml:"image" strict:"min=1,max=500"`
	Endpoints  endpoints         `yaml:"endpoints"`
	Build      [][]string        `yaml:"build" strict:"max=50"`
	Unverified string            `yaml:"unverified" strict:"max=1000"`
}

// endpoints is "all" for those of the locations API, or a list of groups of check suites. Other
// groups are skipped. Without the key all groups are checked.
type endpoints []string

// UnmarshalStrict reads "all" or a list of groups, sorted like the locations API, others last.
func (e *endpoints) UnmarshalStrict(v strictyaml.Value) {
	groups := Groups()
	if v.Kind() != strictyaml.List {
		if text, ok := v.Text(); ok && text != "all" {
			v.Wrong("write a list of groups of check suites, or `all` for those of the locations API (" +
				strings.Join(groups, ", ") + ")")
		}
		*e = groups
		return
	}
	for _, item := range v.Items() {
		switch name, ok := item.Text(); {
		case !ok:
		case !groupPattern.MatchString(name):
			item.Wrong("write the name of a group of a check suite: letters, digits, `-`, `_` and `.`")
		case slices.Contains(*e, name):
			item.Mistake(fmt.Sprintf("group %q is listed twice", name), "list it once")
		default:
			*e = append(*e, name)
		}
	}
	if len(v.Items()) == 0 {
		v.Mistake("no endpoint group is listed", "list at least one, or remove the key to check all groups")
	}
	place := func(name string) int {
		if i := slices.Index(groups, name); i >= 0 {
			return i
		}
		return len(groups)
	}
	slices.SortStableFunc(*e, func(a, b string) int { return place(a) - place(b) })
}

// Parse reads a manifest. Without a name in data, the last folder of file is the contender's name.
// It does not check for the files in the manifest. The error is a strictyaml.Mistakes.
func Parse(file string, data []byte) (bench.Service, error) { return parseManifest(file, data, nil) }

func parseManifest(file string, data []byte, files fs.FS) (bench.Service, error) {
	m := manifest{Port: defaultPort, Ready: ready{Path: "/", Timeout: defaultReadyTimeout}, files: files}
	dir := path.Dir(filepath.ToSlash(file))
	m.Name = folderName(dir)
	if err := strictyaml.Decode(file, data, &m); err != nil {
		return bench.Service{}, err
	}
	s := m.service()
	s.Dir, s.Files = dir, files
	return s, nil
}

// folderName returns the name of the contender in a folder whose manifest has none.
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = filepath.ToSlash(abs)
	}
	return strings.ToLower(path.Base(dir))
}

func (m manifest) service() bench.Service {
	s := bench.Service{
		Name: m.Name, Title: m.Title, Language: m.Language, LanguageVersion: m.LanguageVersion, Framework: m.Framework,
		Version: m.Version, Tags: m.Tags, Endpoints: m.Endpoints, Port: m.Port, Env: m.Env,
		Ready: bench.Ready(m.Ready), Needs: m.Needs, Builtin: m.Builtin, Unverified: m.Unverified,
		StopSignal: m.StopSignal,
	}
	if m.Docker != nil {
		d := m.Docker
		s.Docker = &bench.DockerRecipe{
			Dockerfile: d.Dockerfile, Image: d.Image, Target: d.Target, Args: d.Args, Command: d.Command,
			Privileges: bench.Privileges{
				Capabilities: d.Capabilities, NewPrivileges: d.NewPrivileges, Processes: d.Processes,
			},
			Confined: bench.Confined{ReadOnly: d.ReadOnly, ShmSize: int64(d.ShmSize), User: d.User},
		}
		for _, t := range d.Tmpfs {
			s.Docker.Confined.Tmpfs = append(s.Docker.Confined.Tmpfs, string(t))
		}
	}
	if m.Process != nil {
		p := bench.ProcessRecipe(*m.Process)
		s.Process = &p
	}
	for _, v := range m.Variants {
		s.Variants = append(s.Variants, bench.Variant{
			Name: v.Name, Title: v.Title, Builtin: v.Builtin, Args: v.Args, Env: v.Env, Command: v.Command, Target: v.Target,
			Dockerfile: v.Dockerfile, Image: v.Image, Endpoints: v.Endpoints, Build: v.Build, Unverified: v.Unverified,
		})
	}
	return s
}
