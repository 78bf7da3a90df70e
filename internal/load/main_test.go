//go:build !acceptance

package load

import (
	"testing"

	"go.uber.org/goleak"

	"locbench/internal/goruntime"
	"locbench/internal/testenv"
)

func TestMain(m *testing.M) {
	goruntime.Start(0) // as every process that drives load
	testenv.AtOnce(8)  // most of them wait for time-outs
	goleak.VerifyTestMain(m)
}
