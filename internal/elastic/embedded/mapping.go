package embedded

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// kind is how a field is indexed.
type kind uint8

const (
	kindOther   kind = iota // kept in the source only; a query of it is refused with the reason
	kindText                // itself not searchable here, but its sub-fields and copies are
	kindSuggest             // search_as_you_type
	kindKeyword
	kindBoolean
	kindLong
	kindPoint
	kindShape
)

// field is one entry of a mapping.
type field struct {
	path        string
	kind        kind
	why         string    // kindOther: what it is that is not supported
	analyzer    *analyzer // kindSuggest
	shingles    int       // kindSuggest: the longest shingle
	ignoreAbove int       // kindKeyword: longer values are left out; 0: none
	copyTo      []string
	subs        []*field // multi-fields
}

// mapping is what Elasticsearch calls so: which fields there are.
type mapping struct {
	dynamic string            // true, false, strict
	fields  map[string]*field // by path, sub-fields included
}

// definition is the body of PUT /<index>.
type definition struct {
	aliases  []string
	settings map[string]json.RawMessage // below "index", flat names as they came
	mappings json.RawMessage
	mapping  *mapping
}

const (
	maxFields     = 1000 // as Elasticsearch's index.mapping.total_fields.limit
	maxFieldDepth = 20
)

func parseDefinition(body []byte) (*definition, error) {
	def := &definition{mappings: json.RawMessage(`{}`), settings: map[string]json.RawMessage{}}
	def.mapping = &mapping{dynamic: "true", fields: map[string]*field{}}
	if len(strings.TrimSpace(string(body))) == 0 {
		return def, nil
	}
	o, err := parseObject("the index", body)
	if err != nil {
		return nil, err
	}
	if raw := o.take("aliases"); raw != nil {
		if def.aliases, err = parseAliases(raw); err != nil {
			return nil, err
		}
	}
	analyzers := standardAnalyzers()
	if raw := o.take("settings"); raw != nil {
		if err := def.parseSettings(raw, analyzers); err != nil {
			return nil, err
		}
	}
	if raw := o.take("mappings"); raw != nil {
		if def.mapping, err = parseMapping(raw, analyzers); err != nil {
			return nil, err
		}
		def.mappings = raw
	}
	return def, o.rest()
}

func parseAliases(raw json.RawMessage) ([]string, error) {
	o, err := parseObject("aliases", raw)
	if err != nil {
		return nil, err
	}
	for name, body := range o.keys {
		if reason := badName(name); reason != "" {
			return nil, badRequest("invalid_alias_name_exception", "Invalid alias name [%s], %s", name, reason)
		}
		a, err := parseObject("alias "+name, body)
		if err != nil {
			return nil, err
		}
		a.ignore("is_write_index", "is_hidden")
		if err := a.rest(); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(o.keys)), nil
}

// parseSettings keeps the settings and finds the analysers among them. Everything else has no
// meaning in one process.
func (d *definition) parseSettings(raw json.RawMessage, analyzers map[string]*analyzer) error {
	settings, err := indexSettings(raw)
	if err != nil {
		return err
	}
	d.settings = settings
	flat := map[string]json.RawMessage{}
	flatten("", settings, flat, 0)
	parts := map[string]map[string]string{}
	for key, v := range flat {
		rest, ok := strings.CutPrefix(key, "analysis.")
		if !ok {
			continue
		}
		section, rest, _ := strings.Cut(rest, ".")
		if section != "analyzer" {
			continue // a custom filter or tokenizer: an analyser that names it is refused where it is used
		}
		name, what, ok := cutLast(rest)
		if !ok {
			continue
		}
		if parts[name] == nil {
			parts[name] = map[string]string{}
		}
		parts[name][what] = string(v)
	}
	for name, p := range parts {
		analyzers[name] = customAnalyzer(name, p)
	}
	return nil
}

// indexSettings accepts {"index":{…}}, {"index.x":…} and {"x":…}, and returns what stands below
// index.
func indexSettings(raw json.RawMessage) (map[string]json.RawMessage, error) {
	o, err := parseObject("settings", raw)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for key, v := range o.keys {
		if key == "index" {
			inner, err := parseObject("settings.index", v)
			if err != nil {
				return nil, err
			}
			maps.Copy(out, inner.keys)
			continue
		}
		out[strings.TrimPrefix(key, "index.")] = v
	}
	return out, nil
}

func flatten(prefix string, in map[string]json.RawMessage, out map[string]json.RawMessage, depth int) {
	for key, v := range in {
		var inner map[string]json.RawMessage
		if depth < maxFieldDepth && json.Unmarshal(v, &inner) == nil && inner != nil {
			flatten(prefix+key+".", inner, out, depth+1)
			continue
		}
		out[prefix+key] = v
	}
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func parseMapping(raw json.RawMessage, analyzers map[string]*analyzer) (*mapping, error) {
	o, err := parseObject("mappings", raw)
	if err != nil {
		return nil, err
	}
	m := &mapping{dynamic: "true", fields: map[string]*field{}}
	if d := o.take("dynamic"); d != nil {
		m.dynamic = strings.Trim(string(d), `"`)
		if !slices.Contains([]string{"true", "false", "strict"}, m.dynamic) {
			return nil, badRequest("mapper_parsing_exception", "dynamic must be true, false or strict, not %s", shorten(string(d)))
		}
	}
	o.ignore("_meta", "date_detection", "numeric_detection", "dynamic_templates", "dynamic_date_formats")
	if props := o.take("properties"); props != nil {
		if err := m.properties("", props, analyzers, 0); err != nil {
			return nil, err
		}
	}
	for key := range o.keys {
		return nil, unsupported("%q in mappings", shorten(key))
	}
	for _, f := range m.fields {
		for _, to := range f.copyTo {
			if m.fields[to] == nil {
				return nil, unsupported("copy_to to %q, which is not mapped", shorten(to))
			}
		}
	}
	return m, nil
}

func (m *mapping) properties(prefix string, raw json.RawMessage, analyzers map[string]*analyzer, depth int) error {
	if depth > maxFieldDepth {
		return badRequest("illegal_argument_exception", "Limit of mapping depth [%d] has been exceeded", maxFieldDepth)
	}
	o, err := parseObject("properties", raw)
	if err != nil {
		return err
	}
	for name, body := range o.keys {
		def, err := parseObject("field "+prefix+name, body)
		if err != nil {
			return err
		}
		if props := def.take("properties"); props != nil {
			if err := m.properties(prefix+name+".", props, analyzers, depth+1); err != nil {
				return err
			}
			continue
		}
		if _, err := m.addField(prefix+name, def, analyzers, depth); err != nil {
			return err
		}
	}
	return nil
}

func (m *mapping) addField(path string, def object, analyzers map[string]*analyzer, depth int) (*field, error) {
	if len(m.fields) >= maxFields || depth > maxFieldDepth {
		return nil, badRequest("illegal_argument_exception", "Limit of total fields [%d] has been exceeded", maxFields)
	}
	var typ, analyzerName string
	f := &field{path: path, shingles: 3}
	if err := def.decode("type", &typ); err != nil {
		return nil, err
	}
	if err := def.decode("analyzer", &analyzerName); err != nil {
		return nil, err
	}
	if err := def.decode("max_shingle_size", &f.shingles); err != nil {
		return nil, err
	}
	if err := def.decode("ignore_above", &f.ignoreAbove); err != nil {
		return nil, err
	}
	if raw := def.take("copy_to"); raw != nil {
		list, err := stringOrList("copy_to", raw)
		if err != nil {
			return nil, err
		}
		f.copyTo = list
	}
	f.setKind(typ, analyzerName, analyzers)
	m.fields[path] = f
	if raw := def.take("fields"); raw != nil {
		subs, err := parseObject("fields of "+path, raw)
		if err != nil {
			return nil, err
		}
		for name, body := range subs.keys {
			sub, err := parseObject("field "+path+"."+name, body)
			if err != nil {
				return nil, err
			}
			child, err := m.addField(path+"."+name, sub, analyzers, depth+1)
			if err != nil {
				return nil, err
			}
			f.subs = append(f.subs, child)
		}
		slices.SortFunc(f.subs, func(a, b *field) int { return strings.Compare(a.path, b.path) })
	}
	def.ignore("meta", "store", "eager_global_ordinals", "coerce", "ignore_malformed", "ignore_z_value", "strategy", "orientation", "doc_values", "boost")
	for key := range def.keys { // index_options, normalizer, null_value, …: a query of this field might answer otherwise
		f.kind, f.why = kindOther, "the option "+shorten(key)+" of its mapping"
	}
	return f, nil
}

func (f *field) setKind(typ, analyzerName string, analyzers map[string]*analyzer) {
	switch typ {
	case "text":
		f.kind = kindText
	case "search_as_you_type":
		f.kind = kindSuggest
		if analyzerName == "" {
			analyzerName = "standard"
		}
		f.analyzer = analyzers[analyzerName]
		switch {
		case f.analyzer == nil:
			f.kind, f.why = kindOther, "its analyzer "+shorten(analyzerName)
		case f.analyzer.why != "":
			f.kind, f.why = kindOther, "its analyzer "+shorten(analyzerName)+" ("+f.analyzer.why+")"
		case f.shingles < 2 || f.shingles > 4:
			f.kind, f.why = kindOther, "its max_shingle_size"
		}
	case "keyword":
		f.kind = kindKeyword
	case "boolean":
		f.kind = kindBoolean
	case "long", "integer", "short", "byte":
		f.kind = kindLong
	case "geo_point":
		f.kind = kindPoint
	case "geo_shape":
		f.kind = kindShape
	default:
		f.kind, f.why = kindOther, "its type "+shorten(typ)
	}
}

// decode reads a key into v where it is there.
func (o object) decode(key string, v any) error {
	raw := o.take(key)
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return badRequest("mapper_parsing_exception", "malformed %s of %s", key, o.path)
	}
	return nil
}

func stringOrList(what string, raw json.RawMessage) ([]string, error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, badRequest("parsing_exception", "%s must be a string or a list of strings", what)
	}
	return list, nil
}
