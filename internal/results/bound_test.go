package results

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// huge is a folder whose files say that they are larger than they may be.
type huge struct {
	fstest.MapFS
	opened int
}

type hugeInfo struct{ fs.FileInfo }

func (hugeInfo) Size() int64 { return maxFile + 1 }

func (h *huge) Stat(name string) (fs.FileInfo, error) {
	st, err := h.MapFS.Stat(name)
	return hugeInfo{st}, err
}

func (h *huge) Open(name string) (fs.File, error) {
	h.opened++
	return h.MapFS.Open(name)
}

// TestRead_TooLarge: what is too large is refused by its size, before a byte of it is read.
func TestRead_TooLarge(t *testing.T) {
	dir := &huge{MapFS: fstest.MapFS{RunFile: {Data: []byte("{}")}}}
	_, _, err := read(dir)
	if err == nil || !strings.Contains(err.Error(), "larger than 128 MiB, so it is no results file") || dir.opened != 0 {
		t.Errorf("%v, opened %d times", err, dir.opened)
	}
}
