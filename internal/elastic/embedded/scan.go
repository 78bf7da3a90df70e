package embedded

// The functions of this file walk JSON that json.Valid has accepted. They copy and allocate
// nothing: most of a document is its geometry, and decoding it into maps would cost more than all
// the rest of the store.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != ' ' && b[i] != '\n' && b[i] != '\t' && b[i] != '\r' {
		i++
	}
	return i
}

// span is a part of a document: b[start:end].
type span struct{ start, end int }

func (s span) of(b []byte) []byte { return b[s.start:s.end] }

// eachMember calls f with the key (between its quotes) and the value of each member of the object
// at i, until f fails.
func eachMember(b []byte, i int, f func(key, value span) error) error {
	i = skipSpace(b, i) + 1
	for i < len(b) {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] == '}' {
			return nil
		}
		if b[i] == ',' {
			i++
			continue
		}
		keyEnd := skipString(b, i)
		key := span{i + 1, max(i+1, keyEnd-1)}
		start := skipSpace(b, skipSpace(b, keyEnd)+1)
		end := skipValue(b, start)
		if start > len(b) || end <= start {
			return nil
		}
		if err := f(key, span{start, end}); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// eachElement calls f with each element of the array at i, until f fails.
func eachElement(b []byte, i int, f func(value span) error) error {
	i = skipSpace(b, i) + 1
	for i < len(b) {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] == ']' {
			return nil
		}
		if b[i] == ',' {
			i++
			continue
		}
		end := skipValue(b, i)
		if end <= i {
			return nil
		}
		if err := f(span{i, end}); err != nil {
			return err
		}
		i = end
	}
	return nil
}
