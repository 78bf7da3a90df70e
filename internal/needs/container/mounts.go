package container

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// paths are files of the profile's folder.
type paths []string

// UnmarshalStrict reads a path or a list of paths.
func (p *paths) UnmarshalStrict(v strictyaml.Value) {
	items := v.Items()
	if v.Kind() != strictyaml.List {
		items = []strictyaml.Value{v}
	}
	for _, item := range items {
		if file, ok := existing(item, ""); ok {
			*p = append(*p, file)
		}
	}
}

// existing returns the whole path of a file that v names; name "": v is its path.
func existing(v strictyaml.Value, name string) (file string, ok bool) {
	if name == "" {
		if name, ok = v.Text(); !ok {
			return "", false
		}
	}
	if name == "" || len(name) > 4096 {
		v.Wrong("write the path of a file, relative to this file")
		return "", false
	}
	file = v.ResolvePath(name)
	if _, err := os.Stat(file); err != nil {
		v.Mistake(fmt.Sprintf("`%.200s` does not exist", name), "write a path relative to the folder of this file")
		return "", false
	}
	return file, true
}

// UnmarshalStrict reads "SOURCE:TARGET:ro" or "TARGET".
func (m *volume) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	if !ok {
		return
	}
	parts := strings.Split(text, ":")
	m.Target = parts[0]
	switch {
	case len(parts) == 1:
	case !strings.ContainsAny(parts[0], "./~") || parts[0] == "":
		v.Wrong("write only the path in the container, such as `/data`: its volume is of this run")
		return
	case len(parts) != 3 || !slices.Contains(strings.Split(parts[2], ","), "ro"):
		v.Wrong("write `./FILE:/path/in/container:ro` for files that it reads, or only the path in the container for its data: " +
			"a run does not write to folders of this machine")
		return
	default:
		m.Target = parts[1]
		m.Source, _ = existing(v, parts[0])
	}
	if !path.IsAbs(m.Target) || path.Clean(m.Target) == "/" {
		v.Wrong("write an absolute path in the container, such as `/data`")
	}
	m.Target = path.Clean(m.Target)
}
