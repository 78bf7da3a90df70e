package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"locbench/internal/text/safe"
	"locbench/internal/text/strictyaml"
)

// maxSchema bounds the file of a JSON Schema.
const maxSchema = 1 << 20

// schemaName is the URL under which the library knows the schema; it is cut out of its messages.
const schemaName = "schema:///expected"

// noOtherFiles refuses references to other documents: an expected schema is one document.
type noOtherFiles struct{}

func (noOtherFiles) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is another document: use references within the schema only", url)
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
		err = errors.New("larger than 1 MiB")
	}
	var doc any
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		err = d.Decode(&doc)
	}
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema %s: %w", file, err)
	}
	return withNumbers(doc), nil
}

// withNumbers replaces each json.Number in doc by an int64 or a float64.
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
func (e expander) schema(v strictyaml.Value) (m matcher) {
	defer func() {
		if p := recover(); p != nil { // the library's, for numbers that it cannot hold
			v.Mistake("the schema cannot be read: "+safe.Line(fmt.Sprint(p), 100), "write smaller numbers")
			m = func(*response) error { return nil }
		}
	}()
	wrong := func(err error) matcher {
		v.Mistake(err.Error(), "write a JSON Schema, or the name of its file, such as `order.schema.json`")
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
		return wrong(oneLine(err))
	}
	compiled, err := c.Compile(schemaName)
	if err != nil {
		return wrong(oneLine(err))
	}
	limit := &budget{}
	limit.meter(compiled)
	var mu sync.Mutex // of the budget
	return document(func(_ *response, doc any) error {
		mu.Lock()
		err := limit.validate(compiled, doc)
		mu.Unlock()
		switch {
		case errors.Is(err, errBudget):
			return err
		case err != nil:
			return fmt.Errorf("does not match its schema: %w", oneLine(shortened(err)))
		}
		return nil
	})
}

// validate compares a document with a schema within the budget of one response.
func (b *budget) validate(s *jsonschema.Schema, doc any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = errBudget; p != any(errBudget) {
				err = fmt.Errorf("the schema cannot be compared: %v", p)
			}
		}
	}()
	b.left = maxEvaluations
	return s.Validate(doc)
}

// shortened returns an error of the library with few of its causes: one for each value of a long
// list would make a long text.
func shortened(err error) error {
	all, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	left := 20
	var cut func(*jsonschema.ValidationError) *jsonschema.ValidationError
	cut = func(e *jsonschema.ValidationError) *jsonschema.ValidationError {
		out := *e
		out.Causes = nil
		for _, cause := range e.Causes {
			if left--; left < 0 {
				break
			}
			out.Causes = append(out.Causes, cut(cause))
		}
		return &out
	}
	return cut(all)
}

// oneLine returns an error of the library on one line, without schemaName.
func oneLine(err error) error {
	lines := strings.Split(strings.ReplaceAll(err.Error(), schemaName, ""), "\n")
	if len(lines) > 1 {
		lines = lines[1:]
	}
	var all []string
	for _, line := range lines {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if !strings.HasSuffix(line, "Of' failed") { // the next lines say why
			all = append(all, line)
		}
	}
	return errors.New(safe.Line(strings.Join(all, "; "), 300))
}
