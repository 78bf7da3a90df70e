package contender

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/tools/txtar"
)

// Unpack returns the folders of the bundled contenders, from services/contenders.txtar.gz.
func Unpack(packed []byte) (fs.FS, error) {
	text, err := unpacked(packed)
	if err != nil {
		return nil, fmt.Errorf("unpack contenders: %w", err)
	}
	fsys, err := txtar.FS(txtar.Parse(text))
	if err != nil {
		return nil, fmt.Errorf("unpack contenders: %w", err)
	}
	return fsys, nil
}

func unpacked(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
