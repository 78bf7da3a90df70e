package compose

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Preset is what locbench knows of the services of an image, as presets.yaml says.
type Preset struct {
	Names     []string  `yaml:"names"`
	Fills     Service   `yaml:"fills"`
	Absent    string    `yaml:"absent"`
	Unless    []string  `yaml:"unless"`
	Secure    []string  `yaml:"secure"`
	Folder    string    `yaml:"folder"`
	Endings   []string  `yaml:"endings"`
	Stopped   int       `yaml:"stopped"`
	Apart     bool      `yaml:"apart"`
	Scheme    string    `yaml:"scheme"`
	Query     string    `yaml:"query"`
	Users     []account `yaml:"users"`
	Databases []string  `yaml:"databases"`
	OfUser    bool      `yaml:"of_user"`
}

// account has the variables of a user and of its password, and the values of those that are absent.
type account struct {
	UserVar     string `yaml:"user_var"`
	PasswordVar string `yaml:"password_var"`
	User        string `yaml:"user"`
	Password    string `yaml:"password"`
	Always      bool   `yaml:"always"` // also if both are absent
}

//go:embed presets.yaml
var presetsFile []byte

var presets = func() (all []Preset) {
	d := yaml.NewDecoder(bytes.NewReader(presetsFile))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		panic(err) // a test reads it, too
	}
	return all
}()

// presetNames returns the values of `like`.
func presetNames() (all []string) {
	for _, p := range presets {
		all = append(all, p.Names[0])
	}
	return all
}

// PresetOf returns the preset of a service: that of `like`, else that of its image.
func PresetOf(s Service) (p Preset, ok bool) {
	name := cmp.Or(s.Like, ImageName(s.Image))
	i := slices.IndexFunc(presets, func(p Preset) bool { return slices.Contains(p.Names, name) })
	if name == "" || i < 0 {
		return p, false
	}
	return presets[i], true
}

// ImageName returns the last element of an image, without tag and digest.
func ImageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	if image == "" {
		return ""
	}
	return name
}

// named returns what p says of a service with a name and a port.
func (p Preset) named(name string, port int) Service {
	r := named(name, port)
	s := p.Fills
	s.Ready.Command = replaced(r, s.Ready.Command)
	s.Environment = maps.Clone(p.Fills.Environment)
	for name, value := range s.Environment {
		s.Environment[name] = r.Replace(value)
	}
	return s
}

// named replaces NAME and PORT.
func named(name string, port int) *strings.Replacer {
	return strings.NewReplacer("NAME", name, "PORT", strconv.Itoa(port))
}

func replaced(r *strings.Replacer, words shell) (all shell) {
	for _, word := range words {
		all = append(all, r.Replace(word))
	}
	return all
}

// has reports whether one of the variables is given.
func has(e map[string]string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := e[name]; return ok })
}

// environment returns the environment of s with what the preset adds, unless s has a file of
// variables, which may say something else.
func (p Preset) environment(of, s Service) map[string]string {
	if len(of.Environment) == 0 || s.EnvFile != nil || has(s.Environment, p.Unless) {
		return s.Environment
	}
	all := of.Environment
	maps.Copy(all, s.Environment)
	return all
}

// secured reports whether an HTTP port speaks TLS or expects a user.
func (p Preset) secured(e map[string]string) bool {
	return has(e, p.Secure) && e["xpack.security.enabled"] != "false"
}

// runs reports whether the image runs a file of a seed when it starts with an empty volume.
func (p Preset) runs(file string) bool {
	return p.Folder != "" && slices.ContainsFunc(p.Endings, func(ending string) bool { return strings.HasSuffix(file, ending) })
}

// Place returns where the image finds file i of a seed. It runs them in the order of their names.
func (p Preset) Place(i int, file string) string {
	return path.Join(p.Folder, fmt.Sprintf("%02d-%s", i+1, filepath.Base(file)))
}
