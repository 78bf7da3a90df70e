package load

import (
	"errors"

	"locbench/internal/load/fast"
)

// FastApplies returns why engine fast cannot load a contender over TLS or HTTP/2, or on this
// system; nil if it can.
func FastApplies(tls, http2 bool) error {
	switch {
	case tls:
		return errors.New("it has no TLS")
	case http2:
		return errors.New("it has no HTTP/2")
	}
	return fast.Has(false)
}
