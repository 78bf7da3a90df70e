package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"locbench/internal/bench"
)

const (
	followEvery = 50 * time.Millisecond // how often a log that does not grow is looked at
	followBatch = 512                   // records handed over at once
	followBytes = 4 << 20               // of lines, read before what they hold is handed over
)

// ErrKilled is returned by Follow for a run that has not reported its end, though nobody writes to
// its log any more.
var ErrKilled = errors.New("the run was killed: its log has no end")

// Follow hands over what dir's event log holds after number from, in order and in batches, and goes
// on as the log grows. It returns nil after the end of the run, once nobody holds its log any more;
// ErrKilled when the log ends without one; context.Cause(ctx) when ctx ends; and the first error of
// handle. A log that is resumed while it is followed goes on.
//
// Lines that are no records, or longer than any, are passed over: bad is their number. So is a
// half-written last line, which does not count.
func Follow(ctx context.Context, dir string, from int64, handle func([]bench.Record) error) (bad int64, err error) {
	path := filepath.Join(dir, EventsFile)
	if st, err := os.Stat(path); err != nil {
		return 0, err
	} else if !st.Mode().IsRegular() { // opening a pipe would wait for its writer
		return 0, fmt.Errorf("follow %s: no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	l := &follower{from: from, handle: handle}
	err = l.follow(ctx, f)
	return l.bad, err
}

// Running tells whether a locbench writes to dir now.
func Running(dir string) bool {
	path := filepath.Join(dir, EventsFile)
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f)
}

// follower reads one log.
type follower struct {
	from   int64
	handle func([]bench.Record) error

	pending []byte // a line that has no end yet
	long    bool   // the line that is being read is longer than any record: the rest of it is thrown away
	passed  int64  // the highest number of such a line
	batch   []bench.Record
	ended   bool // the last word was that the run has ended
	bad     int64
}

// newFollower reads logs from their beginning, one record at a time.
func newFollower(handle func(bench.Record) error) *follower {
	return &follower{from: math.MinInt64, handle: func(batch []bench.Record) error {
		for _, rec := range batch {
			if err := handle(rec); err != nil {
				return err
			}
		}
		return nil
	}}
}

// read reads a log that does not grow.
func (l *follower) read(r io.Reader) error {
	for {
		n, err := l.catchUp(context.Background(), r)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	if err := l.finish(); !errors.Is(err, ErrKilled) {
		return err
	}
	return nil
}

func (l *follower) follow(ctx context.Context, f *os.File) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var read int64
	for {
		// Asked before the log is read to its end: what is not there then will not come.
		writing := locked(f)
		n, err := l.catchUp(ctx, f)
		read += n
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		if !writing || l.ended && !locks {
			return l.finish()
		}
		if st, err := f.Stat(); err == nil && st.Size() < read {
			return fmt.Errorf("follow %s: somebody has cut it short", f.Name())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// catchUp reads to the end of what is there, or a good deal of it, and hands it over.
func (l *follower) catchUp(ctx context.Context, r io.Reader) (read int64, err error) {
	buf := make([]byte, 64<<10)
	for read < followBytes {
		if ctx.Err() != nil {
			return read, context.Cause(ctx)
		}
		n, err := r.Read(buf)
		read += int64(n)
		if err := l.add(buf[:n]); err != nil {
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

// add takes the next piece of the log.
func (l *follower) add(piece []byte) error {
	for {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			break
		}
		if err := l.line(piece[:end]); err != nil {
			return err
		}
		piece = piece[end+1:]
	}
	l.keep(piece)
	return nil
}

// keep holds the beginning of a line until its end comes.
func (l *follower) keep(piece []byte) {
	if !l.long && len(l.pending)+len(piece) <= maxLine {
		l.pending = append(l.pending, piece...)
		return
	}
	if !l.long {
		l.passed = max(l.passed, seqOf(slices.Concat(l.pending[:min(len(l.pending), maxSeq)], piece[:min(len(piece), maxSeq)])))
	}
	l.long, l.pending = true, nil
}

// maxSeq is more than the bytes of the beginning of a record, up to the end of its number.
const maxSeq = 64

// seqOf is the number of the record that begins so, 0 where there is none.
func seqOf(beginning []byte) int64 {
	rest, _ := bytes.CutPrefix(beginning, []byte(`{"seq":`))
	digits := rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789"))]
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || len(rest) == len(beginning) {
		return 0
	}
	return n
}

// line takes the last piece of a line.
func (l *follower) line(piece []byte) error {
	l.keep(piece)
	line, long := l.pending, l.long
	l.pending, l.long = l.pending[:0], false
	if long {
		l.bad++
		return nil
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var rec bench.Record
	if json.Unmarshal(line, &rec) != nil {
		l.bad++
		return nil
	}
	return l.record(rec)
}

func (l *follower) record(rec bench.Record) error {
	switch rec.Event.(type) {
	case bench.RunStarted:
		l.ended = false
	case bench.RunEnded:
		l.ended = true
	}
	if rec.Seq <= l.from {
		return nil
	}
	l.batch = append(l.batch, rec)
	if len(l.batch) == followBatch {
		return l.flush()
	}
	return nil
}

func (l *follower) flush() error {
	if len(l.batch) == 0 {
		return nil
	}
	batch := l.batch
	l.batch = nil // whoever has it may keep it
	return l.handle(batch)
}

// finish ends the reading of a log that nobody writes to any more. A last line without its end may
// be whole all the same.
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
