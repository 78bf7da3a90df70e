package embedded

import (
	"strconv"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/document"
	bleve "github.com/blevesearch/bleve_index_api"
)

// indexed is a document as bleve takes it: analysed already, since the same text stands in many
// fields (a city is called the same in most languages) and the terms of one analysis serve them
// all.
type indexed struct {
	id     string
	fields []*terms
	key    bleve.Field // the field of the id, once bleve has asked for it
}

type terms struct {
	name    string
	length  int
	freqs   bleve.TokenFrequencies
	options bleve.FieldIndexingOptions
}

// Suffixes of the fields that a search_as_you_type field brings along.
var shingleSuffix = [...]string{1: "", 2: "._2gram", 3: "._3gram", 4: "._4gram"}

const prefixSuffix = "._index_prefix"

// shortPrefix is the longest prefix, in characters, that is indexed as a term of its own. Shorter
// ones would have to be gathered from thousands of terms at each search; longer ones begin few
// terms.
const shortPrefix = 3

func analyzeDocument(ordinal uint32, d *parsed) *indexed {
	doc := &indexed{id: strconv.FormatUint(uint64(ordinal), 36)} // readOrdinals reads it
	analysed := map[analysisKey]*analysis{}
	for f, values := range d.text {
		doc.addText(f, values, analysed)
	}
	byField := map[*field]*terms{}
	for _, k := range d.keywords {
		t := byField[k.field]
		if t == nil {
			t = &terms{name: k.field.path, freqs: bleve.TokenFrequencies{}, options: bleve.IndexField | bleve.SkipFreqNorm}
			byField[k.field], doc.fields = t, append(doc.fields, t)
		}
		if t.freqs[k.of] == nil {
			t.length++
		}
		count(t.freqs, k.of, 1)
	}
	return doc
}

type analysisKey struct {
	analyzer *analyzer
	text     string
}

// analysis is what one analyser makes of one text.
type analysis struct {
	tokens   []token
	shingles [len(shingleSuffix)]bleve.TokenFrequencies
	prefixes bleve.TokenFrequencies
}

func (d *indexed) addText(f *field, values []string, cache map[analysisKey]*analysis) {
	parts := make([]*analysis, len(values))
	for i, text := range values {
		key := analysisKey{f.analyzer, text}
		a := cache[key]
		if a == nil {
			a = &analysis{tokens: f.analyzer.tokens(text)}
			cache[key] = a
		}
		parts[i] = a
	}
	for n := 1; n <= f.shingles; n++ {
		length := 0
		for _, a := range parts {
			length += max(0, len(a.tokens)-n+1)
		}
		if length > 0 {
			d.fields = append(d.fields, &terms{name: f.path + shingleSuffix[n], length: length, options: bleve.IndexField,
				freqs: merged(parts, func(a *analysis) bleve.TokenFrequencies { return a.grams(n) })})
		}
	}
	prefixes := merged(parts, (*analysis).short)
	if len(prefixes) > 0 {
		d.fields = append(d.fields, &terms{name: f.path + prefixSuffix, length: len(prefixes), freqs: prefixes, options: bleve.IndexField | bleve.SkipFreqNorm})
	}
}

// merged adds up the terms of several values. Those of a single one are shared, so not changed.
func merged(parts []*analysis, of func(*analysis) bleve.TokenFrequencies) bleve.TokenFrequencies {
	if len(parts) == 1 {
		return of(parts[0])
	}
	sum := bleve.TokenFrequencies{}
	for _, a := range parts {
		for term, f := range of(a) {
			count(sum, term, f.Frequency())
		}
	}
	return sum
}

func (a *analysis) grams(n int) bleve.TokenFrequencies {
	if a.shingles[n] == nil {
		a.shingles[n] = bleve.TokenFrequencies{}
		for _, t := range shingle(a.tokens, n) {
			count(a.shingles[n], t.term, 1)
		}
	}
	return a.shingles[n]
}

func (a *analysis) short() bleve.TokenFrequencies {
	if a.prefixes == nil {
		a.prefixes = bleve.TokenFrequencies{}
		for _, t := range a.tokens {
			end := 0
			for n := 0; n < shortPrefix && end < len(t.term); n++ {
				_, size := utf8.DecodeRuneInString(t.term[end:])
				end += size
				count(a.prefixes, t.term[:end], 1)
			}
		}
	}
	return a.prefixes
}

func count(freqs bleve.TokenFrequencies, term string, n int) {
	f := freqs[term]
	if f == nil {
		f = &bleve.TokenFreq{Term: []byte(term)}
		freqs[term] = f
	}
	f.SetFrequency(f.Frequency() + n)
}

// The methods below are those of bleve's Document and Field.

func (d *indexed) ID() string                                 { return d.id }
func (d *indexed) Size() int                                  { return len(d.id) }
func (d *indexed) VisitComposite(bleve.CompositeFieldVisitor) {}
func (d *indexed) HasComposite() bool                         { return false }
func (d *indexed) NumPlainTextBytes() uint64                  { return 0 }
func (d *indexed) StoredFieldsBytes() uint64                  { return uint64(len(d.id)) }
func (d *indexed) Indexed() bool                              { return true }

func (d *indexed) AddIDField() {
	d.key = document.NewTextFieldCustom("_id", nil, []byte(d.id), bleve.IndexField|bleve.StoreField, nil)
}

func (d *indexed) VisitFields(visit bleve.FieldVisitor) {
	if d.key != nil {
		visit(d.key)
	}
	for _, f := range d.fields {
		visit(f)
	}
}

func (t *terms) Name() string                                     { return t.name }
func (t *terms) Value() []byte                                    { return nil }
func (t *terms) ArrayPositions() []uint64                         { return nil }
func (t *terms) EncodedFieldType() byte                           { return 't' }
func (t *terms) Analyze()                                         {}
func (t *terms) Options() bleve.FieldIndexingOptions              { return t.options }
func (t *terms) AnalyzedLength() int                              { return t.length }
func (t *terms) AnalyzedTokenFrequencies() bleve.TokenFrequencies { return t.freqs }
func (t *terms) NumPlainTextBytes() uint64                        { return 0 }
