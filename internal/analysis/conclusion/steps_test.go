package conclusion

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestErrorCell(t *testing.T) {
	testenv.Equal(t, []string{errorCell(0, 0, false), errorCell(3, .0009, true), errorCell(3, .026, true),
		errorCell(1200, .5, false)}, []string{"0", "3", "3 (~2.6%)", "1,200 (50.0%)"})
}
