package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"locbench/internal/text/safe"
	"locbench/internal/text/strictyaml"
)

// maxSchema bounds the file of a JSON Schema.
const maxSchema = 1 << 20

// schemaName is what messages of the library call a schema that has no name of its own.
const schemaName = "schema:///expected"

// noOtherFiles is why a reference leads nowhere: an expectation is one document.
type noOtherFiles struct{}

func (noOtherFiles) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is another document: only references within the schema are followed", url)
}

// SchemaFile reads a JSON Schema. Its numbers are int64 or float64.
func SchemaFile(file string) (any, error) {
	f, err := safe.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSchema+1))
	if err == nil && len(data) > maxSchema {
		err = errors.New("it is larger than 1 MiB")
	}
	var doc any
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		err = d.Decode(&doc)
	}
	if err != nil {
		return nil, fmt.Errorf("read the JSON Schema %s: %w", file, err)
	}
	return withNumbers(doc), nil
}

// withNumbers has numbers where JSON had their texts.
func withNumbers(doc any) any {
	switch v := doc.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = withNumbers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = withNumbers(value)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return doc
}

// schema reads a JSON Schema, or the name of its file.
func (e expander) schema(v strictyaml.Value) matcher {
	wrong := func(err error) matcher {
		v.Mistake(err.Error(), "write a JSON Schema, or the name of its file, for example `order.schema.json`")
		return func(*response) error { return nil }
	}
	doc := v.Any()
	if v.Kind() == strictyaml.Scalar {
		var err error
		text, _ := v.Text()
		if doc, err = SchemaFile(v.ResolvePath(text)); err != nil {
			return wrong(err)
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return wrong(err)
	}
	if doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
		return wrong(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noOtherFiles{})
	if err := c.AddResource(schemaName, doc); err != nil {
		return wrong(plainly(err))
	}
	compiled, err := c.Compile(schemaName)
	if err != nil {
		return wrong(plainly(err))
	}
	return document(func(_ *response, doc any) error {
		if err := compiled.Validate(doc); err != nil {
			return fmt.Errorf("not as its schema says: %w", plainly(err))
		}
		return nil
	})
}

// plainly returns an error of the library on one line, without the name that the schema has not.
func plainly(err error) error {
	lines := strings.Split(strings.ReplaceAll(err.Error(), schemaName, ""), "\n")
	if len(lines) > 1 {
		lines = lines[1:]
	}
	var all []string
	for _, line := range lines {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if !strings.HasSuffix(line, "Of' failed") { // why it did follows
			all = append(all, line)
		}
	}
	return errors.New(safe.Line(strings.Join(all, "; "), 300))
}
