//go:build !acceptance

package load

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) {
	thread.Tune(0)    // as in every process that drives load
	testenv.AtOnce(8) // most of them wait for timeouts
	goleak.VerifyTestMain(m)
}
