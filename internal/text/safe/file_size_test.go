package safe

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/testenv"
)

// sized reports a size that is too large and counts the reads.
type sized struct {
	fs.File
	reads int
}

type sizedInfo struct{ fs.FileInfo }

func (sizedInfo) Size() int64 { return 11 << 20 }

func (s *sized) Stat() (fs.FileInfo, error) {
	info, err := s.File.Stat()
	return sizedInfo{info}, err
}

func (s *sized) Read(p []byte) (int, error) {
	s.reads++
	return s.File.Read(p)
}

// TestReadAll_Size: a file that is too large is refused because of its size, without reading it.
func TestReadAll_Size(t *testing.T) {
	f := testenv.Must(fstest.MapFS{"x": {Data: []byte("{}")}}.Open("x"))(t)
	s := &sized{File: f}
	if _, err := ReadAll(s, "x", 10<<20); err == nil || !strings.Contains(err.Error(), "x is larger than the 10 MiB allowed") || s.reads > 0 {
		t.Errorf("%v, read %d times", err, s.reads)
	}
	if data, err := ReadAll(s, "x", 12<<20); err != nil || string(data) != "{}" {
		t.Errorf("%q, %v", data, err)
	}
}
