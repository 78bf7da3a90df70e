package embedded

import (
	"encoding/json"
	"maps"
	"sync"
)

// index is one index: its documents in the order in which they came, and what is needed to find
// them.
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
	view     view
}

// stored is a document as it is kept.
type stored struct {
	id      string
	source  []byte
	members []member
	dead    bool
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
	size int      // ordinals below it are seen
	dead []uint64 // bit set of those that are gone
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

// put adds documents in order. With create an id that exists already is a conflict; the outcome of
// each is in the errors, nil where it went well, and in created.
func (ix *index) put(docs []*parsed, create []bool) (created []bool, errs []error) {
	created, errs = make([]bool, len(docs)), make([]error, len(docs))
	ix.write.Lock()
	defer ix.write.Unlock()
	ix.mu.Lock()
	for i, d := range docs {
		if d == nil {
			continue
		}
		created[i], errs[i] = ix.putLocked(d, create[i])
	}
	full := len(ix.pending) >= pendingMax
	ix.mu.Unlock()
	if full {
		if err := ix.flush(); err != nil {
			for i := range errs {
				errs[i] = err
			}
		}
	}
	return created, errs
}

func (ix *index) putLocked(d *parsed, create bool) (created bool, err error) {
	if ix.closed {
		return false, noSuchIndex(ix.name)
	}
	if old, exists := ix.byID[d.id]; exists {
		if create {
			return false, &apiError{status: 409, kind: "version_conflict_engine_exception", reason: "[" + shorten(d.id) + "]: version conflict, document already exists (current version [1])", index: ix.name}
		}
		ix.kill(old)
	} else {
		created = true
	}
	ordinal := uint32(len(ix.docs))
	ix.docs = append(ix.docs, stored{id: d.id, source: d.source, members: d.members})
	ix.byID[d.id] = ordinal
	ix.live++
	ix.stale = true
	ix.pending = append(ix.pending, change{ordinal: ordinal, doc: d})
	ix.store(ordinal, d)
	return created, nil
}

// kill marks a document as gone; it is seen until the next refresh.
func (ix *index) kill(ordinal uint32) {
	doc := &ix.docs[ordinal]
	doc.dead = true
	ix.live--
	ix.stale = true
	// The statistics of the fields have to forget it too, so it is analysed again.
	d, err := ix.mapping.parseDocument(doc.id, doc.source)
	if err != nil {
		d = &parsed{id: doc.id}
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
		if c := ix.column(v.field, ordinal); !c.has[ordinal] { // of several values the first is kept
			c.longs = padded(c.longs, ordinal)
			c.longs[ordinal], c.has[ordinal] = v.value, true
		}
	}
	for _, v := range d.keywords {
		if v.field.kind == kindLong {
			continue
		}
		if c := ix.column(v.field, ordinal); !c.has[ordinal] {
			c.keywords = padded(c.keywords, ordinal)
			c.keywords[ordinal], c.has[ordinal] = v.term, true
		}
	}
	for _, v := range d.points {
		if c := ix.column(v.field, ordinal); !c.has[ordinal] {
			c.places, c.vectors = padded(c.places, ordinal), padded(c.vectors, ordinal)
			c.places[ordinal], c.has[ordinal] = v.place, true
			c.vectors[ordinal] = vectorOf(v.place.lat(), v.place.lon())
		}
	}
	for _, v := range d.shapes {
		c := ix.column(v.field, ordinal)
		c.shapes = padded(c.shapes, ordinal)
		if c.has[ordinal] { // several shapes of a field are one
			both := *c.shapes[ordinal]
			both.points = append(both.points, v.shape.points...)
			both.polygons = append(both.polygons, v.shape.polygons...)
			v.shape = &both
		}
		c.shapes[ordinal], c.has[ordinal] = v.shape, true
		c.grid.add(ordinal, v.shape)
	}
}

func (ix *index) column(f *field, ordinal uint32) *column {
	c := ix.columns[f]
	if c == nil {
		c = &column{}
		ix.columns[f] = c
	}
	c.has = padded(c.has, ordinal)
	return c
}

// padded makes s long enough to hold ordinal.
func padded[T any](s []T, ordinal uint32) []T {
	for uint32(len(s)) <= ordinal {
		var zero T
		s = append(s, zero)
	}
	return s
}

// flush hands the pending changes to the text index. The caller holds write, so that searches go on
// meanwhile.
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
	stale, closed := ix.stale, ix.closed
	ix.mu.RUnlock()
	if closed {
		return noSuchIndex(ix.name)
	}
	if !stale {
		return nil
	}
	ix.write.Lock()
	defer ix.write.Unlock()
	if err := ix.flush(); err != nil {
		return err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return noSuchIndex(ix.name)
	}
	if err := ix.text.refresh(); err != nil {
		return err
	}
	v := view{size: len(ix.docs), dead: make([]uint64, (len(ix.docs)+63)/64)}
	for i := range ix.docs {
		if ix.docs[i].dead {
			v.dead[i/64] |= 1 << (i % 64)
		}
	}
	ix.view = v
	ix.stale = false
	return nil
}

// lookup returns the live document with this id.
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
