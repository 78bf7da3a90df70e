package check

import (
	"math"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Schema returns the JSON Schema of a suite. It is made from the types that read a suite.
func Schema() strictyaml.Schema {
	return strictyaml.SchemaOf("A suite of HTTP checks for locbench", suiteFile{})
}

// DescribeStrict describes what UnmarshalStrict reads.
func (suiteFile) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	groups := strictyaml.MapOf("", strictyaml.ListOf(s.Of(checkFile{}), 1))
	groups["minProperties"] = 1
	return s.Keys(suiteFile{}, strictyaml.Keys{
		About: map[string]string{
			"suite": "Its name in the results.", "about": "What it checks.",
			"vars":   "Values for {{name}} below. Alone, a value keeps its type; within a text it becomes text.",
			"groups": "Endpoint groups with their checks. A group runs only if the contender's manifest lists it.",
		},
		Accept: map[string]strictyaml.Schema{"groups": groups},
	})
}

// DescribeStrict describes the values, which are read once the variables are known.
func (checkFile) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	texts := strictyaml.MapOf("", strictyaml.Text(""))
	return s.Keys(checkFile{}, strictyaml.Keys{
		About: map[string]string{
			"name":    "Unique within the group.",
			"request": "A method and a path with its query, such as GET /city/v1/get?id=1. GET may be left out.",
			"query":   "Parameters, escaped and added to the path.", "headers": "Request headers.",
			"body": "Request body.", "timeout": "Request timeout, default 5s.",
			"expect": "The expected response.",
		},
		Accept: map[string]strictyaml.Schema{
			"request": strictyaml.String(`^\s*([A-Z]+ \s*)?/|\{\{|^$`),
			"query":   texts, "headers": strictyaml.MapOf("^[A-Za-z0-9_-]+$", strictyaml.Text("")),
			"expect": s.Of(Expect{}),
		},
	})
}

// DescribeStrict describes what ReadExpect reads.
func (Expect) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	status := strictyaml.Schema{"type": "integer", "minimum": 100, "maximum": 599}
	status = strictyaml.Either(status, strictyaml.Schema{"const": bench.Any2xx})
	word := strictyaml.Text("")
	word["minLength"] = 1
	words := oneOrMore(word)
	atPaths := strictyaml.MapOf("", strictyaml.Schema{})
	count := strictyaml.Schema{"type": "integer", "minimum": 0, "maximum": math.MaxInt32}
	return s.Keys(expectFile{}, strictyaml.Keys{
		About: map[string]string{
			"status":        "The status, 2xx for any of these, or a list of accepted ones, default 200.",
			"header":        "Texts that the headers contain (case-insensitive).",
			"body":          "The body is exactly this text.",
			"contains":      "Texts that the body contains.",
			"max_size":      "The most bytes of the body.",
			"message":       "The body is a JSON object whose `message` names the parameter (or one of them) as a word.",
			"json":          "The body equals this JSON document, keys in any order.",
			"json_includes": "The body has these keys and values. Objects may have more.",
			"at":            "Paths and their values. With [*], the list of all values, in order.",
			"every":         "Paths and the value that each element has. The list is not empty.",
			"some":          "Paths and values that the list includes.",
			"none":          "Paths and values that the list does not include.",
			"approx":        "Paths and measured numbers: {value: 3.14, within: 1%}. With [*], each element.",
			"count":         "Paths and their number of elements: 13, or {min: 1, max: 10}.",
			"keys":          "Paths and the exact keys of their objects.",
			"present":       "Paths that exist. `a | b`: one or the other.",
			"schema":        "A JSON Schema that the body matches, or its file: order.schema.json, or openapi.yaml#/components/schemas/Order.",
			"took":          "Time from sending to the last byte: {min: 50ms, max: 2s}.",
		},
		Accept: map[string]strictyaml.Schema{
			"status": oneOrMore(status), "header": strictyaml.MapOf("", strictyaml.Text("")),
			"contains": words, "message": words, "at": atPaths, "every": atPaths, "some": atPaths, "none": atPaths,
			"approx": strictyaml.MapOf("", s.Of(approxFile{})),
			"count":  strictyaml.MapOf("", strictyaml.Either(count, s.Of(countBounds{}))),
			"keys":   strictyaml.MapOf("", words), "present": oneOrMore(strictyaml.Text("")),
			"schema": strictyaml.Either(strictyaml.Text(""), strictyaml.Schema{"type": []string{"object", "boolean"}}),
			"took":   s.Of(tookBounds{}),
		},
	})
}

// oneOrMore returns the schema of what listOrOne reads.
func oneOrMore(one strictyaml.Schema) strictyaml.Schema {
	return strictyaml.Either(one, strictyaml.ListOf(one, 1))
}

// DescribeStrict adds the meaning of the keys.
func (countBounds) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	about := map[string]string{"min": "At least N elements.", "max": "At most N elements."}
	return s.Keys(countBounds{}, strictyaml.Keys{About: about})
}

// DescribeStrict adds the meaning of the keys.
func (tookBounds) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	about := map[string]string{"min": "The shortest time.", "max": "The longest time."}
	return s.Keys(tookBounds{}, strictyaml.Keys{About: about})
}
