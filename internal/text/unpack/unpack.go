// Package unpack decodes bodies of responses by their Content-Encoding: gzip, deflate, br and zstd,
// several in one header too. What it returns and the memory that it takes are bounded.
package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	maxCodings = 4       // encodings of one body
	maxWindow  = 8 << 20 // bytes that zstd may refer back to (RFC 9659)
	keptBytes  = 256 << 10
)

// Error is why a body was not unpacked.
type Error struct {
	Kind bench.ErrorKind // such as bench.UnreadLong
	text string
}

// Error returns "br body could not be unpacked: …" or "longer than 1 MiB".
func (e *Error) Error() string { return e.text }

// TooLong returns the error of a body that is longer than a number of bytes.
func TooLong(most int) *Error {
	return &Error{bench.UnreadLong, "longer than " + units.Bytes(int64(most))}
}

// Unpacker unpacks one body at a time, of at most most bytes. It keeps decoders and buffers for the
// next body.
type Unpacker struct {
	most       int
	in         bytes.Reader
	out, spare []byte
	gzip       gzip.Reader
	zlib       io.ReadCloser
	flate      io.ReadCloser
	brotli     *brotli.Reader
	zstd       *zstd.Decoder
}

// New returns an Unpacker for bodies of at most most bytes, packed or unpacked.
func New(most int) *Unpacker { return &Unpacker{most: most} }

// Encoding returns the value of all Content-Encoding headers in header lines; nil if there is none.
func Encoding(head []byte) (all []byte) {
	const name = "Content-Encoding"
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		head = rest
		if len(line) <= len(name) || line[len(name)] != ':' || !strings.EqualFold(string(line[:len(name)]), name) {
			continue
		}
		value := bytes.TrimSpace(line[len(name)+1:])
		if all == nil {
			all = value
		} else {
			all = bytes.Join([][]byte{all, value}, []byte{','})
		}
	}
	return all
}

// Body returns a body without its encodings, which are those of a header: "gzip, br". The result is
// valid until the next call. Errors are of type *Error: with TooLong the result is the beginning of
// the body, with any other nil.
func (u *Unpacker) Body(encodings, body []byte) ([]byte, error) {
	out, err := u.begin(encodings, body)
	if why, ok := errors.AsType[*Error](err); ok && why.Kind != bench.UnreadLong {
		out = nil // what has come of a broken body may be wrong
	}
	return out, err
}

// begin returns what Body does, and with any error what could be unpacked.
func (u *Unpacker) begin(encodings, body []byte) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a body must not end what reads it
			out, err = nil, &Error{bench.UnreadBroken, safe.Line(fmt.Sprintf("body could not be unpacked: %v", p), 200)}
		}
	}()
	if cap(u.out) > keptBytes || cap(u.spare) > keptBytes {
		u.out, u.spare = nil, nil
	}
	for n := 0; len(encodings) > 0; {
		i := bytes.LastIndexByte(encodings, ',')
		name := bytes.TrimSpace(encodings[i+1:])
		encodings = bytes.TrimRight(encodings[:max(i, 0)], " ,\t")
		coding := codingOf(name)
		if coding == identity || len(body) == 0 {
			continue
		}
		if n++; coding == unknown || n > maxCodings {
			text := fmt.Sprintf("encoding %q is not gzip, deflate, br or zstd", safe.Line(string(name), 40))
			if n > maxCodings {
				text = fmt.Sprintf("more than %d encodings", maxCodings)
			}
			return nil, &Error{bench.UnreadEncoding, text}
		}
		u.out, u.spare = u.spare, u.out
		if err = u.one(coding, body); err != nil {
			if len(encodings) > 0 {
				return nil, err // of a body that is packed again
			}
			return u.out, err
		}
		body = u.out
	}
	return body, nil
}

// coding is one encoding.
type coding int

const (
	unknown coding = iota
	identity
	gzipped
	deflated
	brotlied
	zstandard
)

var names = [...]string{gzipped: "gzip", deflated: "deflate", brotlied: "br", zstandard: "zstd"}

func codingOf(name []byte) coding {
	is := func(s string) bool { return strings.EqualFold(string(name), s) }
	switch {
	case len(name) == 0 || is("identity"):
		return identity
	case is("gzip") || is("x-gzip"):
		return gzipped
	case is("deflate"):
		return deflated
	case is("br"):
		return brotlied
	case is("zstd"):
		return zstandard
	}
	return unknown
}

// one unpacks one encoding into u.out.
func (u *Unpacker) one(c coding, body []byte) error {
	u.out = u.out[:0]
	u.in.Reset(body)
	var err error
	switch c {
	case gzipped:
		err = u.gunzip()
	case deflated:
		err = u.inflate(body)
	case brotlied:
		if u.brotli == nil {
			u.brotli = brotli.NewReader(&u.in)
		} else {
			err = u.brotli.Reset(&u.in)
		}
		if err == nil {
			err = u.readAll(u.brotli)
		}
	case zstandard:
		err = u.unzstd()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLong):
		return TooLong(u.most)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &Error{bench.UnreadEncoding, "zstd body has a window of more than 8 MiB, which clients refuse"}
	case errors.Is(err, zstd.ErrUnknownDictionary) || errors.Is(err, zlib.ErrDictionary):
		return &Error{bench.UnreadEncoding, names[c] + " body needs a dictionary"}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return &Error{bench.UnreadBroken, names[c] + " body could not be unpacked: it ends too early"}
	}
	return &Error{bench.UnreadBroken, names[c] + " body could not be unpacked: it is broken"}
}

var errLong = errors.New("too long")

// readAll appends what r returns to u.out, at most u.most bytes.
func (u *Unpacker) readAll(r io.Reader) error {
	for {
		if len(u.out) == cap(u.out) {
			if len(u.out) > u.most {
				u.out = u.out[:u.most]
				return errLong
			}
			grown := make([]byte, len(u.out), min(max(4096, 2*cap(u.out)), u.most+1))
			copy(grown, u.out)
			u.out = grown
		}
		n, err := r.Read(u.out[len(u.out):min(cap(u.out), u.most+1)])
		u.out = u.out[:len(u.out)+n]
		switch {
		case len(u.out) > u.most:
			u.out = u.out[:u.most]
			return errLong
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// gunzip reads one member after the other. What follows them is ignored, as browsers do.
func (u *Unpacker) gunzip() error {
	for {
		if err := u.gzip.Reset(&u.in); err != nil {
			return err
		}
		u.gzip.Multistream(false)
		if err := u.readAll(&u.gzip); err != nil {
			return err
		}
		var magic [2]byte
		if n, _ := u.in.Read(magic[:]); n < 2 || magic != [2]byte{0x1f, 0x8b} {
			return nil
		}
		_, _ = u.in.Seek(-2, io.SeekCurrent) // within what was read
	}
}

// inflate reads what browsers take for "deflate": zlib's format, and the same without its header.
func (u *Unpacker) inflate(body []byte) (err error) {
	reader, with := &u.flate, flate.NewReader
	if len(body) >= 2 && body[0]&0x8f == 8 && (int(body[0])<<8|int(body[1]))%31 == 0 {
		reader, with = &u.zlib, func(r io.Reader) (zr io.ReadCloser) {
			zr, err = zlib.NewReader(r)
			return zr
		}
	}
	if *reader == nil {
		*reader = with(&u.in)
	} else {
		err = (*reader).(flate.Resetter).Reset(&u.in, nil)
	}
	if err != nil {
		return err
	}
	return u.readAll(*reader)
}

func (u *Unpacker) unzstd() (err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
	}
	if err = u.zstd.Reset(&u.in); err != nil {
		return err
	}
	return u.readAll(u.zstd)
}

// Sample returns the beginning of a body as text, at most most bytes, from the beginning of the
// body as it came and its size; "…" is where it was cut. What is not text is described: "(800
// bytes, gzip)".
func Sample(encodings, begin []byte, size int64, most int) string {
	text, cut := begin[:min(len(begin), most)], size > int64(min(len(begin), most))
	if len(encodings) > 0 && len(begin) > 0 {
		text, _ = New(most).begin(encodings, begin) // the beginning of a packed body has its end too early
		cut = size > int64(len(begin)) || len(text) >= most
	}
	switch {
	case size > 0 && (len(text) == 0 || !safe.IsText(text)):
	case cut:
		return string(text) + "…"
	default:
		return string(text)
	}
	return "(" + Describe(encodings, "", size) + ")"
}

// Describe returns what a body is that is not shown: "800 bytes of application/json, gzip".
func Describe(encodings []byte, kind string, size int64) string {
	text := units.Count(size) + " bytes"
	if size == 1 {
		text = "1 byte"
	}
	if kind != "" {
		text += " of " + safe.Line(kind, 60)
	}
	if encodings = bytes.Trim(encodings, ", "); len(encodings) > 0 {
		text += ", " + safe.Line(string(encodings), 60)
	}
	return text
}
