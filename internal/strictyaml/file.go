package strictyaml

import (
	"io"
	"os"
)

// ReadFile reads one byte more than Decode takes, so that Decode tells of a larger file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
