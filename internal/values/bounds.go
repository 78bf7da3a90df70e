package values

import (
	"fmt"
	"io"
)

// longRowError says that a row has more than maxRowLine bytes.
type longRowError struct{ row int }

func (e *longRowError) Error() string {
	return fmt.Sprintf("row %d is longer than 1 MiB; check that each row ends with a line break and each quote is closed", e.row)
}

// shortRows reads CSV and fails in a row of more than maxRowLine bytes, before the CSV reader keeps
// it. A line break within quotes does not end a row.
type shortRows struct {
	from   io.Reader
	row    int
	length int
	quoted bool
}

func (s *shortRows) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	for _, c := range p[:n] {
		if s.length++; s.length > maxRowLine {
			return 0, &longRowError{s.row}
		}
		switch {
		case c == '"':
			s.quoted = !s.quoted
		case c == '\n' && !s.quoted:
			s.row, s.length = s.row+1, 0
		}
	}
	return n, err
}
