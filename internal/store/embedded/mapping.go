package embedded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

type kind uint8

const (
	kindOther   kind = iota // only kept in the source; a query is refused with the reason
	kindText                // not searchable, but its sub-fields and copies are
	kindSuggest             // search_as_you_type
	kindKeyword
	kindBoolean
	kindLong
	kindPoint
	kindShape
)

type field struct {
	path     string
	kind     kind
	why      string    // kindOther: the unsupported part
	analyzer *analyzer // kindSuggest
	copyTo   []string
	into     []*field // the field itself and the fields of copyTo
	subs     []*field // multi-fields
}

// mapping is Elasticsearch's mapping: the fields of an index.
type mapping struct {
	dynamic string            // true, false, strict
	fields  map[string]*field // by path, sub-fields included
}

// parseMapping reads the body of PUT /<index> in the data set's form: settings are below index.
// Only the analysers among them have a meaning in one process.
func parseMapping(body []byte) (*mapping, error) {
	var all struct {
		Settings struct {
			Index struct {
				Analysis struct{ Analyzer map[string]json.RawMessage }
			}
		}
		Mappings json.RawMessage
	}
	var mappings struct {
		Dynamic                                           any
		Properties                                        map[string]json.RawMessage
		Meta                                              any `json:"_meta"`
		DateDetection, NumericDetection, DynamicTemplates any
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(all.Mappings))
	d.DisallowUnknownFields()
	if err := d.Decode(&mappings); err != nil && err != io.EOF {
		return nil, err
	}
	m := &mapping{dynamic: fmt.Sprint(cmp.Or(mappings.Dynamic, any(true))), fields: map[string]*field{}}
	if !slices.Contains([]string{"true", "false", "strict"}, m.dynamic) {
		return nil, fmt.Errorf("dynamic %s: expected true, false or strict", shorten(m.dynamic))
	}
	analyzers := map[string]*analyzer{"standard": {}}
	for name, raw := range all.Settings.Index.Analysis.Analyzer {
		analyzers[name] = customAnalyzer(raw)
	}
	if err := m.properties("", mappings.Properties, analyzers); err != nil {
		return nil, err
	}
	for _, f := range m.fields {
		f.into = []*field{f}
		for _, to := range f.copyTo {
			if m.fields[to] == nil {
				return nil, fmt.Errorf("copy_to %q: expected a mapped field", shorten(to))
			}
			f.into = append(f.into, m.fields[to])
		}
	}
	return m, nil
}

func (m *mapping) properties(prefix string, all map[string]json.RawMessage, analyzers map[string]*analyzer) error {
	for name, body := range all {
		if _, err := m.addField(prefix+name, body, analyzers); err != nil {
			return fmt.Errorf("field %s: %w", shorten(prefix+name), err)
		}
	}
	return nil
}

// harmless are options of a field that do not change a response.
var harmless = []string{
	"type", "analyzer", "copy_to", "fields", "meta", "store", "eager_global_ordinals", "coerce", "ignore_malformed",
	"ignore_z_value", "strategy", "orientation", "doc_values", "boost",
}

// addField adds a field, or the fields of an object.
func (m *mapping) addField(path string, body json.RawMessage, analyzers map[string]*analyzer) (*field, error) {
	var def struct {
		Type, Analyzer     string
		CopyTo             texts `json:"copy_to"`
		Fields, Properties map[string]json.RawMessage
	}
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(body, &def), json.Unmarshal(body, &keys)); err != nil {
		return nil, err
	}
	if def.Properties != nil {
		return nil, m.properties(path+".", def.Properties, analyzers)
	}
	f := &field{path: path, kind: kinds[def.Type], copyTo: def.CopyTo}
	m.fields[path] = f
	switch f.kind {
	case kindOther:
		f.why = "its type " + shorten(def.Type)
	case kindSuggest:
		name := cmp.Or(def.Analyzer, "standard")
		if f.analyzer = analyzers[name]; f.analyzer == nil {
			f.kind, f.why = kindOther, "its analyzer "+shorten(name)
		}
	}
	for key := range keys { // with ignore_above or normalizer, for example, a query may find others
		if !slices.Contains(harmless, key) {
			f.kind, f.why = kindOther, "the option "+shorten(key)+" of its mapping"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(def.Fields)) {
		sub, err := m.addField(path+"."+name, def.Fields[name], analyzers)
		if err != nil || sub == nil {
			return nil, cmp.Or(err, errors.New("unexpected object among its fields"))
		}
		f.subs = append(f.subs, sub)
	}
	return f, nil
}

// kinds are the kinds of the types; any other type is kindOther.
var kinds = map[string]kind{
	"text": kindText, "search_as_you_type": kindSuggest, "keyword": kindKeyword, "boolean": kindBoolean,
	"geo_point": kindPoint, "geo_shape": kindShape,
	"long": kindLong, "integer": kindLong, "short": kindLong, "byte": kindLong,
}

// texts is a text or a list of texts in JSON.
type texts []string

func (t *texts) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(t))
	}
	*t = make(texts, 1)
	return json.Unmarshal(raw, &(*t)[0])
}
