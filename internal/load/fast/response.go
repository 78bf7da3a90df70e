package fast

import (
	"bytes"
	"errors"
	"math"

	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// What a response can be refused for. Most are mistakes for net/http, too; those it lets pass are
// the safer refusals that FuzzResponseParser lists.
var (
	errStatusLine   = errors.New("malformed HTTP response: no status line")
	errVersion      = errors.New("malformed HTTP version: it must be HTTP/1.0 or HTTP/1.1")
	errStatusCode   = errors.New("malformed HTTP status code")
	errHeader       = errors.New("malformed header of the response")
	errContinued    = errors.New("malformed header of the response: a line that continues the one before")
	errHeadTooLong  = errors.New("headers of the response over 1048576 bytes")
	errLength       = errors.New("bad Content-Length")
	errLengths      = errors.New("several Content-Length headers that differ")
	errEncoding     = errors.New("unsupported transfer encoding")
	errTrailerKey   = errors.New("bad trailer key")
	errInterim      = errors.New("more than 8 interim answers")
	errChunk        = wire.BodyError{Err: errors.New("malformed chunked encoding")}
	errChunkTooLong = wire.BodyError{Err: errors.New("chunked encoding contains too much non-data")}
	errTrailer      = wire.BodyError{Err: errors.New("malformed trailer")}
	errTrailerLong  = wire.BodyError{Err: errors.New("trailer of the response over 2048 bytes")}
)

const (
	maxChunkLine = 4096 // as net/http has it
	maxTrailer   = 2048
	maxExcess    = 16 << 10 // of chunked encoding, as net/http has it
)

// part of a response that is read next.
type stage uint8

const (
	stageStatus stage = iota
	stageHeader
	stageLength  // a body of known length
	stageClose   // a body that ends with the connection
	stageChunk   // a line with the size of a chunk
	stageData    // of a chunk
	stageDataEnd // the line end after it
	stageTrailer
)

// parser reads answers as they come in, in pieces of any size, without keeping more of them than an
// unfinished line. It makes of a stream of bytes what net/http does, or refuses it; it allocates
// only for lines that come in parts.
type parser struct {
	req    *workload.Request // for its wanted statuses no note is taken
	known  uint8             // bits of the classes of status of which there is a note already
	line   []byte            // the beginning of a line whose end has not come yet
	note   *note             // nil: of this answer there is none
	keep   bool              // the header lines, in header, and the body, in body, as far as that is checked at all
	header []byte
	body   []byte
	response
}

// answer is what the parser knows of one answer.
type response struct {
	stage   stage
	http10  bool
	close   bool // the connection is not used again
	alive   bool // HTTP/1.0: "Connection: keep-alive" was there
	chunked bool
	length  bool  // there was a Content-Length
	digits  uint8 // of it
	codings uint8 // Transfer-Encoding headers
	trailer bool  // there was a Trailer header with a forbidden key
	interim uint8 // answers before
	status  int
	head    int    // bytes of the head, or of the trailer
	size    int64  // Content-Length
	left    uint64 // of the body, or of the chunk
	excess  int64  // of chunked encoding
	bytes   int64  // of the body
}

// note is what an example of an unwanted answer is made of.
type note struct {
	text []byte
	body int // bytes of it
}

// reset makes the parser ready for the response to a request.
func (p *parser) reset(req *workload.Request, known uint8) {
	p.req, p.known, p.note = req, known, nil
	p.line, p.keep = p.line[:0], false
	p.response = response{}
}

// keepAll has the whole response kept.
func (p *parser) keepAll() {
	p.keep, p.header, p.body = true, p.header[:0], p.body[:0]
}

// feed takes in b. It returns how much of it belongs to the response, and whether that is complete.
func (p *parser) feed(b []byte) (n int, done bool, err error) {
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
				p.line = nil // not to keep what a hostile contender made big
			}
		}
		if done || err != nil {
			return n, done, err
		}
	}
	return n, false, nil
}

// eof returns what the end of the connection makes of the response.
func (p *parser) eof() (done bool, err error) {
	switch p.stage {
	case stageClose:
		return true, nil
	case stageStatus, stageHeader:
		return false, wire.ErrClosed
	}
	return false, wire.ErrClosedInBody
}

// untouched says that no byte of a response has come.
func (p *parser) nothingReceived() bool {
	return p.stage == stageStatus && p.interim == 0 && len(p.line) == 0
}

// tooLong bounds a line of n bytes with all that belongs to it.
func (p *parser) tooLong(n int) error {
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

// data takes in what b has of the body.
func (p *parser) data(b []byte) (n int, done bool) {
	n = len(b)
	if p.stage != stageClose && uint64(n) > p.left {
		n = int(p.left)
	}
	p.bytes += int64(n)
	if p.note != nil {
		p.note.add(b[:n])
	}
	if p.keep && p.bytes <= workload.MaxChecked {
		p.body = append(p.body, b[:n]...)
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

// take takes in a whole line with its end.
func (p *parser) take(line []byte) (done bool, err error) {
	switch p.stage {
	case stageStatus:
		p.head += len(line)
		return false, p.statusLine(trimEnd(line))
	case stageHeader:
		p.head += len(line)
		if p.keep {
			p.header = append(p.header, line...)
		}
		if line = trimEnd(line); len(line) > 0 {
			return false, p.headerLine(line)
		}
		return p.endOfHead()
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
			return false, errTrailer // net/http looks for CRLF CRLF before it reads it
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

// trimEnd cuts the end of a line off.
func trimEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// chunkLine reads the size of the next chunk.
func (p *parser) chunkLine(line []byte) error {
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
	if len(line) == 0 || len(line) > 15 { // net/http takes sixteen digits, which no body has
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

// add appends the beginning of the body.
func (n *note) add(b []byte) {
	b = b[:min(len(b), wire.MaxSample-n.body)]
	n.text = append(n.text, b...)
	n.body += len(b)
}
