package embedded

import (
	"math"
	"strconv"
	"time"
)

// render writes the answer of a search, by hand, since sources are copied as they are.
func (req *request) render(
	s *searcher, m *matches, order []sortKey, byScore bool, top []uint32, start time.Time,
) []byte {
	scores := byScore
	for _, k := range order {
		scores = scores || k.by == "_score"
	}
	out := make([]byte, 0, 512+len(top)*512)
	out = strconv.AppendInt(append(out, `{"took":`...), time.Since(start).Milliseconds(), 10)
	out = append(out, `,"timed_out":false,"_shards":`+oneShard+`,"hits":{`...)
	if req.track >= 0 {
		total, relation := m.count(), "eq"
		if total > req.track {
			total, relation = req.track, "gte"
		}
		out = strconv.AppendInt(append(out, `"total":{"value":`...), int64(total), 10)
		out = append(append(out, `,"relation":"`...), relation...)
		out = append(out, `"},`...)
	}
	out = append(out, `"max_score":`...)
	highest, ok := maxScore(m)
	out = appendScore(out, highest, ok && scores && req.size > 0)
	out = append(out, `,"hits":[`...)
	for i, ordinal := range top {
		if i > 0 {
			out = append(out, ',')
		}
		doc := &s.ix.docs[ordinal]
		out = append(append(out, `{"_index":`...), quote(s.ix.name)...)
		out = append(append(out, `,"_type":"_doc","_id":`...), quote(doc.id)...)
		out = appendScore(append(out, `,"_score":`...), m.scoreOf(ordinal), scores)
		if req.source == nil || !req.source.off {
			out = req.source.apply(append(out, `,"_source":`...), doc)
		}
		if !byScore {
			out = append(out, `,"sort":[`...)
			for j := range order {
				if j > 0 {
					out = append(out, ',')
				}
				out = order[j].appendValue(out, s, m, ordinal)
			}
			out = append(out, ']')
		}
		out = append(out, '}')
	}
	return append(out, "]}}"...)
}

func appendScore(out []byte, score float32, known bool) []byte {
	if !known {
		return append(out, "null"...)
	}
	return appendFloat(out, float64(score), 32)
}

func maxScore(m *matches) (highest float32, ok bool) {
	m.each(func(ordinal uint32) {
		if v := m.scoreOf(ordinal); !ok || v > highest {
			highest, ok = v, true
		}
	})
	return highest, ok
}

func (k *sortKey) appendValue(out []byte, s *searcher, m *matches, ordinal uint32) []byte {
	switch k.by {
	case "_score":
		return appendFloat(out, float64(m.scoreOf(ordinal)), 32)
	case "distance":
		return appendFloat(out, distanceMetres(k.distances[ordinal])/k.unit, 64)
	}
	col := s.ix.columns[k.field]
	switch has := col.present(ordinal); {
	case !has && k.field.kind == kindKeyword:
		return append(out, "null"...)
	case !has && k.desc:
		return strconv.AppendInt(out, math.MinInt64, 10)
	case !has:
		return strconv.AppendInt(out, math.MaxInt64, 10)
	case k.field.kind == kindLong:
		return strconv.AppendInt(out, col.longs[ordinal], 10)
	case k.field.kind == kindBoolean:
		return strconv.AppendInt(out, int64(boolOrder(s.keyword(k.field, ordinal) == "true")), 10)
	}
	return append(out, quote(s.keyword(k.field, ordinal))...)
}

func appendFloat(out []byte, v float64, bits int) []byte {
	if math.IsInf(v, 0) {
		return append(out, `"Infinity"`...)
	}
	return strconv.AppendFloat(out, v, 'g', -1, bits)
}
