package contender

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// Pack makes one text of the folders of contenders that are Go modules of their own. go:embed
// leaves such folders out, whatever names them, so this text of them is embedded instead; Unpack
// makes folders of it again.
func Pack(fsys fs.FS, dirs ...string) ([]byte, error) {
	a := txtar.Archive{Comment: []byte("The contenders that are Go modules of their own, for the binary. Made by 'go generate ./services': edit the folders.\n")}
	for _, dir := range dirs {
		sub, err := fs.Sub(fsys, dir)
		if err != nil {
			return nil, err
		}
		list, err := listFiles(sub, ManifestName, "Dockerfile", "README.md", ".dockerignore")
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", dir, err)
		}
		for _, e := range list {
			if e.mode.IsDir() || path.Base(e.name) == ".gitignore" {
				continue
			}
			var text bytes.Buffer
			if e.link != "" {
				return nil, fmt.Errorf("pack %s/%s: it is a link", dir, e.name)
			}
			if err := copyFile(&text, sub, e); err != nil {
				return nil, fmt.Errorf("pack %s/%s: %w", dir, e.name, err)
			}
			f := txtar.File{Name: path.Join(dir, e.name), Data: text.Bytes()}
			if again := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{f}})); !utf8.Valid(f.Data) || len(again.Files) != 1 || !bytes.Equal(again.Files[0].Data, f.Data) {
				return nil, fmt.Errorf("pack %s: it must be text, end with a line end, and have no line of the form `-- name --`", f.Name)
			}
			a.Files = append(a.Files, f)
		}
	}
	return txtar.Format(&a), nil
}

// Unpack gives what Pack has packed as folders; nil where there are none.
func Unpack(data []byte) (fs.FS, error) {
	a := txtar.Parse(data)
	if len(a.Files) == 0 {
		return nil, nil
	}
	fsys, err := txtar.FS(a)
	if err != nil {
		return nil, fmt.Errorf("unpack contenders: %w", err)
	}
	return fsys, nil
}
