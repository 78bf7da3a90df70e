package docker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// copyLog splits the engine's stream of frames into lines until it ends. It holds at most one line
// of each stream, whatever lengths the frames have. size counts what it copies.
func copyLog(r io.Reader, size *safe.LogSize, now func() time.Time, emit func(bench.LogLine)) error {
	stdout, stderr := safe.NewLineWriter("stdout", now, emit), safe.NewLineWriter("stderr", now, emit)
	defer stderr.Flush()
	defer stdout.Flush()
	return splitFrames(r, size.Of(stdout), size.Of(stderr))
}

// splitFrames copies the contents of frames (one byte of stream number, three unused, four of
// length, then the content) until the engine's stream ends.
func splitFrames(r io.Reader, stdout, stderr io.Writer) error {
	buf := make([]byte, 32<<10)
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		w := stderr // 2; also 3, an error of the engine
		if head[0] < 2 {
			w = stdout // 1; also 0, stdin written back
		} else if head[0] > 3 {
			return fmt.Errorf("log stream: frame of unknown stream %d", head[0])
		}
		size := int64(binary.BigEndian.Uint32(head[4:]))
		// Without the wrapper io.CopyBuffer would not use buf.
		if n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(r, size), buf); err != nil {
			return err
		} else if n < size {
			return io.ErrUnexpectedEOF
		}
	}
}
