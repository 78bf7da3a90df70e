package safe

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/locbench/locbench/internal/bench"
)

// LogSize counts what is written to a log. It is safe for concurrent use.
type LogSize struct{ bytes, lines atomic.Int64 }

// Of returns w as a writer that counts what is written.
func (s *LogSize) Of(w io.Writer) io.Writer { return counted{w, s} }

// Log returns what has been written so far.
func (s *LogSize) Log() *bench.Log { return &bench.Log{Bytes: s.bytes.Load(), Lines: s.lines.Load()} }

type counted struct {
	io.Writer
	size *LogSize
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.size.bytes.Add(int64(n))
	c.size.lines.Add(int64(bytes.Count(p[:n], []byte{'\n'})))
	return n, err
}
