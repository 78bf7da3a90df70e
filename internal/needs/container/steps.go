package container

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

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
	var m readyMap
	v.Decode(&m)
	*r = ready(m)
	if names := r.rules(); len(names) > 1 {
		slices.Sort(names)
		v.Mistake("`ready` has several rules: "+strings.Join(names, ", "), "keep one of them")
	}
}

// DescribeStrict describes what UnmarshalStrict reads.
func (ready) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(strictyaml.Enum("healthcheck"), s.Keys(readyMap{}, strictyaml.Keys{
		About: map[string]string{
			"command":     "Command in the container that succeeds when it is ready. Use the name of the need as host.",
			"tcp":         "Port that accepts connections and keeps them open.",
			"http":        "Path that responds with a status, 200 unless given.",
			"log":         "Text of a line of its log, how often it comes in the first start; later the port counts.",
			"healthcheck": "The command of the image's health check.",
			"times":       "How often it must succeed in a row, half a second apart; 2 unless given.",
			"timeout":     "How long to wait; 60s unless given.",
		},
		Rules: strictyaml.Schema{"oneOf": strictyaml.HasOneAtMost("command", "tcp", "http", "log", "healthcheck")},
	}))
}

// UnmarshalStrict reads a file, or {command: …}.
func (s *seed) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		s.File, _ = existing(v, "")
		return
	}
	var m seedMap
	v.Decode(&m)
	s.Command = m.Command
}

// RefuseStrict returns what to write for steps that locbench does not run.
func (*seedMap) RefuseStrict(key string) string {
	if key == "start" {
		return "write a command of the container, such as `{command: [psql, -f, /seed/schema.sql]}`"
	}
	return ""
}

// MarshalYAML writes what UnmarshalStrict reads.
func (s seed) MarshalYAML() (any, error) {
	if s.File != "" {
		return s.File, nil
	}
	return seedMap{s.Command}, nil
}

// DescribeStrict describes what UnmarshalStrict reads.
func (seed) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(strictyaml.Text(""), s.Keys(seedMap{}, strictyaml.Keys{About: map[string]string{
		"command": "Command in the container. It finds FILE of the profile's folder at /seed/FILE.",
	}}))
}

// seedFolder has the files of the profile's folder that seeds name.
const seedFolder = "/seed"

var seedFile = regexp.MustCompile(`(?:^|[\s=<'"(])/seed/([\w.][\w./-]*)`)

// mountSeeds mounts the files of the profile's folder that commands of seeds find in the folder
// /seed.
func (s *service) mountSeeds(v strictyaml.Value) {
	for i, one := range s.Seed {
		for _, m := range seedFile.FindAllStringSubmatch(strings.Join(one.Command, "\n"), -1) {
			target := path.Join(seedFolder, m[1])
			ofSeed := slices.ContainsFunc(s.Seed, func(o seed) bool { return o.File != "" && seedPath(o.File) == target })
			if s.mounted(target) || ofSeed {
				continue
			}
			if source, ok := existing(v.At("seed").Items()[i].At("command"), m[1]); ok {
				s.Volumes = append(s.Volumes, volume{source, target})
			}
		}
	}
}

// seedPath returns where a file of a seed is in the container.
func seedPath(file string) string { return path.Join(seedFolder, filepath.Base(file)) }
