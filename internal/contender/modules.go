package contender

import (
	"fmt"
	"io/fs"

	"golang.org/x/tools/txtar"
)

// Unpack returns the folders of the contenders that are Go modules of their own, which go:embed leaves
// out, whatever names them: a text of them is embedded instead (services/modules.txtar). The result is
// nil where there are none.
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
