package container

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// environment has variables by their names. ${NAME} in a value is a variable of locbench.
type environment map[string]string

// maxVariables is the most of a file with variables that is read, in bytes.
const maxVariables = 1 << 20

const passThrough = "a variable of locbench is written ${NAME}, without a default"

var (
	variableName  = regexp.MustCompile(`^[^\s=]{1,200}$`)
	otherVariable = regexp.MustCompile(`(?:^|[^$])\$\{(?:[A-Za-z_][A-Za-z0-9_]*[^A-Za-z0-9_}]|[^A-Za-z_])`)
)

// UnmarshalStrict reads a map, or a list of KEY=VALUE. A name without a value has that of locbench.
func (e *environment) UnmarshalStrict(v strictyaml.Value) {
	out := environment{}
	set := func(at strictyaml.Value, name, value string) {
		_, twice := out[name]
		switch {
		case !variableName.MatchString(name):
			at.Mistake("a variable has a wrong name", "write NAME=VALUE, or `NAME: VALUE` in a map")
		case twice:
			at.Mistake(fmt.Sprintf("variable %s is given twice", name), "remove one of them")
		case otherVariable.MatchString(value):
			at.Mistake(fmt.Sprintf("variable %s has a form of ${…} that locbench does not read", name), passThrough)
		}
		out[name] = value
	}
	switch v.Kind() {
	case strictyaml.Map:
		for _, f := range v.Fields() {
			value := "${" + f.Key + "}"
			if f.Value.Kind() != strictyaml.Null {
				value, _ = f.Value.Text()
			}
			set(f.Value, f.Key, value)
		}
	case strictyaml.List:
		for _, item := range v.Items() {
			text, ok := item.Text()
			if !ok {
				continue
			}
			name, value, ok := strings.Cut(text, "=")
			if !ok {
				value = "${" + name + "}"
			}
			set(item, name, value)
		}
	default:
		v.Wrong("write a map, such as `{POSTGRES_PASSWORD: \"${PGPASSWORD}\"}`, or a list of KEY=VALUE")
		return
	}
	if len(out) > 0 {
		*e = out
	}
}

// readVariables adds the lines KEY=VALUE of a file. Quotes around a value are not part of it.
func readVariables(file string, to map[string]string) error {
	text, err := safe.ReadFile(file, maxVariables)
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if name = strings.TrimSpace(name); !ok || !variableName.MatchString(name) {
			return fmt.Errorf("%s:%d: expected a line KEY=VALUE", file, i+1)
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && strings.ContainsRune(`"'`, rune(value[0])) && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		to[name] = value
	}
	return nil
}

// values returns the values, in the order of their names.
func (e environment) values() (all []string) {
	for _, name := range sorted(e) {
		all = append(all, e[name])
	}
	return all
}

// sorted returns the names of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
