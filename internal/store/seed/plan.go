package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
)

// mark is what locbench writes into the mapping of each index that it makes, as _meta.locbench.
// Only the complete ones get an alias, so that nothing need be marked as complete.
type mark struct {
	Alias string `json:"alias"` // "" in an index that is not locbench's
	Set   string `json:"set"`
	Hash  string `json:"hash"`
	Token string `json:"token"` // of the seeding that made it
}

// plan is what is to be done about one index of the set.
type plan struct {
	bench.Index
	hash       string          // of the set
	next       string          // the version to make
	published  []string        // locbench's indices that the alias points to
	unfinished []string        // locbench's indices that no alias points to
	marks      map[string]mark // of all of those
}

// survey looks at what the store holds and plans every index of set. It is an error if a name that
// is needed belongs to somebody else.
func survey(ctx context.Context, c *client, set Source) ([]*plan, error) {
	existing, err := c.indices(ctx)
	if err != nil {
		return nil, err
	}
	var plans []*plan
	for _, index := range set.Indices() {
		p := &plan{Index: index, hash: set.Info().Hash, marks: make(map[string]mark)}
		if err := p.survey(ctx, c, existing); err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (p *plan) survey(ctx context.Context, c *client, existing map[string][]string) error {
	if _, ok := existing[p.Name]; ok {
		return fmt.Errorf("there is an index %q that locbench did not make, where it needs an alias of that name; "+
			"rename or remove that index, or use another Elasticsearch", p.Name)
	}
	newest := 0
	for index, aliases := range existing {
		version, versioned := p.version(index)
		newest = max(newest, version)
		aliased := slices.Contains(aliases, p.Name)
		if !versioned && !aliased {
			continue
		}
		m, err := c.mark(ctx, index)
		if err != nil {
			return err
		}
		ours := m.Alias == p.Name
		switch {
		case aliased && !ours:
			return fmt.Errorf("the alias %q points to the index %q, which locbench did not make; "+
				"remove that alias, or use another Elasticsearch", p.Name, index)
		case aliased:
			p.published = append(p.published, index)
		case ours && len(aliases) == 0: // with an alias of somebody's it is in use
			p.unfinished = append(p.unfinished, index)
		}
		p.marks[index] = m
	}
	slices.Sort(p.published)
	slices.Sort(p.unfinished)
	p.next = p.Name + "_v" + strconv.Itoa(newest+1)
	return nil
}

// version is n if index is called <name>_v<n>.
func (p *plan) version(index string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(index, p.Name+"_v")
	if !ok || len(digits) > 9 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && digits[0] != '0' && digits[0] != '+'
}

// held are the settings that differ while an index is filled: without refreshes it is faster.
var held = [...]struct {
	key   string
	value any
}{{"refresh_interval", "-1"}, {"number_of_replicas", 0}, {"auto_expand_replicas", false}}

type object map[string]json.RawMessage

// set sets a member, of an object that may be nil so far.
func (o *object) set(key string, v any) {
	if *o == nil {
		*o = object{}
	}
	(*o)[key], _ = json.Marshal(v) // made of what was read as JSON
}

// body is what makes the new version: the mapping with our mark, and settings for loading. restore
// brings back the mapping's own settings, or Elasticsearch's defaults (null).
func (p *plan) body(set, token string) (body, restore []byte, err error) {
	var create struct {
		Settings struct {
			Index object `json:"index"`
		} `json:"settings"`
		Mappings object `json:"mappings"`
	}
	var meta object
	err = json.Unmarshal(p.Mapping, &create)
	if raw := create.Mappings["_meta"]; err == nil && raw != nil {
		err = json.Unmarshal(raw, &meta)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("mapping of %s: %w", p.Name, err)
	}
	var own object
	for _, h := range held {
		own.set(h.key, create.Settings.Index[h.key])
		create.Settings.Index.set(h.key, h.value)
	}
	meta.set("locbench", mark{p.Name, set, p.hash, token})
	create.Mappings.set("_meta", meta)
	if body, err = json.Marshal(create); err == nil {
		restore, err = json.Marshal(map[string]object{"index": own})
	}
	return body, restore, err
}
