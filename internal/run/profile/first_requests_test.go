package profile

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestFirstRequests(t *testing.T) {
	const rest = "contenders: [a]\nrequests: [{path: /}]\nsteps: [1]\n"
	p, err := Parse("x.yaml", []byte(rest+"first_requests: {requests: 10}\n"))
	if err != nil || p.FirstRequests == nil || *p.FirstRequests != (bench.FirstRequestsSpec{Requests: 10}) {
		t.Fatalf("%+v, %v", p.FirstRequests, err)
	}
	text, err := Format(p)
	testenv.OK(t, err)
	if again, err := Parse("x.yaml", text); err != nil || again.FirstRequests == nil || *again.FirstRequests != *p.FirstRequests {
		t.Errorf("%s is read back as %+v, %v", text, again.FirstRequests, err)
	}
	if p, err := Parse("x.yaml", []byte(rest)); err != nil || p.FirstRequests != nil {
		t.Errorf("without: %+v, %v", p.FirstRequests, err)
	}
}
