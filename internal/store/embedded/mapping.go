package embedded

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

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

type field struct {
	path     string
	kind     kind
	why      string    // kindOther: what it is that is not supported
	analyzer *analyzer // kindSuggest
	copyTo   []string
	into     []*field // itself and those of copyTo
	subs     []*field // multi-fields
}

// mapping is what Elasticsearch calls so: which fields there are.
type mapping struct {
	dynamic string            // true, false, strict
	fields  map[string]*field // by path, sub-fields included
}

// parseMapping reads the body of PUT /<index>, as the data set has it: settings are below index.
func parseMapping(body []byte) (*mapping, error) {
	m := &mapping{dynamic: "true", fields: map[string]*field{}}
	o := new(mistake).object("the index", body)
	analyzers := map[string]*analyzer{"standard": {}}
	if raw := o.take("settings"); raw != nil {
		settings := o.object("settings", raw)
		if raw := settings.take("index"); raw != nil {
			addAnalyzers(analyzers, o.object("settings.index", raw))
		}
		settings.rest()
	}
	if raw := o.take("mappings"); raw != nil {
		m.parse(o, raw, analyzers)
	}
	return m, o.rest()
}

// addAnalyzers finds the analysers among the settings; all else has no meaning in one process.
func addAnalyzers(analyzers map[string]*analyzer, settings object) {
	flat := map[string]json.RawMessage{}
	flatten("", settings.keys, flat)
	parts := map[string]map[string]string{}
	for key, v := range flat {
		// A custom filter or tokenizer: an analyser that names it is refused where it is used.
		rest, ok := strings.CutPrefix(key, "analysis.analyzer.")
		i := strings.LastIndexByte(rest, '.')
		if !ok || i < 0 {
			continue
		}
		if parts[rest[:i]] == nil {
			parts[rest[:i]] = map[string]string{}
		}
		parts[rest[:i]][rest[i+1:]] = string(v)
	}
	for name, p := range parts {
		analyzers[name] = customAnalyzer(p)
	}
}

func flatten(prefix string, in, out map[string]json.RawMessage) {
	for key, v := range in {
		var inner map[string]json.RawMessage
		if json.Unmarshal(v, &inner) == nil && inner != nil {
			flatten(prefix+key+".", inner, out)
		} else {
			out[prefix+key] = v
		}
	}
}

func (m *mapping) parse(in object, raw json.RawMessage, analyzers map[string]*analyzer) {
	o := in.object("mappings", raw)
	if d := o.take("dynamic"); d != nil {
		m.dynamic = strings.Trim(string(d), `"`)
		if !slices.Contains([]string{"true", "false", "strict"}, m.dynamic) {
			o.fail(badRequest("mapper_parsing_exception", "dynamic must be true, false or strict, not %s", shorten(m.dynamic)))
		}
	}
	o.ignore("_meta", "date_detection", "numeric_detection", "dynamic_templates", "dynamic_date_formats")
	if props := o.take("properties"); props != nil {
		m.properties("", o, props, analyzers)
	}
	o.rest()
	for _, f := range m.fields {
		f.into = []*field{f}
		for _, to := range f.copyTo {
			if m.fields[to] == nil {
				o.fail(unsupported("copy_to to %q, which is not mapped", shorten(to)))
			}
			f.into = append(f.into, m.fields[to])
		}
	}
}

func (m *mapping) properties(prefix string, in object, raw json.RawMessage, analyzers map[string]*analyzer) {
	for name, body := range in.object("properties", raw).keys {
		def := in.object("field "+prefix+name, body)
		if props := def.take("properties"); props != nil {
			m.properties(prefix+name+".", def, props, analyzers)
		} else {
			m.addField(prefix+name, def, analyzers)
		}
	}
}

func (m *mapping) addField(path string, def object, analyzers map[string]*analyzer) *field {
	var typ, analyzerName string
	f := &field{path: path}
	def.decode("type", &typ)
	def.decode("analyzer", &analyzerName)
	f.copyTo = def.list("copy_to", "copy_to")
	f.setKind(typ, analyzerName, analyzers)
	m.fields[path] = f
	if raw := def.take("fields"); raw != nil {
		for name, body := range def.object("fields of "+path, raw).keys {
			sub := def.object("field "+path+"."+name, body)
			f.subs = append(f.subs, m.addField(path+"."+name, sub, analyzers))
		}
		slices.SortFunc(f.subs, func(a, b *field) int { return strings.Compare(a.path, b.path) })
	}
	def.ignore("meta", "store", "eager_global_ordinals", "coerce", "ignore_malformed", "ignore_z_value", "strategy",
		"orientation", "doc_values", "boost")
	for key := range def.keys { // ignore_above, normalizer, …: a query of this field might answer otherwise
		f.kind, f.why = kindOther, "the option "+shorten(key)+" of its mapping"
	}
	return f
}

// kinds are those of the types; any other is kindOther.
var kinds = map[string]kind{
	"text": kindText, "search_as_you_type": kindSuggest, "keyword": kindKeyword, "boolean": kindBoolean,
	"geo_point": kindPoint, "geo_shape": kindShape,
	"long": kindLong, "integer": kindLong, "short": kindLong, "byte": kindLong,
}

func (f *field) setKind(typ, analyzerName string, analyzers map[string]*analyzer) {
	f.kind = kinds[typ]
	switch f.kind {
	case kindOther:
		f.why = "its type " + shorten(typ)
	case kindSuggest:
		analyzerName = cmp.Or(analyzerName, "standard")
		f.analyzer = analyzers[analyzerName]
		switch {
		case f.analyzer == nil:
			f.kind, f.why = kindOther, "its analyzer "+shorten(analyzerName)
		case f.analyzer.why != "":
			f.kind, f.why = kindOther, "its analyzer "+shorten(analyzerName)+" ("+f.analyzer.why+")"
		}
	}
}
