package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Colors of contenders have a contrast of 3:1 with the paper and the shade of the warm-up, as WCAG
// requires of graphics. They differ from each other also for readers who do not see red, green or
// blue (simulated after G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, IEEE Transactions on
// Visualization and Computer Graphics 15, 2009; distances in OKLab, times 100). A contender keeps
// its hue in the dark. Shapes and dashes differ too.
func TestColorsAreDistinguishable(t *testing.T) {
	css := testenv.Must(files.ReadFile("style.css"))(t)
	// The style has the dark colors twice: for the system's preference and for the choice in the
	// page.
	if dark := regexp.MustCompile(`(?s)\n    (--ink: #e[^}]*)\}`).FindAllStringSubmatch(string(css), -1); len(dark) != 2 || strings.TrimSpace(dark[0][1]) != strings.TrimSpace(dark[1][1]) {
		t.Errorf("the two dark schemes differ: %q", dark)
	}
	schemes := strings.SplitN(string(css), "[data-theme=dark]", 2)
	testenv.Need(t, len(schemes) == 2, "the style has no dark scheme")
	hues := make([]float64, colors) // of the light scheme
	for i, name := range []string{"light", "dark"} {
		ink := func(v string) rgb {
			m := regexp.MustCompile(`--` + v + `: #([0-9a-f]{6})`).FindStringSubmatch(schemes[i])
			testenv.Need(t, m != nil, "%s: no --%s", name, v)
			return parseColor(t, m[1])
		}
		var all []rgb
		for k := range colors {
			c := ink(fmt.Sprintf("c%d", k))
			for _, behind := range []string{"paper", "band"} {
				r := contrast(c, ink(behind))
				testenv.Check(t, r >= 3, "%s: color %d has a contrast of only %.2f with --%s", name, k, r, behind)
			}
			for j, other := range all {
				least := 5.0
				if k < 8 {
					least = 7.5
				}
				d := distance(c, other)
				testenv.Check(t, d >= least, "%s: colors %d and %d are only %.1f apart for some readers", name, j, k, d)
			}
			hue := oklab(c)
			angle := math.Atan2(hue[2], hue[1]) * 180 / math.Pi
			off := math.Abs(math.Remainder(angle-hues[k], 360))
			testenv.Check(t, i != 1 || off <= 15, "color %d has another hue in the dark: %.0f° apart", k, off)
			hues[k] = angle
			all = append(all, c)
		}
	}
}

// rgb is a color in linear light.
type rgb [3]float64

func parseColor(t *testing.T, hex string) (c rgb) {
	t.Helper()
	for i := range c {
		n := testenv.Must(strconv.ParseUint(hex[2*i:2*i+2], 16, 8))(t)
		if x := float64(n) / 255; x <= 0.04045 {
			c[i] = x / 12.92
		} else {
			c[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return c
}

func (c rgb) times(m [3]rgb) (out rgb) {
	for i := range m {
		for j := range c {
			out[i] += m[i][j] * c[j]
		}
	}
	return out
}

func contrast(a, b rgb) float64 {
	light := func(c rgb) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(light(a), light(b)) / min(light(a), light(b))
}

// distance returns the least distance of two colors, with and without color blindness.
func distance(a, b rgb) float64 {
	least := math.Inf(1)
	for _, sight := range [][3]rgb{
		{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	} {
		x, y := oklab(a.times(sight)), oklab(b.times(sight))
		least = min(least, 100*math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]))
	}
	return least
}

func oklab(c rgb) rgb {
	for i := range c {
		c[i] = min(max(c[i], 0), 1)
	}
	lms := c.times([3]rgb{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}})
	for i := range lms {
		lms[i] = math.Cbrt(lms[i])
	}
	return lms.times([3]rgb{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}})
}
