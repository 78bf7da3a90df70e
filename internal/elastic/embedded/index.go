package embedded

import (
	"encoding/json"
	"maps"
	"sync"
)

// index is one index: its documents in the order in which they came, and what finds them.
type index struct {
	name    string
	mapping *mapping
	raw     json.RawMessage // the mapping as it was put

	write sync.Mutex // held by whoever changes documents or refreshes; taken before mu

	mu       sync.RWMutex // of all below
	closed   bool
	settings map[string]json.RawMessage
	docs     []stored
	byID     map[string]uint32
	live     int      // documents that are neither replaced nor deleted
	pending  []change // not yet in text
	stale    bool     // something changed since the last refresh
	text     *textIndex
	columns  map[*field]*column
	dead     []uint64 // bit set of the documents that are gone
	view     view
}

type stored struct {
	id      string
	source  []byte
	members []member // of the source's top level: from the key's quote to the value's end
}

// member is one key and value of a source's top level: source[start:end].
type member struct{ start, end uint32 }

// column holds the values of one field by ordinal, for sorting and for shapes.
type column struct {
	longs    []int64
	keywords []string
	places   []place
	vectors  []vector // of places
	shapes   []*shape
	has      []bool
	grid     grid
}

// view is what searches see: the state of the last refresh.
type view struct {
	size int // ordinals below it are seen
	dead []uint64
}

// pendingMax is how many documents wait for the text index at most. Each batch becomes a segment
// that every search has to look through; each document takes memory while it waits.
const pendingMax = 8192

func newIndex(name string, def *definition) (*index, error) {
	text, err := openTextIndex()
	if err != nil {
		return nil, err
	}
	return &index{
		name: name, mapping: def.mapping, raw: def.mappings, settings: def.settings,
		byID: map[string]uint32{}, text: text, columns: map[*field]*column{},
	}, nil
}

func (ix *index) close() error {
	ix.write.Lock()
	defer ix.write.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return nil
	}
	ix.closed = true
	ix.docs, ix.byID, ix.columns, ix.pending = nil, nil, nil, nil
	return ix.text.close()
}

// put is a document to be added, and what has become of it.
type put struct {
	doc     *parsed // nil where err says already that there is none
	create  bool    // an id that exists already is a conflict
	created bool
	err     error
}

// put adds documents in order.
func (ix *index) put(docs []put) {
	ix.write.Lock()
	defer ix.write.Unlock()
	ix.mu.Lock()
	for i := range docs {
		if d := &docs[i]; d.err == nil {
			d.created, d.err = ix.putLocked(d.doc, d.create)
		}
	}
	full := len(ix.pending) >= pendingMax
	ix.mu.Unlock()
	if !full {
		return
	}
	err := ix.flush()
	for i := range docs {
		docs[i].err = errOr(docs[i].err, err)
	}
}

func (ix *index) putLocked(d *parsed, create bool) (created bool, err error) {
	if ix.closed {
		return false, noSuchIndex(ix.name)
	}
	old, exists := ix.byID[d.id]
	if exists && create {
		return false, &apiError{status: 409, kind: "version_conflict_engine_exception", reason: "[" + shorten(d.id) + "]: version conflict, document already exists (current version [1])", index: ix.name}
	}
	if exists {
		ix.kill(old)
	}
	ordinal := uint32(len(ix.docs))
	ix.docs = append(ix.docs, d.stored)
	ix.byID[d.id] = ordinal
	ix.live++
	ix.stale = true
	ix.pending = append(ix.pending, change{ordinal: ordinal, doc: d})
	ix.store(ordinal, d)
	return !exists, nil
}

// kill marks a document as gone; it is seen until the next refresh.
func (ix *index) kill(ordinal uint32) {
	doc := ix.docs[ordinal]
	for uint32(len(ix.dead)) <= ordinal/64 {
		ix.dead = append(ix.dead, 0)
	}
	ix.dead[ordinal/64] |= 1 << (ordinal % 64)
	ix.live--
	ix.stale = true
	// The statistics of the fields have to forget it too, so it is analysed again.
	d, err := ix.mapping.parseDocument(doc.id, doc.source)
	if err != nil {
		d = &parsed{stored: stored{id: doc.id}}
	}
	ix.pending = append(ix.pending, change{ordinal: ordinal, doc: d, gone: true})
}

func (ix *index) remove(id string) (found bool, err error) {
	ix.write.Lock()
	defer ix.write.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return false, noSuchIndex(ix.name)
	}
	ordinal, found := ix.byID[id]
	if found {
		delete(ix.byID, id)
		ix.kill(ordinal)
	}
	return found, nil
}

// store puts the values of a document into the columns.
func (ix *index) store(ordinal uint32, d *parsed) {
	for _, v := range d.longs {
		if c, first := ix.column(v.field, ordinal); first { // of several values the first is kept
			c.longs = set(c.longs, ordinal, v.of)
		}
	}
	for _, v := range d.keywords {
		if v.field.kind == kindLong {
			continue
		}
		if c, first := ix.column(v.field, ordinal); first {
			c.keywords = set(c.keywords, ordinal, v.of)
		}
	}
	for _, v := range d.points {
		if c, first := ix.column(v.field, ordinal); first {
			c.places = set(c.places, ordinal, v.of)
			c.vectors = set(c.vectors, ordinal, vectorOf(v.of.lat(), v.of.lon()))
		}
	}
	for _, v := range d.shapes {
		c, first := ix.column(v.field, ordinal)
		if !first { // several shapes of a field are one
			both := *c.shapes[ordinal]
			both.points = append(both.points, v.of.points...)
			both.polygons = append(both.polygons, v.of.polygons...)
			v.of = &both
		}
		c.shapes = set(c.shapes, ordinal, v.of)
		c.grid.add(ordinal, v.of)
	}
}

// column is that of a field, where the document now has a value, and whether it had none before.
func (ix *index) column(f *field, ordinal uint32) (c *column, first bool) {
	c = ix.columns[f]
	if c == nil {
		c = &column{}
		ix.columns[f] = c
	}
	first = !c.present(ordinal)
	c.has = set(c.has, ordinal, true)
	return c, first
}

// set makes s long enough to hold i, and v its element there.
func set[T any](s []T, i uint32, v T) []T {
	s = append(s, make([]T, max(0, int(i)+1-len(s)))...)
	s[i] = v
	return s
}

// flush hands the pending changes to the text index. The caller holds write, and not mu.
func (ix *index) flush() error {
	ix.mu.Lock()
	if ix.closed {
		ix.mu.Unlock()
		return noSuchIndex(ix.name)
	}
	pending := ix.pending
	ix.pending = nil
	ix.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	return ix.text.batch(pending)
}

// refresh makes all changes visible to searches. It does nothing where there are none.
func (ix *index) refresh() error {
	ix.mu.RLock()
	fresh := !ix.stale && !ix.closed
	ix.mu.RUnlock()
	if fresh {
		return nil
	}
	ix.write.Lock()
	defer ix.write.Unlock()
	if err := ix.flush(); err != nil { // also where the index is closed
		return err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.text.refresh(); err != nil {
		return err
	}
	ix.view = view{len(ix.docs), make([]uint64, (len(ix.docs)+63)/64)}
	copy(ix.view.dead, ix.dead)
	ix.stale = false
	return nil
}

func (ix *index) lookup(id string) (stored, bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	ordinal, ok := ix.byID[id]
	if !ok {
		return stored{}, false
	}
	return ix.docs[ordinal], true
}

func (ix *index) count() int {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.live
}

func (ix *index) changeSettings(body []byte) error {
	var m mistake
	changed := indexSettings(&m, body)
	if m.err != nil {
		return m.err
	}
	if len(changed) > maxFields {
		return badRequest("illegal_argument_exception", "too many settings")
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	settings := maps.Clone(ix.settings)
	for key, v := range changed {
		if string(v) == "null" {
			delete(settings, key)
		} else {
			settings[key] = v
		}
	}
	ix.settings = settings
	return nil
}
