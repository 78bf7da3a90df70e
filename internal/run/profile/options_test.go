package profile_test

import (
	"fmt"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// TestParse_Options: what an option becomes, which a profile that is written and read again keeps.
func TestParse_Options(t *testing.T) {
	const rest = "\ncontenders: [a]\nsteps: [3]\n"
	const plain, expects = "\nrequests: [{path: /x}]" + rest, "\nrequests: [{path: /x, expect: {present: [id]}}]" + rest
	isolation := func(p bench.Profile) string { return p.Isolation }
	protocol := func(p bench.Profile) string { return string(p.Protocol) }
	// The default of compare_bodies may cost 1% of a CPU, a share that the user chose any time.
	compared := func(p bench.Profile) string { return fmt.Sprintf("%g, bounded: %t", p.CompareBodies, p.CompareBounded) }
	first := func(p bench.Profile) string { return fmt.Sprint(p.FirstRequests) }
	rejected := func(p bench.Profile) string { return fmt.Sprint(p.Requests[0].Rejections()) }
	success := func(text string) string { return "requests: [{get: /, " + text + "}]" + rest }
	for _, c := range []struct {
		text string
		of   func(bench.Profile) string
		want string
	}{
		{plain, isolation, ""},
		{"isolation: auto" + plain, isolation, ""},
		{"isolation: off" + plain, isolation, bench.IsolationOff},
		{"isolation: 'off'" + plain, isolation, bench.IsolationOff},
		{plain, protocol, ""},
		{"protocol: http/1.1" + plain, protocol, ""},
		{"protocol: http/2" + plain, protocol, string(bench.HTTP2)},
		{plain, compared, "0, bounded: false"},
		{expects, compared, "0.01, bounded: true"},
		{"compare_bodies: 1%" + expects, compared, "0.01, bounded: false"},
		{"compare_bodies: 100%" + expects, compared, "1, bounded: false"},
		{"compare_bodies: none" + expects, compared, "0, bounded: false"},
		{plain, first, "<nil>"},
		{"first_requests: {requests: 10}" + plain, first, "&{10}"},
		{success("expect: {status: [200, 429]}"), rejected, "[429]"},
		{success("expect: {status: [200, 429]}, success: [200, 429]"), rejected, "[]"},
		{success("expect: {status: [200, 404, 429]}, success: [200]"), rejected, "[404 429]"},
		{success("expect: {status: 404}"), rejected, "[]"},
	} {
		p, err := profile.Parse("x.yaml", []byte(c.text))
		testenv.OK(t, err)
		testenv.Equal(t, c.of(p), c.want, c.text)
		roundTrip(t, p)
	}
}
