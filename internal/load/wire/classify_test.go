package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestClassify(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", err)} }
	for _, test := range []struct {
		err  error
		want bench.ErrorKind
	}{
		{dial(errnoRefused()[0]), bench.ErrRefused},
		{dial(errnoReset()[0]), bench.ErrReset},
		{dial(errnoClient()[0]), bench.ErrClient},
		{dial(syscall.EHOSTUNREACH), bench.ErrOther},
		{fmt.Errorf("read: %w", os.ErrDeadlineExceeded), bench.ErrTimeout},
		{context.DeadlineExceeded, bench.ErrTimeout},
		{BodyError{os.ErrDeadlineExceeded}, bench.ErrTimeout},
		{BodyError{io.ErrUnexpectedEOF}, bench.ErrCut},
		{ErrClosedInBody, bench.ErrCut},
		{ErrClosedInHead, bench.ErrCut},
		{ErrClosed, bench.ErrReset},
		{BodyError{errnoReset()[0]}, bench.ErrCut},
		{BodyError{errors.New("malformed chunked encoding")}, bench.ErrBody},
		{io.EOF, bench.ErrReset},
		{x509.UnknownAuthorityError{}, bench.ErrOther},
		{&net.DNSError{Err: "no such host"}, bench.ErrOther},
		{&net.DNSError{Err: "late", IsTimeout: true}, bench.ErrTimeout},
	} {
		testenv.Equal(t, Classify(test.err), test.want, test.err)
	}
	for status, want := range map[int]bench.ErrorKind{100: "1xx", 204: "2xx", 302: "3xx", 404: "4xx", 599: "5xx", 600: bench.ErrOther, 99: bench.ErrOther} {
		testenv.Equal(t, Class(status), want, status)
	}
}

func TestExamplesAreBounded(t *testing.T) {
	for _, s := range []string{"", "a\x00b\x1b[2J\nc\x7f\u009b", strings.Repeat("é", 1000), "x" + strings.Repeat("\xff", 1000)} {
		got := Example(s)
		testenv.Check(t, len(got) <= MaxExample+3 && utf8.ValidString(got) && !strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }),
			"%q became %q", s, got)
	}
}

func TestBackOff(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		1: time.Millisecond, 2: 2 * time.Millisecond, 7: 64 * time.Millisecond, 8: 100 * time.Millisecond, 100: 100 * time.Millisecond,
	} {
		testenv.Equal(t, BackOff(failures), want, failures)
	}
}
