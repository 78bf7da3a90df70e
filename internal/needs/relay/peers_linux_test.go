package relay

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestListen_BeforeTheBridge: the address of a bridge that does not exist yet can be listened at.
func TestListen_BeforeTheBridge(t *testing.T) {
	l := testenv.Must(Listen("192.0.2.9:0"))(t)
	testenv.Contains(t, l.Addr().String(), "192.0.2.9:")
	testenv.OK(t, l.Close())
	testenv.OK(t, testenv.Must(Listen("[::1]:0"))(t).Close())
}
