package load

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"unicode"

	"locbench/internal/bench"
)

// maxExample bounds the text of an example, in bytes.
const maxExample = 240

// bodyError marks an error met in the body of an answer, behind complete headers.
type bodyError struct{ err error }

func (e bodyError) Error() string { return "body of the answer: " + e.err.Error() }
func (e bodyError) Unwrap() error { return e.err }

// classify tells the kind of a failed exchange.
func classify(err error) bench.ErrorKind {
	var timeout net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return bench.ErrTimeout
	case isAny(err, errnoRefused()):
		return bench.ErrRefused
	case isAny(err, errnoReset()), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return bench.ErrReset
	case isAny(err, errnoClient()):
		return bench.ErrClient
	case errors.As(err, new(bodyError)):
		return bench.ErrBody
	}
	return bench.ErrOther
}

func isAny(err error, list []syscall.Errno) bool {
	for _, errno := range list {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// class is the kind of an answer with another status than the wanted one.
func class(status int) bench.ErrorKind {
	switch status / 100 {
	case 1:
		return "1xx"
	case 2:
		return "2xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	case 5:
		return "5xx"
	}
	return bench.ErrOther
}

// bound makes the text of an example fit for a results file: valid UTF-8 without control characters, of bounded length.
func bound(s string) string {
	if len(s) > maxExample {
		s = s[:maxExample] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
