package wire

import (
	"fmt"
	"io"
	"time"
)

// Bounds on opening connections and on answers; the contender is hostile.
const (
	MaxHead    = 1 << 20 // bytes of status line and headers of an answer
	MaxSample  = 120     // of the body of an unwanted answer, for its example
	MaxInterim = 8       // 1xx answers before the real one
	Dialers    = 64      // connections being opened at the same time before the step
	DialTime   = 3 * time.Second
)

// The ends of a connection before those of an answer.
var (
	ErrClosed       = fmt.Errorf("the contender closed the connection before the whole answer was there: %w", io.ErrUnexpectedEOF)
	ErrClosedInBody = BodyError{ErrClosed}
)

// BackOff is how long a connection waits after failures attempts in a row to open it.
func BackOff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures-1, 10), 100*time.Millisecond)
}
