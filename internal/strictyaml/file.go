package strictyaml

import (
	"io"
	"os"
)

// ReadFile reads a file as far as Decode takes it and one byte more, so that Decode tells of a
// larger one. A pipe works too.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
