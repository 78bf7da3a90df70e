package profile

import (
	"cmp"
	"fmt"
	"mime"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

// document is a JSON body, which may have places for variables.
type document string

// UnmarshalStrict takes any value.
func (d *document) UnmarshalStrict(v strictyaml.Value) { *d = document(v.JSON()) }

// form is a form body, which may have places for variables.
type form string

// UnmarshalStrict reads names and values, in their order.
func (f *form) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.Map {
		v.Wrong("write names and values, such as `{user: \"{user}\", page: 1}`")
	}
	var pairs []string
	for _, field := range v.Fields() {
		text, _ := field.Value.Text()
		pairs = append(pairs, url.QueryEscape(field.Key)+"="+bench.Escaped(text, url.QueryEscape))
	}
	*f = form(strings.Join(pairs, "&"))
}

const fieldsHint = "write names and values, such as `{title: lamp, picture: {file: lamp.jpg}}`"

// mediaTypes are those of files without a type, by extension: the same on every machine.
var mediaTypes = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".css": "text/css", ".csv": "text/csv", ".gif": "image/gif",
	".gz": "application/gzip", ".htm": "text/html", ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".js": "text/javascript", ".json": "application/json", ".md": "text/markdown", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
	".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain", ".wav": "audio/wav",
	".webm": "video/webm", ".webp": "image/webp", ".xml": "text/xml", ".yaml": "application/yaml",
	".yml": "application/yaml", ".zip": "application/zip",
}

const binary = "application/octet-stream"

// readFields reads the fields of a multipart body, `title: lamp` and `picture: {file: lamp.jpg}`, and
// lists of these.
func readFields(v strictyaml.Value, all *[]bench.Field) {
	if v.Kind() != strictyaml.Map || len(v.Fields()) == 0 {
		v.Wrong(fieldsHint)
		return
	}
	for _, f := range v.Fields() {
		items := []strictyaml.Value{f.Value}
		if f.Value.Kind() == strictyaml.List {
			items = f.Value.Items()
		}
		for _, item := range items {
			if one := (bench.Field{Name: f.Key}); readField(item, &one) {
				*all = append(*all, one)
			}
		}
	}
}

func readField(v strictyaml.Value, f *bench.Field) bool {
	if v.Kind() == strictyaml.Scalar {
		f.Value, _ = v.Text()
		return true
	}
	if !v.Struct(f) {
		return false
	}
	if count(v, "value", "file") != 1 {
		v.Mistake("a field is a value or a file", fieldsHint)
		return false
	}
	if f.File != "" {
		f.FileName = cmp.Or(f.FileName, bench.Literal(filepath.Base(f.File)))
		f.Type = cmp.Or(f.Type, mediaTypes[strings.ToLower(filepath.Ext(f.File))], binary)
		f.File = v.ResolvePath(f.File)
	}
	return true
}

// multipart reports what is wrong with the fields of a body.
func (r *rules) multipart(at string, req bench.Request) {
	for _, f := range req.Multipart {
		of := at + ".multipart." + f.Name
		if err := values.CheckBody(f.File); err != nil {
			r.when(true, of, err.Error(), "write the path of a file, relative to the profile")
		}
		kind, _, err := mime.ParseMediaType(f.Type)
		r.when(f.Type != "" && (err != nil || !strings.Contains(kind, "/") || strings.ContainsAny(f.Type, "\r\n")), of,
			fmt.Sprintf("%q is not a media type", f.Type), "write one such as `image/png`")
	}
	for name := range req.Header {
		r.when(len(req.Multipart) > 0 && strings.EqualFold(name, "Content-Type"), at+".header."+name,
			"`multipart` has its own Content-Type, with the boundary", "remove the header")
	}
}
