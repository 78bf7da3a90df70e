package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// quotedName escapes the names of fields and files as browsers do (HTML, 4.10.21.8).
var quotedName = strings.NewReplacer("\r\n", "%0D%0A", "\n", "%0A", "\r", "%0D", `"`, "%22")

// multipart returns the body of a request with fields (RFC 7578), and its media type.
func (c *composer) multipart() (body []part, kind string, err error) {
	type field struct{ head, content []part }
	var fields []field
	for _, f := range c.spec.Multipart {
		head := []part{{text: `Content-Disposition: form-data; name="` + quotedName.Replace(f.Name) + `"`}}
		if f.FileName != "" {
			name, err := c.parts(f.FileName, inQuotes)
			if err != nil {
				return nil, "", err
			}
			for i := range name {
				name[i].text = quotedName.Replace(name[i].text)
			}
			head = slices.Concat(head, []part{{text: `; filename="`}}, name, []part{{text: `"`}})
		}
		if f.Type != "" {
			head = append(head, part{text: "\r\nContent-Type: " + f.Type})
		}
		content := []part{{text: string(c.plan.Files[f.File])}}
		if f.File == "" {
			if content, err = c.parts(f.Value, plain); err != nil {
				return nil, "", err
			}
		}
		fields = append(fields, field{append(head, part{text: "\r\n\r\n"}), content})
	}
	boundary := newBoundary(c.spec.Multipart, c.plan.Files, func(boundary string) bool {
		return slices.ContainsFunc(fields, func(f field) bool {
			return slices.ContainsFunc(f.content, func(p part) bool { return strings.Contains(p.text, boundary) })
		})
	})
	for _, f := range fields {
		body = slices.Concat(body, []part{{text: "--" + boundary + "\r\n"}}, f.head, f.content, []part{{text: "\r\n"}})
	}
	return joined(append(body, part{text: "--" + boundary + "--\r\n"})), "multipart/form-data; boundary=" + boundary, nil
}

// newBoundary returns a boundary that is not contained in the fields: the same for the same fields.
func newBoundary(
	fields []bench.Field, files map[string][]byte, contained func(boundary string) bool,
) (boundary string) {
	sum := sha256.New()
	for n := 0; boundary == "" || contained(boundary); n++ {
		for _, f := range fields {
			fmt.Fprintf(sum, "%d %q %q ", n, f.Name, f.Value)
			sum.Write(files[f.File])
		}
		boundary = "locbench" + hex.EncodeToString(sum.Sum(nil)[:16])
	}
	return boundary
}
