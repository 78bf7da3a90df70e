package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
)

// checkGeometry looks at the header of a compressed histogram before the library takes memory for
// what it announces.
func checkGeometry(raw []byte) error {
	const prefix = 8 // cookie and compressed length
	if len(raw) < prefix {
		return fmt.Errorf("only %d bytes", len(raw))
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[prefix:]))
	if err != nil {
		return err
	}
	defer z.Close()
	var h header
	if err := binary.Read(io.LimitReader(z, int64(binary.Size(h))), binary.BigEndian, &h); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return h.check()
}

// header is the start of an uncompressed V2 histogram.
type header struct {
	Cookie, PayloadLength, NormalizingOffset, Figures int32
	Lowest, Highest                                   int64
	Ratio                                             float64
}

func (h header) check() error {
	// With 3 figures or fewer the whole int64 range needs less than half a megabyte of counters.
	if h.Figures < 1 || h.Figures > figures {
		return fmt.Errorf("%d significant figures, 1 to %d are read", h.Figures, figures)
	}
	if h.Lowest != 1 || h.Highest < 2 {
		return fmt.Errorf("range %d to %d ns, it must start at 1", h.Lowest, h.Highest)
	}
	return nil
}
