package worker

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"locbench/internal/bench"
)

func TestTalkIsBounded(t *testing.T) {
	var l lastBytes
	for i := range 5000 {
		fmt.Fprintf(&l, "warning %d\n", i)
	}
	got := l.String()
	if len(got) > stderrBytes+10 || !strings.HasPrefix(got, "…\nwarning ") || !strings.HasSuffix(got, "warning 4999\n") {
		t.Errorf("%d bytes: %.40q … %q", len(got), got, got[len(got)-20:])
	}
	l = lastBytes{}
	if _, err := l.Write([]byte(strings.Repeat("x", 3*stderrBytes))); err != nil || len(l.String()) > stderrBytes+10 {
		t.Errorf("%d bytes, %v", len(l.String()), err)
	}
}

func TestSendNeverWaits(t *testing.T) {
	s, _ := newSession()
	s.child = started{}
	var err error
	for range sessionQueue + 1 {
		err = errors.Join(err, s.Send(bench.Control{Kind: bench.ControlPause}))
	}
	if err == nil || !strings.Contains(err.Error(), "does not listen") {
		t.Errorf("error %v", err)
	}
	if err := s.Send(bench.Control{Kind: "dance"}); err == nil {
		t.Error("an unknown control is sent")
	}
}
