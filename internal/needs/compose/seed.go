package compose

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Seed is one of the steps that give the service its data: a file, which its image runs, a command
// in its container, a container of another image, or a start of each contender.
type Seed struct {
	File        string            `json:"file,omitempty" yaml:"-"`
	Command     shell             `json:"command,omitempty" yaml:"command" example:"[psql, -f, /seed/rows.sql]"`
	Image       string            `json:"image,omitempty" yaml:"image" strict:"min=1,max=500" example:"flyway/flyway:11"`
	Entrypoint  []string          `json:"entrypoint,omitempty" yaml:"entrypoint" strict:"later"`
	Environment map[string]string `json:"environment,omitempty" yaml:"environment" strict:"later"`
	User        string            `json:"user,omitempty" yaml:"user" strict:"min=1,max=100"`
	Volumes     []Volume          `json:"volumes,omitempty" yaml:"volumes" strict:"later"`
	Start       start             `json:"start,omitempty" yaml:"start"`
	Timeout     time.Duration     `json:"timeout_ns,omitempty" yaml:"timeout" strict:"min=1s,max=24h"`
}

// seedMap is Seed without its methods.
type seedMap Seed

// start is the value of `start`.
type start bool

// UnmarshalStrict reads `service`.
func (s *start) UnmarshalStrict(v strictyaml.Value) {
	if text, ok := v.Text(); ok && text != "service" {
		v.Wrong("write `start: service`: each contender is started once")
	}
	*s = true
}

const seedHint = "write a file, {command: […]} in its container, {image: …, command: […]} in one of another image, or {start: service}"

// UnmarshalStrict reads a file or a map.
func (s *Seed) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		s.File, _ = existing(v, "")
		return
	}
	v.Decode((*seedMap)(s))
	if v.Has("image") { // else a text is for a shell
		if of, ok := composed(v); ok {
			s.Entrypoint, s.Command = argv(v, "entrypoint", of.Entrypoint), argv(v, "command", of.Command)
			s.Environment, s.Volumes = variables(v, of.Environment), mounts(v, of.Volumes)
		}
	}
	s.Image, s.User = places(v.At("image"), s.Image), places(v.At("user"), s.User)
	switch others := s.others(v); {
	case v.Failed():
	case s.Image == "" && others != nil:
		v.Mistake("`"+strings.Join(others, "`, `")+"` without `image`", "a command in the container of the need has its environment; remove it")
	case bool(s.Start) && s.Timeout != 0:
		v.At("timeout").Mistake("`timeout` with `start`", "remove it: a contender has `ready: {timeout: …}` of its manifest")
	case bool(s.Start) && (s.Image != "" || s.Command != nil):
		v.Mistake("`start` with another key", "write two steps")
	case !bool(s.Start) && s.Image == "" && s.Command == nil:
		v.Wrong(seedHint)
	}
	for i, mounted := range s.Volumes {
		if mounted.Source == "" && mounted.Target != "" {
			v.At("volumes").Items()[i].Mistake("a container that runs once has no state", "write `./FILE:PATH:ro`, or remove it")
		}
	}
}

// others returns the keys that are given and belong to a container of another image.
func (s Seed) others(v strictyaml.Value) (keys []string) {
	for _, key := range []string{"entrypoint", "environment", "user", "volumes"} {
		if v.Has(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// seedFolder has the files of the profile's folder that seeds name.
const seedFolder = "/seed"

var seedFile = regexp.MustCompile(`(?:^|[\s=<'":(])/seed/([\w.][\w./-]*)`)

// findSeeds finds the files of the profile's folder that commands of seeds read in the folder /seed.
func (s *Service) findSeeds(v strictyaml.Value) {
	for i, one := range s.Seed {
		for _, m := range seedFile.FindAllStringSubmatch(strings.Join(one.Command, "\n"), -1) {
			target := path.Join(seedFolder, m[1])
			is := func(v Volume) bool { return v.Target == target }
			if one.Image == "" && s.mounted(target) || slices.ContainsFunc(s.Seed[i].Volumes, is) {
				continue
			}
			ofSeed := slices.IndexFunc(s.Seed, func(o Seed) bool { return o.File != "" && SeedPath(o.File) == target })
			if one.Image == "" && ofSeed >= 0 {
				s.Seed[i].Volumes = append(s.Seed[i].Volumes, Volume{s.Seed[ofSeed].File, target})
			} else if source, ok := existing(v.At("seed").Items()[i].At("command"), m[1]); ok {
				s.Seed[i].Volumes = append(s.Seed[i].Volumes, Volume{source, target})
			}
		}
	}
}

// SeedPath returns where a file of a seed is in the container.
func SeedPath(file string) string { return path.Join(seedFolder, filepath.Base(file)) }

// Filled returns the service with its variables.
func (s Service) Filled(f *Filler) (Service, error) {
	s.Environment = f.variables(s.Environment)
	s.Image, s.User = f.Text(s.Image), f.Text(s.User)
	s.Entrypoint, s.Command, s.Ready.Command = f.words(s.Entrypoint), f.words(s.Command), f.words(s.Ready.Command)
	s.Seed = slices.Clone(s.Seed)
	for i, one := range s.Seed {
		one.Environment, one.Image, one.User = f.variables(one.Environment), f.Text(one.Image), f.Text(one.User)
		one.Entrypoint, one.Command = f.words(one.Entrypoint), f.words(one.Command)
		s.Seed[i] = one
	}
	return s, f.Err()
}

// Steps returns the steps of the seed before the start of contenders, and those after it.
func (s Service) Steps() (before, after []Seed) {
	i := slices.IndexFunc(s.Seed, func(one Seed) bool { return bool(one.Start) })
	if i < 0 {
		return s.Seed, nil
	}
	return s.Seed[:i], s.Seed[i+1:]
}

// sorted returns the names of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// WithAddress fills the address of a need into a text of a seed, as into those of manifests.
func WithAddress(text, need string, a bench.NeedAddress) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("not a template: %w", err)
	}
	var filled strings.Builder
	err = t.Execute(&filled, map[string]any{"Needs": map[string]bench.NeedAddress{need: a}})
	return filled.String(), err
}

// wrongTemplates returns why texts of a seed cannot be filled with the address of their need.
func (s Seed) wrongTemplates(need string) error {
	a := bench.NeedAddress{Ports: map[string]string{}}
	for _, text := range slices.AppendSeq(slices.Clone(s.Command), maps.Values(s.Environment)) {
		if _, err := WithAddress(text, need, a); err != nil {
			return err
		}
	}
	return nil
}
