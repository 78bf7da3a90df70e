package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// maxHops is how many references on the way to a place are followed.
const maxHops = 20

// find returns what is at a place in the document, past as many references as hops says.
func (d *schemaSource) find(place string, hops int) (at any, ok bool) {
	tokens := strings.Split(place, "/")
	if at = d.doc; tokens[0] != "" {
		return nil, false
	}
	for _, token := range tokens[1:] {
		next, ok := child(at, pointerUnescape.Replace(token))
		for ; !ok; next, ok = child(at, pointerUnescape.Replace(token)) {
			object, _ := at.(map[string]any)
			to, _ := object["$ref"].(string)
			fragment, here := strings.CutPrefix(to, "#")
			if hops--; !here || hops < 0 {
				return nil, false
			}
			if at, ok = d.find(canonical(fragment), 0); !ok {
				return nil, false
			}
		}
		at = next
	}
	return at, true
}

func child(at any, token string) (any, bool) {
	switch at := at.(type) {
	case map[string]any:
		next, ok := at[token]
		return next, ok
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(at) {
			return at[i], true
		}
	}
	return nil, false
}

// check reports a schema that any response matches because it has no keyword of a schema.
func (d *schemaSource) check(at any, name string) error {
	if d.constrains(at, 20) {
		return nil
	}
	object, ok := at.(map[string]any)
	name = safe.Line(name, 100)
	hint := ""
	if there := d.schemas(); len(there) > 0 {
		hint = fmt.Sprintf("write the schema in it, such as `%s%s`", d.name, there[0])
		if len(there) > 1 {
			hint += "; there are " + listed(there)
		}
	}
	switch {
	case !ok:
		return &schemaError{name + " is not a schema", hint}
	case object["openapi"] != nil || object["swagger"] != nil:
		return &schemaError{name + " is an OpenAPI document, not a schema", hint}
	}
	return &schemaError{name + " has no keyword of a schema, so any response would match it", hint}
}

// constrains reports whether a response may fail a schema, which may be another name, and that one
// another, up to a number of names. true and false are schemas, too.
func (d *schemaSource) constrains(at any, names int) bool {
	object, ok := at.(map[string]any)
	if !ok {
		_, ok = at.(bool)
		return ok
	}
	to, _ := object["$ref"].(string)
	fragment, here := strings.CutPrefix(to, "#")
	rest := maps.Clone(object)
	delete(rest, "$ref")
	if !here || hasKeyword(rest) {
		return hasKeyword(object)
	}
	next, ok := d.find(canonical(fragment), maxHops)
	return !ok || names > 0 && d.constrains(next, names-1) // a missing place is another mistake
}

// missing reports a place that the document does not have.
func (d *schemaSource) missing(place string) error {
	there, hint := d.schemas(), ""
	if len(there) > 0 {
		hint = "there are " + listed(there)
	}
	last := place[strings.LastIndexByte(place, '/')+1:]
	for _, one := range there {
		if name := one[strings.LastIndexByte(one, '/')+1:]; strictyaml.Nearest(last, []string{name}) != "" {
			hint = "did you mean `" + one + "`?"
			break
		}
	}
	return &schemaError{fmt.Sprintf("%s has no #%s", d.name, safe.Line(place, 100)), hint}
}

// schemas returns the places of the named schemas of the document, sorted.
func (d *schemaSource) schemas() (all []string) {
	for _, place := range []string{"/components/schemas", "/definitions", "/$defs"} {
		named, _ := d.find(place, 0)
		object, _ := named.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			all = append(all, "#"+place+"/"+safe.Line(pointerEscape.Replace(name), 60))
		}
	}
	return all
}

// listed lists at most ten texts.
func listed(texts []string) string {
	const most = 10
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
}
