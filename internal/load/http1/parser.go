// Package http1 reads responses of HTTP/1.1 and 1.0, for both engines.
package http1

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"strings"

	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/text/unpack"
)

// Reasons to refuse a response. Most are errors in net/http, too; FuzzResponseParser lists the
// safer refusals.
var (
	errStatusLine   = errors.New("malformed HTTP response: no status line")
	errVersion      = errors.New("malformed HTTP version: must be HTTP/1.0 or HTTP/1.1")
	errStatusCode   = errors.New("malformed HTTP status code")
	errHeader       = errors.New("malformed header of the response")
	errContinued    = errors.New("malformed header of the response: continuation line")
	errHeadTooLong  = errors.New("headers of the response over 1048576 bytes")
	errLength       = errors.New("bad Content-Length")
	errLengths      = errors.New("Content-Length headers differ")
	errEncoding     = errors.New("unsupported transfer encoding")
	errTrailerKey   = errors.New("bad trailer key")
	errInterim      = errors.New("more than 8 interim responses")
	errChunk        = wire.BodyError{Err: errors.New("malformed chunked encoding")}
	errChunkTooLong = wire.BodyError{Err: errors.New("chunked encoding contains too much non-data")}
	errTrailer      = wire.BodyError{Err: errors.New("malformed trailer")}
	errTrailerLong  = wire.BodyError{Err: errors.New("trailer of the response over 2048 bytes")}
)

const (
	maxChunkLine = 4096 // the limit of net/http
	maxTrailer   = 2048
	maxExcess    = 16 << 10 // of chunked encoding, the limit of net/http
)

// stage is the part of a response that is read next.
type stage uint8

const (
	stageStatus stage = iota
	stageHeader
	stageLength  // a body of known length
	stageClose   // a body that ends with the connection
	stageChunk   // a line with the size of a chunk
	stageData    // the data of a chunk
	stageDataEnd // the line end after a chunk
	stageTrailer
)

// Parser reads a response in pieces of any size, and keeps at most an unfinished line. It accepts
// what net/http accepts, with the same result, or refuses it. It allocates only for lines that
// arrive in pieces.
type Parser struct {
	req    *workload.Request // its expected statuses need no example
	known  uint8             // status classes that already have an example, as bits
	line   []byte            // the start of an unfinished line
	note   *note             // text of an example; nil: not needed
	Keep   bool              // keep header lines in Header, and as much of the body in Body as is checked
	links  bool              // keep those header lines that set cookies or say where to go next
	Header []byte
	Body   []byte
	response
}

// response is the state of one response.
type response struct {
	stage   stage
	http10  bool
	Close   bool // the connection is not used again
	alive   bool // HTTP/1.0 with "Connection: keep-alive"
	chunked bool
	length  bool  // there was a Content-Length
	digits  uint8 // number of digits of the Content-Length
	codings uint8 // number of Transfer-Encoding headers
	trailer bool  // a Trailer header had a forbidden key
	interim uint8 // number of interim responses so far
	Status  int
	head    int    // bytes of the head, or of the trailer
	size    int64  // Content-Length
	left    uint64 // bytes to come of the body or the chunk
	excess  int64  // bytes of chunk lines over what net/http permits
	Bytes   int64  // bytes of the body so far
}

// note collects the example of an unexpected response.
type note struct {
	text, body []byte
	encodings  []byte // Content-Encoding
}

// Reset prepares the parser for the response to a request.
func (p *Parser) Reset(req *workload.Request, known uint8) {
	p.req, p.known, p.note = req, known, nil
	p.line, p.Keep, p.links, p.Header = p.line[:0], false, false, p.Header[:0]
	p.response = response{}
}

// KeepAll makes the parser keep the whole response.
func (p *Parser) KeepAll() {
	p.Keep, p.Header, p.Body = true, p.Header[:0], p.Body[:0]
}

// KeepLinks makes the parser keep the header lines Set-Cookie and Location.
func (p *Parser) KeepLinks() { p.links = true }

// Kept reports whether there is something in the response that it was made to keep.
func (p *Parser) Kept() bool { return p.Keep || len(p.Header) > 0 }

// Feed parses b. It returns how many bytes belong to the response, and whether that is complete.
func (p *Parser) Feed(b []byte) (n int, done bool, err error) {
	for n < len(b) {
		rest := b[n:]
		switch p.stage {
		case stageLength, stageClose, stageData:
			m, done := p.data(rest)
			n += m
			if done {
				return n, true, nil
			}
			continue
		}
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			if err := p.tooLong(len(p.line) + len(rest)); err != nil {
				return n, false, err
			}
			p.line = append(p.line, rest...)
			return len(b), false, nil
		}
		line := rest[:i+1]
		n += i + 1
		if len(p.line) > 0 {
			p.line = append(p.line, line...)
			line = p.line
		}
		if err := p.tooLong(len(line)); err != nil {
			return n, false, err
		}
		done, err := p.take(line)
		if len(p.line) > 0 {
			p.line = p.line[:0]
			if cap(p.line) > 4096 {
				p.line = nil // do not hold memory for a hostile contender
			}
		}
		if done || err != nil {
			return n, done, err
		}
	}
	return n, false, nil
}

// EOF returns whether the end of the connection completes the response, or an error.
func (p *Parser) EOF() (done bool, err error) {
	switch {
	case p.stage == stageClose:
		return true, nil
	case p.stage == stageStatus && len(p.line) == 0:
		return false, wire.ErrClosed
	case p.stage <= stageHeader:
		return false, wire.ErrClosedInHead
	}
	return false, wire.ErrClosedInBody
}

// NothingReceived reports whether no byte of a response has come.
func (p *Parser) NothingReceived() bool {
	return p.stage == stageStatus && p.interim == 0 && len(p.line) == 0
}

// tooLong returns an error if a line of n bytes exceeds the limit of its stage.
func (p *Parser) tooLong(n int) error {
	switch p.stage {
	case stageStatus, stageHeader:
		if p.head+n > wire.MaxHead {
			return errHeadTooLong
		}
	case stageChunk:
		if n > maxChunkLine {
			return errChunk
		}
	case stageDataEnd:
		if n > 2 {
			return errChunk
		}
	case stageTrailer:
		if p.head+n > maxTrailer {
			return errTrailerLong
		}
	}
	return nil
}

// data reads what b has of the body.
func (p *Parser) data(b []byte) (n int, done bool) {
	n = len(b)
	if p.stage != stageClose && uint64(n) > p.left {
		n = int(p.left)
	}
	p.Bytes += int64(n)
	if p.note != nil {
		p.note.add(b[:n])
	}
	if p.Keep && p.Bytes <= workload.MaxChecked {
		p.Body = append(p.Body, b[:n]...)
	}
	if p.stage == stageClose {
		return n, false
	}
	p.left -= uint64(n)
	if p.left > 0 {
		return n, false
	}
	if p.stage == stageLength {
		return n, true
	}
	p.stage = stageDataEnd
	return n, false
}

// take parses a whole line with its end.
func (p *Parser) take(line []byte) (done bool, err error) {
	switch p.stage {
	case stageStatus:
		p.head += len(line)
		return false, p.statusLine(trimEnd(line))
	case stageHeader:
		p.head += len(line)
		text := trimEnd(line)
		if len(text) == 0 {
			return p.endOfHead()
		}
		if p.Keep {
			p.Header = append(p.Header, line...)
		}
		return false, p.headerLine(text)
	case stageChunk:
		return false, p.chunkLine(line)
	case stageDataEnd:
		if len(line) != 2 || line[0] != '\r' {
			return false, errChunk
		}
		p.stage = stageChunk
		return false, nil
	default: // stageTrailer
		p.head += len(line)
		if len(line) < 2 || line[len(line)-2] != '\r' {
			return false, errTrailer // net/http looks for CRLF CRLF before it parses the trailer
		}
		if line = line[:len(line)-2]; len(line) == 0 {
			return true, nil
		}
		if _, _, err := field(line); err != nil {
			return false, errTrailer
		}
		return false, nil
	}
}

// trimEnd cuts off the line end.
func trimEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// chunkLine reads the size of the next chunk.
func (p *Parser) chunkLine(line []byte) error {
	n := len(line) - 2
	if n < 0 || bytes.IndexByte(line, '\r') != n {
		return errChunk
	}
	line = line[:n]
	p.excess += int64(n) + 2
	for n > 0 && (line[n-1] == ' ' || line[n-1] == '\t') {
		n--
	}
	line = line[:n]
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	if len(line) == 0 || len(line) > 15 { // net/http accepts 16 digits, which no body needs
		return errChunk
	}
	var size uint64
	for _, c := range line {
		switch {
		case digit(c):
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return errChunk
		}
		size = size<<4 | uint64(c)
	}
	p.excess = max(p.excess-16-2*int64(min(size, math.MaxInt64/4)), 0)
	if p.excess > maxExcess {
		return errChunkTooLong
	}
	p.left, p.stage = size, stageData
	if size == 0 {
		p.stage, p.head = stageTrailer, 0
	}
	return nil
}

// add appends the start of the body.
func (n *note) add(b []byte) {
	most := wire.MaxSample
	if len(n.encodings) > 0 {
		most = wire.MaxPacked
	}
	n.body = append(n.body, b[:min(len(b), max(0, most-len(n.body)))]...)
}

// Example returns the text that represents an unexpected response.
func (p *Parser) Example() string {
	if p.note == nil {
		return http.StatusText(p.Status)
	}
	body := unpack.Sample(p.note.encodings, p.note.body, p.Bytes, wire.MaxSample)
	return wire.Example(strings.TrimSpace(string(p.note.text) + body))
}

// GaveUp reports whether the contender gave up waiting for a request (status 408) and ends the
// connection: a request that was on its way meanwhile may be sent again.
func (p *Parser) GaveUp() bool {
	return p.Status == http.StatusRequestTimeout && p.Close && !p.req.Expects(p.Status)
}

// Response returns what the parser was made to keep.
func (p *Parser) Response() workload.Response {
	return workload.Response{Status: p.Status, Head: p.Header, Body: p.Body, Cut: p.Bytes > workload.MaxChecked}
}
