package results

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	followEvery = 100 * time.Millisecond // how often a log that does not grow is checked
	followBatch = 512                    // most records in a batch
	followBytes = 4 << 20                // most bytes to read before a batch is passed on
)

// ErrKilled is the error of Follow for a log without a writer and without the end of the run.
var ErrKilled = errors.New("the run was killed: its log is incomplete")

// Follow passes the records of dir's event log to handle, in order and in batches, and continues as
// the log grows. It returns nil after the end of the run, once the log has no writer; ErrKilled if
// the log ends without the end of the run; context.Cause(ctx) when ctx ends; or the first error of
// handle. If the run is resumed meanwhile, it continues.
//
// It skips lines that are too long or not records and returns their number as bad, without an
// unfinished last line.
func Follow(ctx context.Context, dir string, handle func([]bench.Record) error) (bad int64, err error) {
	f, err := openLog(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	l := &follower{handle: handle}
	err = l.follow(ctx, f)
	return l.bad, err
}

func openLog(dir string) (*os.File, error) {
	root, err := safe.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := safe.OpenIn(root, EventsFile)
	if err != nil {
		return nil, fmt.Errorf("open the event log in %s: %w", dir, err)
	}
	return f, nil
}

// Running reports whether a locbench is writing to dir.
func Running(dir string) bool {
	f, err := openLog(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f)
}

// follower reads one log.
type follower struct {
	handle func([]bench.Record) error

	buf     [64 << 10]byte
	pending []byte // the start of a line whose end is not there yet
	long    bool   // the current line is too long for a record; the rest of it is dropped
	batch   []bench.Record
	ended   bool // the last record about the run says that it ended
	bad     int64
}

func (l *follower) follow(ctx context.Context, f *os.File) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var read int64
	for {
		// Check for a writer before reading: without one, the log is complete.
		writing := locked(f)
		n, err := l.catchUp(ctx, f)
		if read += n; err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		if !writing || l.ended && !safe.Locks {
			return l.finish()
		}
		if st, err := f.Stat(); err == nil && st.Size() < read {
			return fmt.Errorf("follow %s: the log became shorter", f.Name())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// catchUp reads to the end of the log, or about followBytes of it, and passes the records on.
func (l *follower) catchUp(ctx context.Context, r io.Reader) (read int64, err error) {
	for read < followBytes {
		if ctx.Err() != nil {
			return read, context.Cause(ctx)
		}
		n, err := r.Read(l.buf[:])
		read += int64(n)
		if err := l.add(l.buf[:n]); err != nil {
			return read, err
		}
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			break
		}
		if err != nil {
			return read, err
		}
	}
	return read, l.flush()
}

// add adds the next piece of the log.
func (l *follower) add(piece []byte) error {
	for {
		line, rest, whole := bytes.Cut(piece, []byte("\n"))
		if !whole {
			l.keep(piece)
			return nil
		}
		if err := l.line(line); err != nil {
			return err
		}
		piece = rest
	}
}

// keep adds a piece to the current line, unless the line is too long.
func (l *follower) keep(piece []byte) {
	if !l.long && len(l.pending)+len(piece) <= maxLine {
		l.pending = append(l.pending, piece...)
		return
	}
	l.long, l.pending = true, nil
}

// line ends the current line with its last piece.
func (l *follower) line(piece []byte) error {
	l.keep(piece)
	line, long := l.pending, l.long
	l.pending, l.long = l.pending[:0], false
	if !long && len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var rec bench.Record
	if long || json.Unmarshal(line, &rec) != nil {
		l.bad++
		return nil
	}
	switch rec.Event.(type) {
	case bench.RunStarted:
		l.ended = false
	case bench.RunEnded:
		l.ended = true
	}
	if l.batch = append(l.batch, rec); len(l.batch) < followBatch {
		return nil
	}
	return l.flush()
}

func (l *follower) flush() error {
	if len(l.batch) == 0 {
		return nil
	}
	batch := l.batch
	l.batch = nil // handle may keep it
	return l.handle(batch)
}

// finish ends the reading of a log without a writer. The last line end may be missing.
func (l *follower) finish() error {
	if len(l.pending) > 0 && json.Valid(l.pending) {
		if err := l.line(nil); err != nil {
			return err
		}
		if err := l.flush(); err != nil {
			return err
		}
	}
	if !l.ended {
		return ErrKilled
	}
	return nil
}

// LastSeq returns the highest event number in dir's event log, 0 without a log. It reads only the
// start of each line.
func LastSeq(dir string) (last int64, err error) {
	f, err := openLog(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for rest := false; ; {
		piece, more, err := in.ReadLine()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, fmt.Errorf("read the event log in %s: %w", dir, err)
		}
		var seq int64
		if _, err := fmt.Sscanf(string(piece[:min(len(piece), 64)]), `{"seq":%d,`, &seq); err == nil && !rest {
			last = max(last, seq)
		}
		rest = more
	}
}
