package container

import (
	"fmt"
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

// seed is one of the steps that give the service its data: a file, which its image runs, a command
// in its container, a container of another image, or a start of each contender.
type seed struct {
	File        string        `json:"file,omitempty"`
	Command     shell         `json:"command,omitempty"`
	Image       string        `json:"image,omitempty"`
	Entrypoint  words         `json:"entrypoint,omitempty"`
	Environment environment   `json:"environment,omitempty"`
	User        string        `json:"user,omitempty"`
	Volumes     []volume      `json:"volumes,omitempty"`
	Start       bool          `json:"start,omitempty"`
	Timeout     time.Duration `json:"timeout_ns,omitempty"`
}

type seedMap struct {
	Command     shell         `yaml:"command" example:"[psql, -f, /seed/rows.sql]"`
	Image       string        `yaml:"image" strict:"min=1,max=500" example:"flyway/flyway:11"`
	Entrypoint  words         `yaml:"entrypoint"`
	Environment environment   `yaml:"environment"`
	User        string        `yaml:"user" strict:"min=1,max=100"`
	Volumes     []volume      `yaml:"volumes" strict:"max=50"`
	Start       string        `yaml:"start"`
	Timeout     time.Duration `yaml:"timeout" strict:"min=1s,max=24h"`
}

// service is the value of `start`.
const startService = "service"

const seedHint = "write a file, {command: […]} in its container, {image: …, command: […]} in one of another image, or {start: service}"

// UnmarshalStrict reads a file or a map.
func (s *seed) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		s.File, _ = existing(v, "")
		return
	}
	var m seedMap
	v.Decode(&m)
	*s = seed{Command: m.Command, Image: m.Image, Entrypoint: m.Entrypoint, Environment: m.Environment, User: m.User, Volumes: m.Volumes,
		Timeout: m.Timeout}
	if m.Image != "" && m.Command != nil { // as in compose: its entrypoint gets the words
		var command words
		command.UnmarshalStrict(v.At("command"))
		s.Command = shell(command)
	}
	s.Start = m.Start == startService
	switch given := len(s.others()); {
	case v.Failed():
	case m.Start != "" && !s.Start:
		v.At("start").Wrong("write `start: service`: each contender is started once")
	case m.Image == "" && given > 0:
		v.Mistake("`"+strings.Join(s.others(), "`, `")+"` without `image`", "a command in the container of the need has its environment; remove it")
	case s.Start && m.Timeout != 0:
		v.At("timeout").Mistake("`timeout` with `start`", "remove it: a contender has `ready: {timeout: …}` of its manifest")
	case s.Start && (m.Image != "" || m.Command != nil):
		v.Mistake("`start` with another key", "write two steps")
	case !s.Start && m.Image == "" && m.Command == nil:
		v.Wrong(seedHint)
	}
	for i, mounted := range m.Volumes {
		if mounted.Source == "" && mounted.Target != "" {
			v.At("volumes").Items()[i].Mistake("a container that runs once has no state", "write `./FILE:PATH:ro`, or remove it")
		}
	}
}

// others returns the keys that are given and belong to a container of another image.
func (s seed) others() (keys []string) {
	for _, one := range []struct {
		key   string
		given bool
	}{
		{"entrypoint", s.Entrypoint != nil}, {"environment", s.Environment != nil}, {"user", s.User != ""}, {"volumes", s.Volumes != nil},
	} {
		if one.given {
			keys = append(keys, one.key)
		}
	}
	return keys
}

// seedFolder has the files of the profile's folder that seeds name.
const seedFolder = "/seed"

var seedFile = regexp.MustCompile(`(?:^|[\s=<'":(])/seed/([\w.][\w./-]*)`)

// mountSeeds mounts the files of the profile's folder that commands of seeds find in the folder
// /seed.
func (s *service) mountSeeds(v strictyaml.Value) {
	for i, one := range s.Seed {
		for _, m := range seedFile.FindAllStringSubmatch(strings.Join(one.Command, "\n"), -1) {
			target := path.Join(seedFolder, m[1])
			is := func(v volume) bool { return v.Target == target }
			ofSeed := slices.ContainsFunc(s.Seed, func(o seed) bool { return o.File != "" && seedPath(o.File) == target })
			if one.Image == "" && (s.mounted(target) || ofSeed) || slices.ContainsFunc(s.Seed[i].Volumes, is) {
				continue
			}
			source, ok := existing(v.At("seed").Items()[i].At("command"), m[1])
			switch {
			case !ok:
			case one.Image != "":
				s.Seed[i].Volumes = append(s.Seed[i].Volumes, volume{source, target})
			default:
				s.Volumes = append(s.Volumes, volume{source, target})
			}
		}
	}
}

// seedPath returns where a file of a seed is in the container.
func seedPath(file string) string { return path.Join(seedFolder, filepath.Base(file)) }

// seedTexts returns the texts of seeds that may have variables of locbench.
func (s service) seedTexts() (all []string) {
	for _, one := range s.Seed {
		all = append(append(all, one.Command...), one.Environment.values()...)
	}
	return all
}

// filled returns words with variables of locbench filled in.
func filled(words []string, getenv func(string) string) (all []string) {
	for _, word := range words {
		all = append(all, bench.FillEnv(word, getenv))
	}
	return all
}

// fillSeeds fills variables of locbench into the seeds.
func (n *Need) fillSeeds(getenv func(string) string) {
	seeds := n.spec.Seed
	n.spec.Seed = nil
	for _, one := range seeds {
		one.Command = filled(one.Command, getenv)
		given := one.Environment
		one.Environment = environment{}
		for name, value := range given {
			one.Environment[name] = bench.FillEnv(value, getenv)
		}
		n.spec.Seed = append(n.spec.Seed, one)
	}
}

// withAddress fills the address of a need into a text of a seed, as into those of manifests.
func withAddress(text, need string, a bench.NeedAddress) (string, error) {
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
func (s seed) wrongTemplates(need string) error {
	a := bench.NeedAddress{Ports: map[string]string{}}
	for _, text := range append(slices.Clone(s.Command), s.Environment.values()...) {
		if _, err := withAddress(text, need, a); err != nil {
			return err
		}
	}
	return nil
}
