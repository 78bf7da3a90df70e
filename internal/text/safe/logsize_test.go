package safe

import (
	"bytes"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Both streams of a log count, with all bytes of lines that are cut.
func TestLogSize(t *testing.T) {
	var size LogSize
	var out, err bytes.Buffer
	size.Of(&out).Write([]byte("one\ntwo\nthr"))
	size.Of(&err).Write([]byte("ee\n"))
	got := size.Log()
	testenv.Equal(t, out.String()+err.String(), "one\ntwo\nthree\n")
	testenv.Equal(t, got.Bytes, 14)
	testenv.Equal(t, got.Lines, 3)
}
