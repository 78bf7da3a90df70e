package check

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// schemaName is the URL under which the library knows the schema; it is cut out of its messages.
const schemaName = "schema:///expected"

const maxCauses = 20 // of a mismatch, in its message

// noOtherFiles refuses references to other documents: an expected schema is one document.
type noOtherFiles struct{}

func (noOtherFiles) Load(url string) (any, error) {
	return nil, otherDocument(url)
}

func otherDocument(url string) error {
	return fmt.Errorf("%s is another document: use references within the schema only", safe.Line(url, 200))
}

// schema reads a JSON Schema, or the name of its file.
func (e expander) schema(v strictyaml.Value) matcher {
	judges, err := readJudges(v)
	if err != nil {
		what, hint := err.Error(), "write a JSON Schema, or the name of its file, such as `order.schema.json`"
		if e, ok := errors.AsType[*schemaError](err); ok {
			what, hint = e.what, e.hint
		}
		v.Mistake(what, hint)
	}
	return document(func(_ *response, doc any) error {
		j := judges.Get().(*judge)
		defer judges.Put(j)
		return j.compare(doc)
	})
}

// readJudges reads a schema. There is a judge for each response that is compared at the same time.
func readJudges(v strictyaml.Value) (*sync.Pool, error) {
	doc, err := ReadSchema(v)
	if err != nil {
		return nil, err
	}
	if object, ok := doc.(map[string]any); ok {
		if !hasKeyword(object) {
			return nil, &schemaError{"the schema has no keyword, so any response would match it", "write one, such as `required: [id]`"}
		}
		version, _ := object["$schema"].(string)
		fromOpenAPI(object, strings.Contains(version, "draft-04"))
	}
	first, err := newJudge(doc)
	if err != nil {
		return nil, oneLine(err)
	}
	judges := &sync.Pool{New: func() any {
		j, _ := newJudge(doc) // as the first: no error
		return j
	}}
	judges.Put(first)
	return judges, nil
}

// judge compares documents with a schema, one at a time.
type judge struct {
	budget  budget
	schema  *jsonschema.Schema
	refutes *jsonschema.Schema // matches what the schema does not; the library keeps no mismatches for it
}

func newJudge(doc any) (*judge, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noOtherFiles{})
	c.AssertFormat()
	for _, f := range wholeFormats() {
		c.RegisterFormat(f)
	}
	if err := c.AddResource(schemaName, doc); err != nil {
		return nil, err
	}
	if err := c.AddResource(schemaName+"/not", map[string]any{"not": map[string]any{"$ref": schemaName}}); err != nil {
		return nil, err
	}
	j := &judge{}
	var err error
	if j.schema, err = c.Compile(schemaName); err != nil {
		return nil, err
	}
	if j.refutes, err = c.Compile(schemaName + "/not"); err != nil {
		return nil, err
	}
	j.budget.meter(j.refutes)
	return j, nil
}

// compare returns what is wrong with a document. It first finds out whether there is something.
func (j *judge) compare(doc any) error {
	switch err := j.validate(j.refutes, doc, maxEvaluations); {
	case errors.Is(err, errBudget):
		return err
	case err != nil: // it matches
		return nil
	}
	if all, ok := errors.AsType[*jsonschema.ValidationError](j.validate(j.schema, doc, maxExplained)); ok {
		left := maxCauses
		shorten(all, &left)
		return fmt.Errorf("does not match its schema: %w", oneLine(all))
	}
	return errors.New("does not match its schema, in a place that takes too long to find")
}

// validate compares a document with a schema within a budget.
func (j *judge) validate(s *jsonschema.Schema, doc any, most int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != any(errBudget) {
				panic(p) // a wrong response, with a sentence: see Expect.judge
			}
			err = errBudget
		}
	}()
	j.budget.left = most
	return s.Validate(doc)
}

// shorten leaves the first causes of a mismatch: one for each value of a long list would make a
// long text.
func shorten(e *jsonschema.ValidationError, left *int) {
	for i, cause := range e.Causes {
		if *left--; *left < 0 {
			e.Causes = e.Causes[:i]
			return
		}
		shorten(cause, left)
	}
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
