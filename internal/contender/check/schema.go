package check

import (
	"math"

	"locbench/internal/text/strictyaml"
)

// Schema returns the JSON Schema of a suite. It is made of the types that read one.
func Schema() strictyaml.Schema {
	return strictyaml.SchemaOf("A suite of HTTP checks of locbench", suiteFile{})
}

// DescribeStrict says what UnmarshalStrict reads.
func (suiteFile) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	groups := strictyaml.MapOf("", strictyaml.ListOf(s.Of(checkFile{}), 1))
	groups["minProperties"] = 1
	return s.Keys(suiteFile{}, strictyaml.Keys{
		About: map[string]string{
			"suite": "Its name in the results.", "about": "What it is about.",
			"vars":   "Values for {{name}} below. Alone it keeps its type, within a text it becomes text.",
			"groups": "Endpoint groups, each with its checks: asked only where the contender's manifest lists the group.",
		},
		Accept: map[string]strictyaml.Schema{"groups": groups},
	})
}

// DescribeStrict says what its values are: they are read when the variables are known.
func (checkFile) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	texts := strictyaml.MapOf("", strictyaml.Text(""))
	return s.Keys(checkFile{}, strictyaml.Keys{
		About: map[string]string{
			"name":    "Unique within the group.",
			"request": "A method and a path with its query, such as GET /city/v1/get?id=1. GET may be left out.",
			"query":   "Parameters that are escaped and added to the path.", "headers": "Headers of the request.",
			"body": "The body of the request.", "timeout": "5s, unless given.",
			"expect": "What the response must be.",
		},
		Accept: map[string]strictyaml.Schema{
			"request": strictyaml.String(`^\s*([A-Z]+ \s*)?/|\{\{|^$`),
			"query":   texts, "headers": strictyaml.MapOf("^[A-Za-z0-9_-]+$", strictyaml.Text("")),
			"expect": s.Of(Expect{}),
		},
	})
}

// DescribeStrict says what ReadExpect reads.
func (Expect) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	status := strictyaml.Schema{"type": "integer", "minimum": 100, "maximum": 599}
	word := strictyaml.Text("")
	word["minLength"] = 1
	words := oneOrMore(word)
	atPaths := strictyaml.MapOf("", strictyaml.Schema{})
	count := strictyaml.Schema{"type": "integer", "minimum": 0, "maximum": math.MaxInt32}
	return s.Keys(expectFile{}, strictyaml.Keys{
		About: map[string]string{
			"status":        "Its status, or a list of those that are right. 200, unless given.",
			"header":        "Texts that are in its headers, in any case of letters.",
			"body":          "Exactly this text.",
			"contains":      "Texts that it holds.",
			"max_size":      "It is not longer.",
			"message":       "It is a JSON object whose message names the parameter (one of them) as its own word.",
			"json":          "This JSON document: keys in any order, none more, none less.",
			"json_includes": "A JSON document with these keys and values. Objects may have more.",
			"at":            "Paths and the values there. With [*], the list of all of them, in order.",
			"every":         "Paths and the value that is everywhere there, at least once.",
			"some":          "Paths and values that are there among others.",
			"none":          "Paths and values that are not there.",
			"count":         "Paths and how many elements are there: 13, or {min: 1, max: 10}.",
			"keys":          "Paths and exactly the keys of the objects there.",
			"present":       "Paths where something is. `a | b` is one or the other.",
			"schema":        "A JSON Schema that it is valid by, or the name of its file.",
			"took":          "How long it took, from the sending to the last byte: {min: 50ms, max: 2s}.",
		},
		Accept: map[string]strictyaml.Schema{
			"status": oneOrMore(status), "header": strictyaml.MapOf("", strictyaml.Text("")),
			"contains": words, "message": words, "at": atPaths, "every": atPaths, "some": atPaths, "none": atPaths,
			"count": strictyaml.MapOf("", strictyaml.Either(count, s.Of(countBounds{}))),
			"keys":  strictyaml.MapOf("", words), "present": oneOrMore(strictyaml.Text("")),
			"schema": strictyaml.Either(strictyaml.Text(""), strictyaml.Schema{"type": []string{"object", "boolean"}}),
			"took":   s.Of(tookBounds{}),
		},
	})
}

// oneOrMore returns what listOrOne reads.
func oneOrMore(one strictyaml.Schema) strictyaml.Schema {
	return strictyaml.Either(one, strictyaml.ListOf(one, 1))
}

// DescribeStrict adds what keys mean.
func (countBounds) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	about := map[string]string{"min": "The fewest elements.", "max": "The most elements."}
	return s.Keys(countBounds{}, strictyaml.Keys{About: about})
}

// DescribeStrict adds what keys mean.
func (tookBounds) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	about := map[string]string{"min": "It took at least so long.", "max": "It took at most so long."}
	return s.Keys(tookBounds{}, strictyaml.Keys{About: about})
}
