package needs

import (
	"path"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// TmpfsPath is a path in memory as compose files have it: "PATH" or "PATH:OPTIONS".
type TmpfsPath string

// Path returns the path in the container.
func (t TmpfsPath) Path() string {
	target, _, _ := strings.Cut(string(t), ":")
	return path.Clean(target)
}

// Options returns what is after the path, such as "size=64m,mode=1777".
func (t TmpfsPath) Options() string {
	_, options, _ := strings.Cut(string(t), ":")
	return options
}

// TmpfsList is a list of them, or a single one.
type TmpfsList []TmpfsPath

// UnmarshalStrict reads a text or a list of texts.
func (all *TmpfsList) UnmarshalStrict(v strictyaml.Value) {
	items := v.Items()
	if v.Kind() != strictyaml.List {
		items = []strictyaml.Value{v}
	}
	for _, item := range items {
		text, ok := item.Text()
		if at := TmpfsPath(text).Path(); ok && (!path.IsAbs(at) || at == "/") {
			item.Wrong("write an absolute path in the container, such as `/run`")
		}
		*all = append(*all, TmpfsPath(text))
	}
}
