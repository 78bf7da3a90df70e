package locations

import (
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// flushAfter is how long a line of the request log may wait, so that one write carries the lines of many requests.
	flushAfter = 50 * time.Millisecond
	flushSize  = 32 << 10
	// maxURI bounds how much of a request's path and query is logged, in bytes.
	maxURI = 2 << 10
)

// lineLog writes lines to an io.Writer: those of requests in batches, all others at once. It is safe for concurrent use.
type lineLog struct {
	mu    sync.Mutex
	w     io.Writer
	buf   []byte
	timer *time.Timer // runs while lines wait
}

func newLog(w io.Writer) *lineLog {
	l := &lineLog{w: w, buf: make([]byte, 0, flushSize+4<<10)}
	l.timer = time.AfterFunc(time.Hour, l.flush)
	l.timer.Stop()
	return l
}

// request logs "2026-01-02T15:04:05.000Z GET /city/v1/get?id=1 200 1.234ms".
func (l *lineLog) request(r *http.Request, status int, start, end time.Time) {
	uri := r.RequestURI
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) == 0 {
		l.timer.Reset(flushAfter)
	}
	l.buf = appendTime(l.buf, end)
	l.buf = append(l.buf, r.Method...)
	l.buf = append(l.buf, ' ')
	l.buf = append(l.buf, uri[:min(len(uri), maxURI)]...)
	l.buf = append(l.buf, ' ')
	l.buf = strconv.AppendInt(l.buf, int64(status), 10)
	l.buf = append(l.buf, ' ')
	l.buf = strconv.AppendFloat(l.buf, float64(end.Sub(start).Microseconds())/1000, 'f', 3, 64)
	l.buf = append(l.buf, "ms\n"...)
	if len(l.buf) >= flushSize {
		l.flushLocked()
	}
}

// printf logs a line of another kind and writes it without delay.
func (l *lineLog) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = appendTime(l.buf, time.Now())
	l.buf = fmt.Appendf(l.buf, format, args...)
	l.buf = append(l.buf, '\n')
	l.flushLocked()
}

// Write makes lineLog the destination of a standard logger, whose every line is one Write.
func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(appendTime(l.buf, time.Now()), p...)
	l.flushLocked()
	return len(p), nil
}

// std is the log for packages that want one of the standard library.
func (l *lineLog) std() *stdlog.Logger { return stdlog.New(l, "", 0) }

func (l *lineLog) close() { l.flush() }

func (l *lineLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushLocked()
}

func (l *lineLog) flushLocked() {
	l.timer.Stop()
	if len(l.buf) > 0 {
		_, _ = l.w.Write(l.buf) // there is nowhere to tell that the log cannot be written
		l.buf = l.buf[:0]
	}
}

func appendTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z ")
}
