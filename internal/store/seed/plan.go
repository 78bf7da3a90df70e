package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// mark is what locbench writes into the mapping of each index that it creates, as _meta.locbench.
// An alias marks an index as complete.
type mark struct {
	Alias string `json:"alias"` // "" if locbench did not create the index
	Set   string `json:"set"`
	Hash  string `json:"hash"`
}

// plan is what to do about one index of the set.
type plan struct {
	index      bench.Index
	next       string   // the version to create
	published  []string // locbench's indices that the alias points to
	hash       string   // of the data set in the last published index
	unfinished []string // locbench's indices that no alias points to
}

// survey reads what the store holds and plans every index of set. It returns an error if a name it
// needs is an index or alias that locbench did not create.
func survey(ctx context.Context, c *client, set bench.DataSet) ([]*plan, error) {
	existing, err := c.indices(ctx)
	if err != nil {
		return nil, err
	}
	var plans []*plan
	for _, index := range set.Indices() {
		p := &plan{index: index}
		if err := p.survey(ctx, c, existing); err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (p *plan) survey(ctx context.Context, c *client, existing map[string][]string) error {
	name := p.index.Name
	if _, ok := existing[name]; ok {
		return fmt.Errorf("index %q was not created by locbench, which needs an alias of that name; "+
			"rename or remove that index, or use another Elasticsearch", name)
	}
	newest := 0
	for _, index := range slices.Sorted(maps.Keys(existing)) {
		aliases := existing[index]
		version, versioned := p.version(index)
		newest = max(newest, version)
		aliased := slices.Contains(aliases, name)
		if !versioned && !aliased {
			continue
		}
		m, err := c.mark(ctx, index)
		if err != nil {
			return err
		}
		ours := m.Alias == name
		switch {
		case aliased && !ours:
			return fmt.Errorf("alias %q points to index %q, which was not created by locbench; "+
				"remove that alias, or use another Elasticsearch", name, index)
		case aliased:
			p.published, p.hash = append(p.published, index), m.Hash
		case ours && len(aliases) == 0: // with any alias the index is in use
			p.unfinished = append(p.unfinished, index)
		}
	}
	p.next = name + "_v" + strconv.Itoa(newest+1)
	return nil
}

// version returns n if the name of index is <name>_v<n>.
func (p *plan) version(index string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(index, p.index.Name+"_v")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && n < 1e9 && digits == strconv.Itoa(n)
}

// body returns the body that creates the new version: the mapping with the mark.
func (p *plan) body(set bench.DataInfo) ([]byte, error) {
	var create struct {
		Settings json.RawMessage            `json:"settings,omitempty"`
		Mappings map[string]json.RawMessage `json:"mappings"`
	}
	var meta map[string]any
	err := json.Unmarshal(p.index.Mapping, &create)
	if raw := create.Mappings["_meta"]; err == nil && raw != nil {
		err = json.Unmarshal(raw, &meta)
	}
	if err != nil {
		return nil, fmt.Errorf("mapping of %s: %w", p.index.Name, err)
	}
	if meta == nil {
		meta = map[string]any{}
	}
	if create.Mappings == nil {
		create.Mappings = map[string]json.RawMessage{}
	}
	meta["locbench"] = mark{p.index.Name, set.Name, set.Hash}
	if create.Mappings["_meta"], err = json.Marshal(meta); err != nil {
		return nil, err
	}
	return json.Marshal(create)
}
