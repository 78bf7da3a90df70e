package contender

import (
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Schema returns the JSON Schema of a service.yaml. It is made from the types that read a manifest.
func Schema() strictyaml.Schema { return strictyaml.SchemaOf("A contender for locbench", manifest{}) }

func namesSchema(names string) strictyaml.Schema { return strictyaml.MapOf(names, strictyaml.Text("")) }

func argvSchema(least int) strictyaml.Schema { return strictyaml.ListOf(strictyaml.Text(""), least) }

// DescribeStrict adds the rules of ValidateStrict.
func (manifest) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	builtin := strictyaml.Has("builtin")
	builtin["properties"] = strictyaml.Schema{"builtin": strictyaml.Enum("true")}
	return s.Keys(manifest{}, strictyaml.Keys{
		About: map[string]string{
			"name":             "The contender's name, default the folder's.",
			"title":            "A description in one line.",
			"language":         "The programming language, for tables and reports.",
			"language_version": "The version of the language.",
			"framework":        "The framework, for tables and reports.",
			"version":          "The version of the framework, for tables and reports; compare reports a change.",
			"tags":             "Words for searches: lower-case letters, digits and `-`.",
			"endpoints":        "Groups of check suites to run: a list, or all for those of the locations API.",
			"port":             "The port it listens on, default 8080.",
			"env":              "Environment variables. {{.Port}}, {{.Elastic.URL}} and others are filled in.",
			"ready":            "How to see that it is ready.",
			"stop_signal":      "The signal that stops it, default SIGTERM, or that of its image.",
			"needs":            "Services that it needs, by their names, as in a profile. Equal needs of several contenders are one.",
			"builtin":          "It runs inside locbench.",
			"docker":           "How to run it in a container.",
			"process":          "How to run it as a process on this machine.",
			"variants":         "The same sources, built, configured or started differently. The first is the default.",
			"unverified":       "Why it has not been verified.",
		},
		Accept: map[string]strictyaml.Schema{
			"name": {"pattern": namePattern.String()}, "tags": {"items": strictyaml.Text(tagPattern.String())},
			"env": namesSchema(envPattern.String()),
		},
		Rules: strictyaml.Schema{"anyOf": append(strictyaml.HasEach("docker", "process", "variants"), builtin)},
	})
}

// DescribeStrict adds the meaning of the keys.
func (ready) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(ready{}, strictyaml.Keys{
		About: map[string]string{
			"path":    "The path to request until it is ready, default /.",
			"port":    "The port to request, default the service's.",
			"header":  "Headers of the request. Host is that of the profile's requests unless given. ${NAME} is a variable of locbench.",
			"status":  "The status of a ready service, default any 2xx or 3xx.",
			"timeout": "The longest start-up time, default 1m.",
		},
		Accept: map[string]strictyaml.Schema{
			"path": strictyaml.String(`^/[^ \t\r\n#]*$`), "header": namesSchema(headerPattern.String()),
		},
	})
}

// DescribeStrict adds the rules of checkDocker.
func (dockerPart) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	accept := imageSchema()
	accept["capabilities"] = strictyaml.Schema{"items": strictyaml.Enum(strings.Fields(capabilities)...)}
	accept["processes"] = strictyaml.Schema{"minimum": bench.DefaultProcesses + 1}
	about := aboutImage()
	about["capabilities"] = "Linux capabilities, without CAP_."
	about["new_privileges"] = "Its processes may gain privileges by starting programs."
	about["read_only"] = "Its root file system is read-only."
	about["tmpfs"] = "Paths in memory, PATH or PATH:OPTIONS."
	about["shm_size"] = "Size of /dev/shm, default the engine's."
	about["user"] = "User, and group, of its processes, default the image's."
	about["processes"] = "The most processes and threads it may have, above the default."
	return s.Keys(dockerPart{}, strictyaml.Keys{
		About: about, Accept: accept, Rules: strictyaml.Schema{"oneOf": strictyaml.HasEach("dockerfile", "image")},
	})
}

func aboutImage() map[string]string {
	return map[string]string{
		"dockerfile": "Path of the Dockerfile in the folder.",
		"image":      "The name of an existing image.",
		"target":     "The stage of the Dockerfile.",
		"args":       "Build arguments.",
		"command":    "The command to start, instead of the image's.",
	}
}

func imageSchema() map[string]strictyaml.Schema {
	return map[string]strictyaml.Schema{
		"image": {"pattern": imagePattern.String()}, "args": namesSchema(argPattern.String()),
	}
}

// DescribeStrict adds the rules of checkArgv.
func (processPart) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(processPart{}, strictyaml.Keys{
		About: map[string]string{
			"build":   "Commands that build it, each a list of a program and its arguments.",
			"command": "The command to start: a program and its arguments. {{.Dir}} is its working directory.",
		},
		Accept: map[string]strictyaml.Schema{"build": {"items": argvSchema(1)}},
	})
}

// DescribeStrict adds the rules of checkVariants.
func (variant) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	accept := imageSchema()
	accept["name"] = strictyaml.Schema{"pattern": namePattern.String()}
	accept["env"] = namesSchema(envPattern.String())
	accept["build"] = strictyaml.Schema{"items": argvSchema(1)}
	about := aboutImage()
	about["name"] = "The name after the colon: go-echo:release."
	about["title"] = "What is different, in one line."
	about["builtin"] = "It runs inside locbench."
	about["env"] = "Environment variables, in addition to the contender's."
	about["endpoints"] = "Groups of check suites to run, instead of the contender's."
	about["build"] = "Commands that build it, instead of the contender's."
	about["unverified"] = "Why it has not been verified."
	return s.Keys(variant{}, strictyaml.Keys{
		About: about, Accept: accept, Rules: strictyaml.Schema{"not": strictyaml.Has("dockerfile", "image")},
	})
}

// DescribeStrict describes what UnmarshalStrict reads.
func (endpoints) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	group := strictyaml.Either(strictyaml.Enum(Groups()...), strictyaml.Text(groupPattern.String()))
	return strictyaml.Either(strictyaml.Enum("all"), strictyaml.ListOf(group, 1))
}
