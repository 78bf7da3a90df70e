package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The sub-fields of every name, as shared/spec of the locations service requires them:
// search_as_you_type adds the fields _2gram and _3gram.
const nameField = `"type":"text","fields":{` +
	`"autocomplete":{"type":"search_as_you_type","analyzer":"standard"},` +
	`"autocomplete_ascii":{"type":"search_as_you_type","analyzer":"lowercase_asciifolding"},` +
	`"raw":{"type":"keyword"}}`

// CityMapping returns the body of PUT /<index> for cities: one shard and no replica, since the data
// can be made again and copying it during a measurement would disturb that.
func CityMapping() []byte {
	return mapping(`,"regionId":{"type":"long"},"isFeatured":{"type":"boolean"},"timezone":{"type":"keyword"},` +
		`"population":{"type":"long"}`)
}

// RegionMapping returns the body of PUT /<index> for regions.
func RegionMapping() []byte { return mapping("") }

func mapping(more string) []byte {
	var b strings.Builder
	b.WriteString(`{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0,"analysis":{"analyzer":{` +
		`"lowercase_asciifolding":{"type":"custom","tokenizer":"standard","filter":["lowercase","asciifolding"]}}}}},` +
		`"mappings":{"dynamic":"strict","properties":{` +
		`"id":{"type":"long"},"countryIso":{"type":"keyword"},"centroid":{"type":"geo_point"},` +
		`"geometry":{"type":"geo_shape"},` +
		`"name":{"properties":{"all":{` + nameField + `}`)
	for _, language := range Languages {
		b.WriteString(`,"` + language + `":{"copy_to":"name.all",` + nameField + `}`)
	}
	b.WriteString(`}}` + more + `}}}`)
	return []byte(b.String())
}

// normalizeMapping makes the body of PUT /<index> from any of the forms that Dump lists, settings
// nested below "index". note names what was left out and may be missed; "" if nothing.
func normalizeMapping(data []byte) (mapping []byte, note string, err error) {
	body, err := onlyObject(data)
	if err != nil {
		return nil, "", err
	}
	// GET /<index> and GET /<index>/_mapping return {"<concrete index>": {…}}.
	if one := below(body, "mappings"); one != nil {
		body = one
	}
	if body["properties"] != nil || below(body, "properties") != nil { // bare, perhaps below a type
		bare, err := json.Marshal(body)
		if err != nil {
			return nil, "", err
		}
		body = map[string]json.RawMessage{"mappings": bare}
	}
	out := make(map[string]json.RawMessage, 2)
	for key, value := range body {
		switch key {
		case "mappings":
			if out[key], note, err = withoutType(value); err != nil {
				return nil, "", err
			}
		case "settings":
			if out[key], err = nestSettings(value); err != nil {
				return nil, "", fmt.Errorf("settings: %w", err)
			}
		case "aliases", "defaults", "warmers":
			// Package seed moves an alias, once everything is loaded.
		default:
			return nil, "", fmt.Errorf("unknown key %.40q: expected settings and mappings", key)
		}
	}
	if out["mappings"] == nil {
		return nil, "", errors.New(`no "mappings" object`)
	}
	mapping, err = json.Marshal(out)
	return mapping, note, err
}

// onlyObject returns the object that a file holds, itself or as the only element of an array.
func onlyObject(data []byte) (map[string]json.RawMessage, error) {
	var all []json.RawMessage
	if text := bytes.TrimLeft(data, space); len(text) > 0 && text[0] == '[' {
		if err := json.Unmarshal(data, &all); err != nil {
			return nil, jsonMistake(data, err)
		}
		if len(all) != 1 {
			return nil, fmt.Errorf("an array of %d: expected one object", len(all))
		}
		data = all[0]
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, jsonMistake(data, err)
	}
	return body, nil
}

// below returns the only member of body if it has the key and is not part of a definition, or nil.
func below(body map[string]json.RawMessage, key string) map[string]json.RawMessage {
	for name, inner := range body {
		var one map[string]json.RawMessage
		itself := name == "mappings" || name == "settings" || name == "properties"
		if len(body) == 1 && !itself && json.Unmarshal(inner, &one) == nil && one[key] != nil {
			return one
		}
	}
	return nil
}

// rootKeys are the keys of a mapping without a type above it, including those of older versions.
var rootKeys = []string{
	"properties", "dynamic", "dynamic_templates", "dynamic_date_formats", "date_detection", "numeric_detection",
	"runtime", "enabled", "include_in_all", "_meta", "_source", "_routing", "_field_names", "_all", "_parent",
	"_size", "_index", "_type", "_id",
}

// withoutType returns a mapping without the type that Elasticsearch 6 and older put above it.
func withoutType(mappings json.RawMessage) (kept json.RawMessage, note string, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(mappings, &all); err != nil || all == nil {
		return nil, "", errors.New(`no "mappings" object`)
	}
	var types []string
	for name, inner := range all {
		var one map[string]json.RawMessage
		if slices.Contains(rootKeys, name) || json.Unmarshal(inner, &one) != nil || one == nil {
			return mappings, "", nil
		}
		if len(one) > 0 && !slices.ContainsFunc(rootKeys, func(key string) bool { return one[key] != nil }) {
			return mappings, "", nil
		}
		if name != "_default_" { // the beginning of types to come
			types = append(types, name)
		}
	}
	slices.Sort(types)
	switch len(types) {
	case 0:
		return json.RawMessage(`{}`), "", nil
	case 1:
		note = fmt.Sprintf("mapping type %.40q left out: Elasticsearch 7 has no types", types[0])
		return all[types[0]], note, nil
	}
	return nil, "", fmt.Errorf("%d mapping types (%.200s), but Elasticsearch 7 has none: keep one, with its documents",
		len(types), strings.Join(types, ", "))
}

// withSettings adds the settings that elasticdump wrote to a separate file (all settings, or only
// analyzers) to a normalized mapping. A setting that the mapping already has stays.
func withSettings(mapping, data []byte) ([]byte, error) {
	body, err := onlyObject(data)
	if err != nil {
		return nil, err
	}
	if one := below(body, "settings"); one != nil {
		body = one
	}
	settings := body["settings"]
	if settings == nil {
		return nil, errors.New(`no "settings" object`)
	}
	if settings, err = nestSettings(settings); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	var whole map[string]json.RawMessage
	var own, more struct {
		Index map[string]json.RawMessage `json:"index"`
	}
	err = errors.Join(json.Unmarshal(mapping, &whole), json.Unmarshal(settings, &more))
	if raw := whole["settings"]; raw != nil {
		err = errors.Join(err, json.Unmarshal(raw, &own))
	}
	if err != nil {
		return nil, err
	}
	maps.Copy(more.Index, own.Index)
	if whole["settings"], err = json.Marshal(more); err != nil {
		return nil, err
	}
	return json.Marshal(whole)
}

// readOnlySettings are the settings that Elasticsearch returns but does not accept.
var readOnlySettings = []string{"creation_date", "uuid", "version", "provided_name"}

// nestSettings moves all settings, flat or nested, below "index" and drops the read-only ones.
func nestSettings(settings json.RawMessage) (json.RawMessage, error) {
	var all, index map[string]json.RawMessage
	if err := json.Unmarshal(settings, &all); err != nil {
		return nil, err
	}
	if all["index"] != nil {
		if err := json.Unmarshal(all["index"], &index); err != nil {
			return nil, err
		}
		delete(all, "index")
	}
	nested := make(map[string]json.RawMessage, len(all)+len(index))
	for _, level := range []map[string]json.RawMessage{all, index} {
		for key, value := range level {
			if key = strings.TrimPrefix(key, "index."); !slices.Contains(readOnlySettings, key) {
				nested[key] = value
			}
		}
	}
	return json.Marshal(map[string]any{"index": nested})
}

// jsonMistake adds the line to a syntax error.
func jsonMistake(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && int(syntax.Offset) <= len(data) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:syntax.Offset], []byte("\n")), err)
	}
	return err
}
