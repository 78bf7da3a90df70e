//go:build !acceptance

package load

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) {
	const atOnce = 16   // most of them wait
	thread.Tune(atOnce) // a loop keeps a processor while it waits
	testenv.AtOnce(atOnce)
	goleak.VerifyTestMain(m)
}
