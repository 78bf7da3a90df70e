package lines

import (
	"bufio"
	"io"
	"sync"
)

// Each calls f for each line that is written. done ends it after the last line was reported.
func Each(f func(string)) (w io.Writer, done func()) {
	r, pipe := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		lines := bufio.NewReaderSize(r, 64<<10)
		for {
			line, _, err := lines.ReadLine() // longer lines come in pieces, which is good enough here
			if err != nil {
				_ = r.CloseWithError(io.EOF)
				return
			}
			if len(line) > 0 {
				f(string(line))
			}
		}
	})
	return pipe, func() {
		_ = pipe.Close()
		wg.Wait()
	}
}
