package embedded

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

type cluster struct {
	mu      sync.RWMutex
	indices map[string]*index
	aliases map[string][]string // alias → names of indices, sorted
}

const (
	maxIndices   = 1000
	maxNameBytes = 255 // of an index or an alias
)

func (c *cluster) resolve(name string) (*index, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if ix := c.indices[name]; ix != nil {
		return ix, nil
	}
	switch names := c.aliases[name]; {
	case len(names) == 1:
		return c.indices[names[0]], nil
	case len(names) > 1:
		return nil, unsupported("an alias of several indices (%s)", name)
	case name == "_all" || strings.ContainsAny(name, "*,"):
		return nil, unsupported("an expression of index names (%s)", name)
	}
	return nil, noSuchIndex(name)
}

// named finds indices by name or alias; "", "_all" and "*" are all of them.
func (c *cluster) named(name string) ([]*index, error) {
	if name != "" && name != "_all" && name != "*" {
		ix, err := c.resolve(name)
		if err != nil {
			return nil, err
		}
		return []*index{ix}, nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	byName := func(a, b *index) int { return strings.Compare(a.name, b.name) }
	return slices.SortedFunc(maps.Values(c.indices), byName), nil
}

// create makes an index from the body of PUT /<name>.
func (c *cluster) create(name string, body []byte) error {
	if reason := badName(name); reason != "" {
		return badRequest("invalid_index_name_exception", "Invalid index name [%s], %s", name, reason).of(name)
	}
	def, err := parseDefinition(body)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.indices[name] != nil {
		return badRequest("resource_already_exists_exception", "index [%s] already exists", name).of(name)
	}
	if c.aliases[name] != nil {
		return badRequest("invalid_index_name_exception", "Invalid index name [%s], already exists as alias", name).of(name)
	}
	for _, alias := range def.aliases {
		if c.indices[alias] != nil || alias == name {
			return badRequest("invalid_alias_name_exception", "Invalid alias name [%s], an index exists with the same name as the alias", alias).of(name)
		}
	}
	if len(c.indices) >= maxIndices {
		return unsupported("more than %d indices", maxIndices)
	}
	ix, err := newIndex(name, def)
	if err != nil {
		return err
	}
	c.indices[name] = ix
	for _, alias := range def.aliases {
		c.addAlias(alias, name)
	}
	return nil
}

func badName(name string) string {
	switch {
	case name == "" || len(name) > maxNameBytes || !utf8.ValidString(name):
		return "must be valid UTF-8 of 1 to 255 bytes"
	case name != strings.ToLower(name):
		return "must be lowercase"
	case strings.ContainsAny(name, " \"*\\<|,>/?#:") || name == "." || name == "..":
		return "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?, #, :]"
	case strings.HasPrefix(name, "_") || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "+"):
		return "must not start with '_', '-', or '+'"
	}
	return ""
}

// remove deletes an index by its own name; Elasticsearch does not delete through aliases either.
func (c *cluster) remove(name string) error {
	c.mu.Lock()
	ix, isAlias := c.indices[name], c.aliases[name] != nil
	c.drop(name)
	c.mu.Unlock()
	switch {
	case ix != nil:
		return ix.close()
	case isAlias:
		return badRequest("illegal_argument_exception", "The provided expression [%s] matches an alias, specify the corresponding concrete indices instead.", name)
	}
	return noSuchIndex(name)
}

func (c *cluster) drop(name string) {
	delete(c.indices, name)
	for alias := range c.aliases {
		c.dropAlias(alias, name)
	}
}

func (c *cluster) addAlias(alias, name string) {
	if i, found := slices.BinarySearch(c.aliases[alias], name); !found {
		c.aliases[alias] = slices.Insert(c.aliases[alias], i, name)
	}
}

func (c *cluster) dropAlias(alias, name string) {
	names := slices.DeleteFunc(c.aliases[alias], func(n string) bool { return n == name })
	if c.aliases[alias] = names; len(names) == 0 {
		delete(c.aliases, alias)
	}
}

type aliasAction struct {
	op    string // add, remove, remove_index
	index string
	alias string
}

func parseAliasActions(body []byte) ([]aliasAction, error) {
	var doc struct {
		Actions []map[string]map[string]json.RawMessage `json:"actions"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, badRequest("parse_exception", "malformed actions: %v", err)
	}
	var list []aliasAction
	for _, entry := range doc.Actions {
		for op, fields := range entry {
			if op != "add" && op != "remove" && op != "remove_index" {
				return nil, unsupported("alias action %q", op)
			}
			a := aliasAction{op: op}
			known := map[string]*string{"index": &a.index, "alias": &a.alias, "must_exist": nil, "is_write_index": nil}
			for key, raw := range fields {
				to, ok := known[key]
				if !ok || key == "alias" && op == "remove_index" {
					return nil, unsupported("%q in an alias action", key)
				}
				if to != nil && json.Unmarshal(raw, to) != nil {
					return nil, badRequest("parse_exception", "malformed alias action: %s must be a string", key)
				}
			}
			if a.index == "" || (a.alias == "" && op != "remove_index") {
				return nil, badRequest("illegal_argument_exception", "alias action %s needs index and alias", op)
			}
			list = append(list, a)
		}
	}
	return list, nil
}

// change applies all the actions or none of them.
func (c *cluster) change(actions []aliasAction) error {
	c.mu.Lock()
	removed, err := c.changeLocked(actions)
	c.mu.Unlock()
	for _, ix := range removed {
		err = errors.Join(err, ix.close())
	}
	return err
}

func (c *cluster) changeLocked(actions []aliasAction) (removed []*index, err error) {
	gone := map[string]bool{}
	for _, a := range actions {
		if a.op == "remove_index" {
			if c.indices[a.index] == nil {
				return nil, noSuchIndex(a.index)
			}
			gone[a.index] = true
		}
	}
	for _, a := range actions {
		switch {
		case a.op == "remove_index":
		case c.indices[a.index] == nil || (gone[a.index] && a.op == "add"):
			return nil, noSuchIndex(a.index)
		case a.op == "add" && badName(a.alias) != "":
			return nil, badRequest("invalid_alias_name_exception", "Invalid alias name [%s], %s", a.alias, badName(a.alias))
		case a.op == "add" && c.indices[a.alias] != nil && !gone[a.alias]:
			return nil, badRequest("invalid_alias_name_exception", "Invalid alias name [%s], an index exists with the same name as the alias", a.alias)
		case a.op == "remove" && !slices.Contains(c.aliases[a.alias], a.index):
			return nil, &apiError{status: 404, kind: "aliases_not_found_exception", reason: "aliases [" + a.alias + "] missing"}
		}
	}
	for name := range gone {
		removed = append(removed, c.indices[name])
		c.drop(name)
	}
	for _, a := range actions {
		switch a.op {
		case "add":
			c.addAlias(a.alias, a.index)
		case "remove":
			c.dropAlias(a.alias, a.index)
		}
	}
	return removed, nil
}

// aliasesOf are the aliases of an index, as JSON shows them.
func (c *cluster) aliasesOf(name string) map[string]struct{} {
	c.mu.RLock()
	defer c.mu.RUnlock()
	set := map[string]struct{}{}
	for alias, names := range c.aliases {
		if slices.Contains(names, name) {
			set[alias] = struct{}{}
		}
	}
	return set
}

func (c *cluster) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, ix := range c.indices {
		errs = append(errs, ix.close())
	}
	clear(c.indices)
	clear(c.aliases)
	return errors.Join(errs...)
}
