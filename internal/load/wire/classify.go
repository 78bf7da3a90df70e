// Package wire is what the loops of the client share about connections: to where they are opened,
// which are kept from step to step, what bounds their answers, and which kinds of failure there
// are.
package wire

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

// MaxExample bounds the text of an example, in bytes.
const MaxExample = 240

// BodyError marks an error met in the body of an answer, behind complete headers.
type BodyError struct{ Err error }

// Error names the body.
func (e BodyError) Error() string { return "body of the answer: " + e.Err.Error() }

// Unwrap is what was met.
func (e BodyError) Unwrap() error { return e.Err }

// Classify tells the kind of a failed exchange.
func Classify(err error) bench.ErrorKind {
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
	case errors.As(err, new(BodyError)):
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

// Class is the kind of an answer with another status than the wanted one.
func Class(status int) bench.ErrorKind {
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

// Example makes a text fit to be an example in a results file: valid UTF-8 without control
// characters, of bounded length.
func Example(s string) string {
	if len(s) > MaxExample {
		s = s[:MaxExample] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
