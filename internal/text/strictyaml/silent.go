package strictyaml

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// silent reports what YAML reads without an error, and its writer meant as a text: {name} and a,b
// in braces, and a value that begins with #.
func (d *decoder) silent(n *yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); {
		key, value := n.Content[i], n.Content[i+1]
		if word := bracedTwice(key); word != "" {
			d.failed[place{node: n}] = true
			d.Add(key.Line, fmt.Sprintf("`{{%s}}` without quotes is a map", word),
				fmt.Sprintf("put it in quotes; a variable of a profile is `\"{%s}\"`", word))
			n.Content = slices.Delete(n.Content, i, i+2)
			continue
		}
		if value.Tag != "!!null" || value.Value != "" || key.Kind != yaml.ScalarNode {
			i += 2
			continue
		}
		name := "a key"
		if braced := strings.ReplaceAll(key.Value, ":", "."); plainKey.MatchString(braced) {
			name = "`" + key.Value + "`"
		}
		flow, word := n.Style&yaml.FlowStyle != 0, strings.Trim(name, "`")
		switch {
		case flow && len(n.Content) == 2 && name != "a key":
			d.failed[place{node: n}] = true
			d.Add(key.Line, fmt.Sprintf("`{%s}` without quotes is a map", word),
				fmt.Sprintf("write `\"{%s}\"`; for a map with an empty value `{%s: null}`", word, word))
		case flow:
			d.Add(key.Line, name+" has no value", "put the text in quotes if the comma is part of it, or write `"+word+": null`")
		case len(key.LineComment) > 1 && key.LineComment[1] != ' ' && key.LineComment[1] != '#':
			d.Add(key.Line, name+" has no value: a `#` begins a comment", "put the value in quotes")
		default:
			i += 2
			continue
		}
		if len(n.Content) == 2 && flow {
			i += 2
			continue
		}
		d.failed[place{n, key.Value}] = true // it is not missing
		n.Content = slices.Delete(n.Content, i, i+2)
	}
	for _, c := range n.Content {
		d.silent(c)
	}
}

// bracedTwice returns the word of a key that is {word}, or "".
func bracedTwice(key *yaml.Node) string {
	if key.Kind != yaml.MappingNode || len(key.Content) != 2 || !plainKey.MatchString(key.Content[0].Value) {
		return ""
	}
	return key.Content[0].Value
}
