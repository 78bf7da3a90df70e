package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// part is a piece of a request: a text, or what is filled in from a slot of the user.
type part struct {
	kind     partKind
	text     string       // text of partText
	slot     int          // slot of the user
	items    []string     // items of partItem, encoded for this place
	rows     *values.Rows // rows of partCell
	column   int
	encoding encoding
}

type partKind uint8

const (
	partText    partKind = iota
	partAsIs             // a text that net/http does not write
	partNumber           // the slot's number
	partItem             // an item of a list
	partCell             // a cell of a file
	partMade             // the slot's text, unchanged
	partSaved            // the slot's text, encoded
	partJSON             // the slot's JSON
	partNow              // the time
	partUnix             // the time in ms since 1970
	partLength           // length of the body that follows
	partCookies          // the user's cookies, after a text
)

// slot holds a value of a user: a number, which may be the index of an item or a row, or a text.
type slot struct {
	number int64
	text   []byte
	json   []byte // of a saved value, where requests use it as JSON: a text has its quotes
	link   []byte // of a saved value to which a request is sent: its path and query
}

// variable draws values. The lock of the mix guards it.
type variable struct {
	name   string
	key    string // among the variables of a mix
	kind   partKind
	items  []string
	rows   *values.Rows
	first  int64   // first number of partNumber
	pool   []int64 // ids of a data set, for partNumber
	size   int64   // number of values; 0: unlimited
	draw   bench.Draw
	zipf   *rand.Zipf
	next   *int64 // values taken so far, for in_turn and once
	make   bench.Generator
	length int // length of GenerateString
}

// part returns a part that fills in the variable.
func (v *variable) part(slot int, column string, e encoding) (part, error) {
	p := part{kind: v.kind, slot: slot, rows: v.rows, encoding: e}
	for _, item := range v.items {
		p.items = append(p.items, string(e.append(nil, []byte(item))))
	}
	if v.kind == partCell {
		if p.column = v.rows.Column(column); p.column < 0 {
			return p, fmt.Errorf("the file has no column %q", column)
		}
	}
	return p, nil
}

// own returns the variable with a name, and creates it if there is none.
func (m *Mix) own(name string, create func() *variable) *variable {
	if m.variables[name] == nil {
		v := create()
		v.name, v.key = name, name
		if v.next == nil {
			v.next = new(int64)
		}
		m.variables[name] = v
	}
	return m.variables[name]
}

// variable returns a variable of the profile.
func (m *Mix) variable(spec bench.Variable, plan Plan) (*variable, error) {
	var err error
	made := m.own("variable "+spec.Name, func() *variable {
		v := &variable{draw: spec.Draw, items: spec.List, size: int64(len(spec.List)), make: spec.Make}
		v.next = plan.Life.counter(spec.Name)
		switch {
		case spec.Range != nil:
			v.kind, v.first, v.size = partNumber, spec.Range.From, spec.Range.To-spec.Range.From+1
		case spec.File != "":
			v.kind, v.rows = partCell, plan.Rows[spec.File]
			if v.rows == nil {
				err = fmt.Errorf("the file %s was not read", spec.File)
				return v
			}
			v.size = int64(v.rows.Len())
		case spec.Make == bench.GenerateSequence:
			v.kind, v.first, v.draw = partNumber, 1, bench.DrawOnce
		case spec.Make == bench.GenerateNow:
			v.kind = partNow
		case spec.Make == bench.GenerateUnix:
			v.kind = partUnix
		case spec.Make != "":
			v.kind, v.length = partMade, spec.Length
		default:
			v.kind = partItem
		}
		if v.draw == bench.DrawZipf {
			v.zipf = rand.NewZipf(m.rng, spec.Exponent, 1, uint64(max(v.size-1, 0)))
		}
		return v
	})
	made.name = spec.Name
	return made, err
}

// ids returns the variable for {id} of a request: ids of the data set, or a list.
func (m *Mix) ids(spec bench.IDSpec, all []int64, request string) (*variable, error) {
	pool := spec.Fixed
	if len(pool) == 0 {
		pool = all
	}
	if len(pool) == 0 {
		return nil, errors.New("there are no ids")
	}
	draws := map[string]bench.Draw{
		"": bench.DrawRandom, "uniform": bench.DrawRandom, "zipf": bench.DrawZipf, "fixed": bench.DrawInTurn,
	}
	draw, ok := draws[spec.Distribution]
	if !ok {
		return nil, fmt.Errorf("unknown distribution %q: must be fixed, uniform or zipf", spec.Distribution)
	}
	exponent := spec.Exponent
	if exponent == 0 {
		exponent = 1.1
	}
	if draw == bench.DrawZipf && !(exponent > 1) {
		return nil, fmt.Errorf("zipf exponent %g: must be greater than 1", spec.Exponent)
	}
	return m.own("id of "+request, func() *variable {
		v := &variable{kind: partNumber, pool: pool, size: int64(len(pool)), draw: draw}
		if draw == bench.DrawZipf {
			v.zipf = rand.NewZipf(m.rng, exponent, 1, uint64(len(pool)-1))
		}
		return v
	}), nil
}

// take draws a value.
func (v *variable) take(m *Mix, s *slot) error {
	var n int64
	switch {
	case v.kind == partMade:
		s.text = v.generate(m.unique, s.text[:0])
		return nil
	case v.kind == partNow || v.kind == partUnix:
		return nil
	case v.draw == bench.DrawOnce:
		if n = *v.next; v.size > 0 && n >= v.size {
			return &ExhaustedError{Variable: v.name, Values: v.size}
		}
		*v.next++
	case v.draw == bench.DrawInTurn:
		n = *v.next % v.size
		*v.next++
	case v.draw == bench.DrawZipf:
		n = int64(v.zipf.Uint64())
	default:
		n = m.rng.Int64N(v.size)
	}
	switch {
	case v.pool != nil:
		n = v.pool[n]
	case v.kind == partNumber:
		n += v.first
	}
	s.number = n
	return nil
}

// generate appends a random value that is unique in practice.
func (v *variable) generate(rng *rand.Rand, dst []byte) []byte {
	const hex, letters = "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if v.make == bench.GenerateString {
		for range v.length {
			dst = append(dst, letters[rng.IntN(len(letters))])
		}
		return dst
	}
	high, low := rng.Uint64(), rng.Uint64()
	high = high&^0xf000 | 0x4000 // version 4
	low = low&^(3<<62) | 1<<63   // variant 1, RFC 9562
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		word := high
		if i >= 16 {
			word = low
		}
		dst = append(dst, hex[word>>(60-4*(i%16))&15])
	}
	return dst
}

// append appends p to dst for a user.
func (p *part) append(dst []byte, u *User) []byte {
	if p.kind <= partAsIs {
		return append(dst, p.text...)
	}
	s := &u.slots[p.slot]
	switch p.kind {
	case partNumber:
		return strconv.AppendInt(dst, s.number, 10)
	case partItem:
		return append(dst, p.items[s.number]...)
	case partCell:
		return p.encoding.append(dst, p.rows.Cell(int(s.number), p.column))
	case partMade:
		return append(dst, s.text...)
	case partSaved:
		if p.encoding == asLink {
			return append(dst, s.link...)
		}
		return p.encoding.append(dst, s.text)
	case partJSON:
		return append(dst, s.json...)
	case partNow:
		return p.encoding.append(dst, time.Now().UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"))
	case partUnix:
		return strconv.AppendInt(dst, time.Now().UnixMilli(), 10)
	}
	return dst
}

// ExhaustedError says that each value of a variable has been taken once.
type ExhaustedError struct {
	Variable string
	Values   int64
	Where    string // the request or session that needs one more
}

// Error implements error.
func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("%s: variable %q has no value left: all %d were taken; "+
		"give it more values, or write `draw: in_turn`", e.Where, e.Variable, e.Values)
}
