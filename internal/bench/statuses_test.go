package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestRejections(t *testing.T) {
	for name, test := range map[string]struct {
		request Request
		want    string
	}{
		"the default":            {Request{}, "[]"},
		"one":                    {Request{ExpectStatus: 404}, "[]"},
		"below 400":              {Request{ExpectStatus: 200, MoreStatuses: []int{304}}, "[]"},
		"one from 400 on":        {Request{ExpectStatus: 200, MoreStatuses: []int{429}}, "[429]"},
		"400 itself":             {Request{ExpectStatus: 200, MoreStatuses: []int{400}}, "[400]"},
		"the first from 400 on":  {Request{ExpectStatus: 429, MoreStatuses: []int{200, 503}}, "[429 503]"},
		"all from 400 on":        {Request{ExpectStatus: 404, MoreStatuses: []int{410}}, "[]"},
		"all named":              {Request{ExpectStatus: 200, MoreStatuses: []int{429}, Success: []int{200, 429}}, "[]"},
		"one named":              {Request{ExpectStatus: 200, MoreStatuses: []int{404, 429}, Success: []int{200, 404}}, "[429]"},
		"not all below 400":      {Request{ExpectStatus: 200, MoreStatuses: []int{202}, Success: []int{200}}, "[202]"},
		"one named from 400 on":  {Request{ExpectStatus: 404, MoreStatuses: []int{410}, Success: []int{410}}, "[404]"},
		"the default and others": {Request{MoreStatuses: []int{429}}, "[429]"},
	} {
		if got := fmt.Sprint(test.request.Rejections()); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestRejectedRequestsAreNoErrors(t *testing.T) {
	l := Load{Succeeded: 1400, Lead: 49, Failed: map[ErrorKind]int64{ErrTimeout: 3}, Rejected: Statuses{429: 5798},
		Statuses: Statuses{200: 1449, 429: 5798}}
	if got, want := l.Ended(), int64(7250); got != want {
		t.Errorf("%d ended, want %d", got, want)
	}
	if got, want := l.ErrorRate(), 3./7250; math.Abs(got-want) > 1e-12 {
		t.Errorf("error rate %g, want %g", got, want)
	}
	if got, want := l.RejectedWords(), "rejected 80% of requests (429)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	testenv.Equal(t, (Load{Succeeded: 1}).RejectedWords(), "", "none rejected")
	// Rejected responses are not compared: the share of unexpected bodies is of the others.
	l.Failed, l.Checked = map[ErrorKind]int64{ErrWrong: 10}, 100
	if got, want := l.ErrorRate(), .1*1459/7257; math.Abs(got-want) > 1e-12 {
		t.Errorf("error rate %g with unexpected bodies, want %g", got, want)
	}
	l.Failed, l.Dropped = nil, 7247
	testenv.Equal(t, l.ErrorRateWithDropped(), .5, "error rate")
	everything := Load{Rejected: Statuses{429: 10}}
	testenv.Equal(t, everything.ErrorRate(), 0, "error rate")
}

func TestStatusesAsText(t *testing.T) {
	for want, s := range map[string]Statuses{
		"200: 1,449, 429: 5,798": {429: 5798, 200: 1449},
		"200: 9":                 {200: 9},
		"":                       nil,
		"200: 9, 201: 9, 202: 9, 203: 9, 204: 9, 599: 10, 2 more": {599: 10, 200: 9, 201: 9, 202: 9, 203: 9, 204: 9, 205: 8, 206: 8},
	} {
		testenv.Equal(t, s.String(), want)
	}
	data, err := json.Marshal(Load{Statuses: Statuses{429: 2, 200: 1}}.Statuses)
	if want := `{"200":1,"429":2}`; err != nil || string(data) != want {
		t.Errorf("%s %v, want %s", data, err, want)
	}
}
