package contender

import (
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/strictyaml"
)

// Schema returns the JSON Schema of a service.yaml. It is made of the types that read one.
func Schema() strictyaml.Schema { return strictyaml.SchemaOf("A contender of locbench", manifest{}) }

func namesSchema(names string) strictyaml.Schema { return strictyaml.MapOf(names, strictyaml.Text("")) }

func argvSchema(least int) strictyaml.Schema { return strictyaml.ListOf(strictyaml.Text(""), least) }

// DescribeStrict adds what ValidateStrict wants.
func (manifest) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	builtin := strictyaml.Has("builtin")
	builtin["properties"] = strictyaml.Schema{"builtin": strictyaml.Enum("true")}
	return s.Keys(manifest{}, strictyaml.Keys{
		About: map[string]string{
			"name":             "Its name. The folder's, unless given.",
			"title":            "One line that says what it is.",
			"language":         "The language that it is written in, for tables and reports.",
			"language_version": "The version of the language.",
			"framework":        "What it is written with, for tables and reports.",
			"version":          "The version of the framework, for tables and reports; compare names another one.",
			"tags":             "Words to find it by: lower-case letters, digits and `-`.",
			"endpoints":        "Groups of check suites that are asked: a list, or all for those of the locations API.",
			"port":             "Where it listens. 8080, unless given.",
			"env":              "Variables of its environment. {{.Port}}, {{.Elastic.URL}} and others are filled in.",
			"ready":            "How to see that it has started.",
			"builtin":          "It is a part of locbench.",
			"docker":           "How to run it in a container.",
			"process":          "How to run it as a process of this machine.",
			"variants":         "The same service built or started in other ways. The first is the usual one.",
			"unverified":       "Why nobody has seen it work.",
		},
		Accept: map[string]strictyaml.Schema{
			"name": {"pattern": namePattern.String()}, "tags": {"items": strictyaml.Text(tagPattern.String())},
			"env": namesSchema(envPattern.String()),
		},
		Rules: strictyaml.Schema{"anyOf": append(strictyaml.HasEach("docker", "process", "variants"), builtin)},
	})
}

// DescribeStrict adds what keys mean.
func (ready) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(ready{}, strictyaml.Keys{
		About: map[string]string{
			"path":    "The path that is asked until it answers. /, unless given.",
			"status":  "The status that it answers with. Any, unless given.",
			"timeout": "How long it may take. 1m, unless given.",
		},
		Accept: map[string]strictyaml.Schema{"path": strictyaml.String(`^/[^ \t\r\n#]*$`)},
	})
}

// DescribeStrict adds what checkDocker wants.
func (dockerPart) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	accept := imageSchema()
	accept["capabilities"] = strictyaml.Schema{"items": strictyaml.Enum(strings.Fields(capabilities)...)}
	accept["processes"] = strictyaml.Schema{"minimum": bench.DefaultProcesses + 1}
	about := aboutImage()
	about["capabilities"] = "Linux capabilities, without CAP_."
	about["new_privileges"] = "Its processes may get privileges that they do not begin with."
	about["processes"] = "How many processes and threads it may have, where that is more than without."
	return s.Keys(dockerPart{}, strictyaml.Keys{
		About: about, Accept: accept, Rules: strictyaml.Schema{"oneOf": strictyaml.HasEach("dockerfile", "image")},
	})
}

func aboutImage() map[string]string {
	return map[string]string{
		"dockerfile": "The Dockerfile, a path inside the folder.",
		"image":      "The name of an image that exists already.",
		"target":     "The stage of the Dockerfile.",
		"args":       "Arguments of its build.",
		"command":    "What is started, in place of what the image says.",
	}
}

func imageSchema() map[string]strictyaml.Schema {
	return map[string]strictyaml.Schema{
		"image": {"pattern": imagePattern.String()}, "args": namesSchema(argPattern.String()),
	}
}

// DescribeStrict adds what checkArgv wants.
func (processPart) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(processPart{}, strictyaml.Keys{
		About: map[string]string{
			"build":   "Commands that build it, each a list of a program and its arguments.",
			"command": "What is started: a program and its arguments. {{.Dir}} is the folder of what was built.",
		},
		Accept: map[string]strictyaml.Schema{"build": {"items": argvSchema(1)}},
	})
}

// DescribeStrict adds what checkVariants wants.
func (variant) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	accept := imageSchema()
	accept["name"] = strictyaml.Schema{"pattern": namePattern.String()}
	accept["env"] = namesSchema(envPattern.String())
	accept["build"] = strictyaml.Schema{"items": argvSchema(1)}
	about := aboutImage()
	about["name"] = "What stands after the colon: go-echo:release."
	about["title"] = "One line that says what is different."
	about["builtin"] = "It is a part of locbench."
	about["env"] = "Variables of the environment, besides those of the contender."
	about["endpoints"] = "Groups of check suites that are asked, in place of the contender's."
	about["build"] = "Commands that build it, in place of the contender's."
	about["unverified"] = "Why nobody has seen it work."
	return s.Keys(variant{}, strictyaml.Keys{
		About: about, Accept: accept, Rules: strictyaml.Schema{"not": strictyaml.Has("dockerfile", "image")},
	})
}

// DescribeStrict says what UnmarshalStrict reads.
func (endpoints) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	group := strictyaml.Either(strictyaml.Enum(Groups()...), strictyaml.Text(groupPattern.String()))
	return strictyaml.Either(strictyaml.Enum("all"), strictyaml.ListOf(group, 1))
}
