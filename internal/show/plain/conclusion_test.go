package plain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
)

// The end of a search in 80 columns: one limit, several, none, the client, unfinished.
func TestConclusion(t *testing.T) {
	one := capacitytest.Service{CPUs: 1, Holds: 1450}
	client, stopped := one, one
	client.Client, stopped.Stop = 900, 4
	var b strings.Builder
	for _, services := range [][]capacitytest.Service{{one}, capacitytest.Several(), {{CPUs: .25}}, {client}, {stopped}} {
		fmt.Fprintf(&b, "=== %+v\n", services)
		testenv.OK(t, Conclusion(&b, capacitytest.Record(services...).Conclude(nil), 80))
	}
	testenv.Golden(t, "testdata/conclusion.txt", b.String())
}
