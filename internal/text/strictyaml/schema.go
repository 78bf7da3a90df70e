package strictyaml

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/locbench/locbench/internal/text/safe"
)

// Schema is a JSON Schema (draft 2020-12) of a kind of files, for editors.
type Schema string

// Named returns a YAML file's line that names its schema for editors, by a path from its folder.
func Named(path string) string { return "# yaml-language-server: $schema=" + path + "\n" }

// Leave writes the schema to a file in dir, for the files there that name it, unless it exists.
func (s Schema) Leave(dir, name string) error {
	err := safe.CreateFile(filepath.Join(dir, name), []byte(s))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s for editors: %w", name, err)
	}
	return nil
}
