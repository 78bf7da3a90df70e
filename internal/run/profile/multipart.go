package profile

import (
	"fmt"
	"mime"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

// fields are those of a multipart body, written as a map by their names.
type fields []bench.Field

// part is the map form of a field.
type part struct {
	Value string `yaml:"value"`
	File  string `yaml:"file" strict:"min=1,max=1000"`
	Name  string `yaml:"name" strict:"min=1,max=300"`
	Type  string `yaml:"type" strict:"min=1,max=200"`
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

// UnmarshalStrict reads `title: lamp` and `picture: {file: lamp.jpg}`, and lists of these.
func (all *fields) UnmarshalStrict(v strictyaml.Value) {
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
			all.add(f.Key, item)
		}
	}
}

func (all *fields) add(name string, v strictyaml.Value) {
	one := bench.Field{Name: name}
	if v.Kind() == strictyaml.Scalar {
		one.Value, _ = v.Text()
		*all = append(*all, one)
		return
	}
	var p part
	if !v.Decode(&p) {
		return
	}
	if count(v, "value", "file") != 1 {
		v.Mistake("a field is a value or a file", fieldsHint)
		return
	}
	one.Value, one.FileName, one.Type = p.Value, p.Name, p.Type
	if p.File != "" {
		one.File = v.ResolvePath(p.File)
		if one.FileName == "" {
			one.FileName = bench.Literal(filepath.Base(p.File))
		}
		if one.Type == "" {
			if one.Type = mediaTypes[strings.ToLower(filepath.Ext(p.File))]; one.Type == "" {
				one.Type = binary
			}
		}
	}
	*all = append(*all, one)
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
