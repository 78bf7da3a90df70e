package worker

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/safe"
)

func TestStandardErrorIsBounded(t *testing.T) {
	s, _ := newSession()
	for i := range 5000 {
		fmt.Fprintf(s.stderr, "warning %d\n", i)
	}
	fmt.Fprint(s.stderr, strings.Repeat("x", 3*safe.MaxLine))
	s.await(ending{})
	_, got := s.Wait()
	if n := strings.Count(got, "\n"); n != stderrLines || len(got) > stderrLines*20+safe.MaxLine || !strings.Contains(got, "\nwarning 4999\nxxx") {
		t.Errorf("%d lines, %d bytes: %.40q", n, len(got), got)
	}
}

func TestSendNeverWaits(t *testing.T) {
	s, _ := newSession()
	s.child = started{}
	var err error
	for range sessionQueue + 1 {
		err = errors.Join(err, s.Send(bench.Control{Kind: bench.ControlPause}))
	}
	testenv.Fails(t, err, "the run is not responding to controls")
	testenv.Check(t, s.Send(bench.Control{Kind: "dance"}) != nil, "an unknown control is sent")
}
