package results

import (
	"fmt"
	"io"
	"os"

	"locbench/internal/bench"
)

// Replay is Events for who wants to show how far it is: handle gets, with each event, the share of
// the log that has been read, 0 to 1. A log that is no regular file in dir, or larger than limit
// bytes, is an error.
func Replay(dir string, limit int64, handle func(rec bench.Record, read float64) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	st, err := root.Lstat(EventsFile)
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s: no regular file", EventsFile)
	case st.Size() > limit:
		return fmt.Errorf("%s: %d MiB, and at most %d are replayed", EventsFile, st.Size()>>20, limit>>20)
	}
	f, err := root.Open(EventsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	counted := &counter{r: io.LimitReader(f, st.Size())}
	return readEvents(counted, func(rec bench.Record) error {
		return handle(rec, float64(counted.n)/float64(st.Size()))
	})
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
