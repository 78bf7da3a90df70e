package embedded

import (
	"math"
	"math/bits"
)

// This file has the arithmetic of Lucene 8.7 (BM25Similarity, SmallFloat) as in Elasticsearch 7.10,
// with 32-bit floats at the same places and with the same order of operations: hits with nearly the
// same score must keep their order. The conversions around products keep the compiler from fusing
// them with a sum.

const (
	bm25K1 = float32(1.2)
	bm25B  = float32(0.75)
)

type bm25 struct {
	weight  float32
	inverse [256]float32 // by encoded field length
}

// newBM25 takes the boost, the field's statistics and the number of documents with the term.
func newBM25(boost float32, t *terms, docFreq int64) *bm25 {
	s := &bm25{weight: float32(float32(boost*float32(1+bm25K1)) * idf(t.docs, docFreq))}
	average := float32(float64(t.total) / float64(t.docs))
	for i := range s.inverse {
		relative := float32(float32(bm25B*float32(decodeLength(byte(i)))) / average)
		s.inverse[i] = 1 / float32(bm25K1*float32(float32(1-bm25B)+relative))
	}
	return s
}

func idf(docs, docFreq int64) float32 {
	return float32(math.Log(1 + (float64(docs-docFreq)+0.5)/(float64(docFreq)+0.5)))
}

// score returns the score for the term's frequency in a document and the length from encodeLength.
func (s *bm25) score(freq float32, length byte) float32 {
	n := s.inverse[length]
	return s.weight - float32(s.weight/(1+float32(freq*n)))
}

// Lucene keeps the length of a field in one byte: exact below 40, then four significant bits.
const exactLengths = 24

func encodeLength(n int) byte {
	if n < exactLengths {
		return byte(max(n, 0))
	}
	v := uint64(n - exactLengths)
	if width := bits.Len64(v); width >= 4 {
		shift := width - 4
		v = v>>shift&7 | uint64(shift+1)<<3
	}
	return byte(min(exactLengths+v, 255))
}

func decodeLength(b byte) int64 {
	if b < exactLengths {
		return int64(b)
	}
	v := int64(b) - exactLengths
	shift := v>>3 - 1
	if shift < 0 {
		return exactLengths + v&7
	}
	return exactLengths + (v&7|8)<<shift
}
