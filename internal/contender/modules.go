package contender

import (
	"fmt"
	"io/fs"

	"golang.org/x/tools/txtar"
)

// Unpack returns the folders in services/modules.txtar, those of Go modules, which go:embed leaves
// out. The result is nil if there are none.
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
