package http1

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/http"

	"golang.org/x/net/http/httpguts"

	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

func (p *Parser) statusLine(line []byte) error {
	const prefix = "HTTP/1."
	space := bytes.IndexByte(line, ' ')
	switch {
	case space < 0:
		return errStatusLine
	case space != len(prefix)+1 || string(line[:len(prefix)]) != prefix || !digit(line[len(prefix)]):
		return errVersion
	}
	p.http10 = line[len(prefix)] == '0'
	rest := line[space+1:]
	for len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	if len(rest) < 3 || !digit(rest[0]) || !digit(rest[1]) || !digit(rest[2]) || len(rest) > 3 && rest[3] != ' ' {
		return errStatusCode
	}
	p.Status = int(rest[0]-'0')*100 + int(rest[1]-'0')*10 + int(rest[2]-'0')
	p.stage = stageHeader
	if !p.req.Expects(p.Status) && !p.req.Follows(p.Status) && p.known&ClassBit(p.Status) == 0 && !p.isInterim() {
		p.note = &note{text: bytes.Clone(rest[:min(len(rest), wire.MaxExample)])}
		if len(rest) > wire.MaxExample {
			p.note.text = append(p.note.text, wire.CutMark...)
		}
		p.note.text = append(p.note.text, ' ')
	}
	return nil
}

func (p *Parser) isInterim() bool { return p.Status < 200 && p.Status != http.StatusSwitchingProtocols }

// ClassBit returns the bit of a status in the known classes of Reset.
func ClassBit(status int) uint8 {
	if status < 100 || status > 599 {
		return 1
	}
	return 1 << (status / 100)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// headerLine reads the headers that determine the body and the end of the connection.
func (p *Parser) headerLine(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		return errContinued
	}
	key, value, err := field(line)
	if err != nil {
		return err
	}
	switch len(key) {
	case len("Location"):
		if (p.links || p.note != nil) && equalFold(key, "location") {
			p.link(line)
			if p.note != nil {
				p.note.text = append(p.note.text, workload.RedirectHint(p.Status, trimBlanks(value))...)
			}
		}
	case len("Content-Length"):
		if equalFold(key, "content-length") {
			return p.contentLength(trimBlanks(value))
		}
	case len("Transfer-Encoding"):
		if equalFold(key, "transfer-encoding") {
			p.codings = min(p.codings, 200) + 1
			p.chunked = equalFold(trimBlanks(value), "chunked")
		}
	case len("Content-Encoding"):
		if p.note != nil && equalFold(key, "content-encoding") {
			p.note.encodings = append(p.note.encodings, append(bytes.Clone(trimBlanks(value)), ',')...)
		}
	case len("Connection"):
		if p.links && equalFold(key, "set-cookie") {
			p.link(line)
		}
		if equalFold(key, "connection") {
			p.Close = p.Close || hasToken(value, "close")
			p.alive = p.alive || hasToken(value, "keep-alive")
		}
	case len("Trailer"):
		if equalFold(key, "trailer") {
			p.trailer = p.trailer || hasToken(value, "transfer-encoding") || hasToken(value, "trailer") ||
				hasToken(value, "content-length")
		}
	}
	return nil
}

// link keeps a header line, unless all are kept.
func (p *Parser) link(line []byte) {
	if p.links && !p.Keep {
		p.Header = append(append(p.Header, line...), '\r', '\n')
	}
}

func (p *Parser) contentLength(value []byte) error {
	if len(value) == 0 || len(value) > 200 {
		return errLength
	}
	var n int64
	for _, c := range value {
		if !digit(c) || n > (math.MaxInt64-int64(c-'0'))/10 {
			return errLength
		}
		n = 10*n + int64(c-'0')
	}
	// net/http compares the texts: equal ones have as many digits and the same value.
	if p.length && (p.size != n || p.digits != uint8(len(value))) {
		return errLengths
	}
	p.length, p.size, p.digits = true, n, uint8(len(value))
	return nil
}

// endOfHead decides how the body is framed.
func (p *Parser) endOfHead() (done bool, err error) {
	chunked := false
	if p.codings > 0 && !p.http10 {
		if p.codings > 1 || !p.chunked {
			return false, errEncoding
		}
		chunked = true
	}
	if chunked && p.trailer {
		return false, errTrailerKey
	}
	if p.isInterim() {
		if p.interim++; p.interim > wire.MaxInterim {
			return false, errInterim
		}
		p.response, p.Header = response{interim: p.interim}, p.Header[:0]
		return false, nil
	}
	if p.http10 && !p.alive {
		p.Close = true
	}
	if p.Status == http.StatusSwitchingProtocols {
		p.Close = true
	}
	switch {
	case p.req.IsHead, p.Status < 200, p.Status == http.StatusNoContent, p.Status == http.StatusNotModified:
		return true, nil
	case chunked:
		p.stage, p.head = stageChunk, 0
	case p.length:
		if p.size == 0 {
			return true, nil
		}
		p.stage, p.left = stageLength, uint64(p.size)
	default:
		p.stage, p.Close = stageClose, true
	}
	return false, nil
}

// field splits a header into its name and its value, which may be surrounded by blanks.
func field(line []byte) (key, value []byte, err error) {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return nil, nil, errHeader
	}
	key, value = line[:colon], line[colon+1:]
	for _, c := range key {
		if !httpguts.IsTokenRune(rune(c)) {
			return nil, nil, errHeader
		}
	}
	if hasControls(value) {
		return nil, nil, errHeader
	}
	return key, value, nil
}

func trimBlanks(b []byte) []byte { return bytes.Trim(b, " \t") }

// hasControls reports whether b has a control character but tabs. It screens 8 bytes at a time.
func hasControls(b []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		del := x ^ 0x7f*ones
		if (x-0x20*ones)&^x&tops|(del-ones)&^del&tops != 0 && anyControl(b[:8]) {
			return true
		}
		b = b[8:]
	}
	return anyControl(b)
}

func anyControl(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// hasToken reports whether the comma-separated list has token, which is in lower case.
func hasToken(value []byte, token string) bool {
	for len(value) > 0 {
		word := value
		if i := bytes.IndexByte(value, ','); i >= 0 {
			word, value = value[:i], value[i+1:]
		} else {
			value = nil
		}
		if equalFold(trimBlanks(word), token) {
			return true
		}
	}
	return false
}

// equalFold compares ASCII letters regardless of case; small is in lower case.
func equalFold(b []byte, small string) bool {
	if len(b) != len(small) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != small[i] {
			return false
		}
	}
	return true
}
