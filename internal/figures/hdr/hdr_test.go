package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// sample draws n latencies between 10 µs and about 1 s, most of them short.
func sample(seed uint64, n int) []time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	xs := make([]time.Duration, n)
	for i := range xs {
		xs[i] = time.Duration(1e4 * math.Exp(rng.Float64()*rng.Float64()*11.5))
	}
	return xs
}

func histogram(xs ...time.Duration) *Histogram {
	h := New()
	for _, x := range xs {
		h.Record(x)
	}
	return h
}

// exact computes the quantiles from the values themselves.
func exact(xs []time.Duration) (mean, sd float64, quantile func(q float64) time.Duration) {
	s := slices.Clone(xs)
	slices.Sort(s)
	for _, x := range s {
		mean += float64(x) / float64(len(s))
	}
	for _, x := range s {
		sd += (float64(x) - mean) * (float64(x) - mean) / float64(len(s))
	}
	return mean, math.Sqrt(sd), func(q float64) time.Duration {
		return s[min(max(int(q*float64(len(s))+.5)-1, 0), len(s)-1)]
	}
}

func within(a, b time.Duration, relative float64) bool {
	return math.Abs(float64(a-b)) <= relative*float64(b)+1
}

func checkQuantiles(t *testing.T, l bench.Latencies, xs []time.Duration) {
	t.Helper()
	mean, sd, quantile := exact(xs)
	testenv.Check(t, l.Count == int64(len(xs)) && l.Min == slices.Min(xs) && l.Max == slices.Max(xs),
		"count %d, min %s, max %s; want %d, %s, %s", l.Count, l.Min, l.Max, len(xs), slices.Min(xs), slices.Max(xs))
	testenv.Check(t, within(l.Mean, time.Duration(mean), 1e-9) && within(l.SD, time.Duration(sd), 1e-6),
		"mean %d, SD %d; want %.0f, %.0f", l.Mean, l.SD, mean, sd)
	for q, got := range map[float64]time.Duration{.5: l.P50, .75: l.P75, .9: l.P90, .95: l.P95, .99: l.P99,
		.999: l.P999} {
		want := quantile(q)
		testenv.Check(t, within(got, want, .001), "quantile %g is %s, want %s", q, got, want)
	}
}

func TestLatencies(t *testing.T) {
	for _, n := range []int{1, 2, 10, 1000, 50_000} {
		xs := sample(uint64(n), n)
		checkQuantiles(t, histogram(xs...).Latencies(), xs)
	}
	l := New().Latencies()
	testenv.Check(t, l == (bench.Latencies{}), "of nothing: %+v", l)
}

func TestLatencies_Edges(t *testing.T) {
	l := histogram(-5, 0, 3*Highest).Latencies()
	testenv.Check(t, l.Min == 0 && l.Max == 3*Highest && l.Mean == Highest && l.P50 == 0 && l.P99 >= Highest, "%+v", l)
	testenv.Equal(t, testenv.Must(Decode(l))(t).Latencies(), l, "decoded")
	l = histogram(12345678).Latencies()
	testenv.Check(t, l.P50 == 12345678 && l.P999 == 12345678 && l.SD == 0, "of one value: %+v", l)
}

func TestDecode(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		want := histogram(sample(7, n)...).Latencies()
		h := testenv.Must(Decode(want))(t)
		got := h.Latencies()
		testenv.Check(t, got == want, "decoded %+v, want %+v", got, want)
	}
}

func TestMerge(t *testing.T) {
	a, b, c := sample(1, 3000), sample(2, 5000), []time.Duration{3 * time.Second}
	for i := range b {
		b[i] += time.Second
	}
	merged, err := Merge(histogram(a...).Latencies(), bench.Latencies{}, histogram(b...).Latencies(),
		histogram(c...).Latencies())
	testenv.OK(t, err)
	checkQuantiles(t, merged.Quantiles(), slices.Concat(a, b, c))
	together := histogram(slices.Concat(a, b, c)...).Latencies()
	testenv.Check(t, merged.Latencies().HDR == together.HDR, "the merged buckets differ from those recorded together")
	testenv.Equal(t, testenv.Must(Merge())(t).Quantiles(), (bench.Latencies{}), "merged nothing")
}

func TestReset(t *testing.T) {
	h := histogram(sample(3, 100)...)
	h.Reset()
	h.Record(time.Second)
	got, want := h.Latencies(), histogram(time.Second).Latencies()
	testenv.Check(t, got == want, "after Reset %+v, want %+v", got, want)
}

// header is the start of an uncompressed V2 histogram.
type header struct {
	Cookie, PayloadLength, NormalizingOffset, Figures int32
	Lowest, Highest                                   int64
	Ratio                                             float64
}

// forge encodes a header with a payload, such as a crafted results file.
func forge(t *testing.T, h header, payload []byte) string {
	t.Helper()
	var inner, outer bytes.Buffer
	z := zlib.NewWriter(&inner)
	h.Cookie, h.PayloadLength = 0x1c849313, int32(len(payload))
	for _, part := range []any{h, payload} {
		testenv.OK(t, binary.Write(z, binary.BigEndian, part))
	}
	z.Close()
	binary.Write(&outer, binary.BigEndian, []int32{0x1c849314, int32(inner.Len())})
	outer.Write(inner.Bytes())
	return base64.StdEncoding.EncodeToString(outer.Bytes())
}

func TestDecode_Refuses(t *testing.T) {
	good := histogram(1, 2, 3).Latencies()
	with := func(change func(l *bench.Latencies)) bench.Latencies {
		l := good
		change(&l)
		return l
	}
	tests := map[string]struct {
		l    bench.Latencies
		want string
	}{
		"no text":        {with(func(l *bench.Latencies) { l.HDR = "" }), "got 0 bytes"},
		"not base64":     {with(func(l *bench.Latencies) { l.HDR = "?" }), "illegal base64"},
		"not compressed": {with(func(l *bench.Latencies) { l.HDR = "AAAAAAAAAAAAAAAAAAAA" }), "only V2 is supported"},
		"cut":            {with(func(l *bench.Latencies) { l.HDR = l.HDR[:40] }), "contents buffer is smaller"},
		"too long":       {with(func(l *bench.Latencies) { l.HDR = strings.Repeat("A", maxEncoded+1) }), "at most"},
		"another count":  {with(func(l *bench.Latencies) { l.Count = 4 }), "3 latencies in the buckets, expected 4"},
		"no count":       {with(func(l *bench.Latencies) { l.Count = 0 }), "expected 0"},
		"absurd count":   {with(func(l *bench.Latencies) { l.Count = maxCount + 1 }), "at most"},
		"high count":     {with(func(l *bench.Latencies) { l.Count = maxCount }), "3 latencies in the buckets"},
		"not too long":   {with(func(l *bench.Latencies) { l.HDR = strings.Repeat("A", maxEncoded) }), "only V2 is supported"},
		"negative":       {with(func(l *bench.Latencies) { l.Min = -1 }), "inconsistent"},
		"max below min":  {with(func(l *bench.Latencies) { l.Max = 0 }), "inconsistent"},
		"negative mean":  {with(func(l *bench.Latencies) { l.Mean = -1 }), "inconsistent"},
		"negative SD":    {with(func(l *bench.Latencies) { l.SD = -1 }), "inconsistent"},
		"negative count": {with(func(l *bench.Latencies) { l.Count = -1 }), "inconsistent"},
		"wide geometry": {with(func(l *bench.Latencies) {
			l.HDR = forge(t, header{Figures: 5, Lowest: 1, Highest: math.MaxInt64}, nil)
		}), "significant digits"},
		"odd range": {with(func(l *bench.Latencies) {
			l.HDR = forge(t, header{Figures: 3, Lowest: 1000, Highest: 10_000}, nil)
		}), "expected a start at 1"},
		"beyond the bucket": {with(func(l *bench.Latencies) {
			l.HDR = forge(t, header{Figures: 3, Lowest: 1, Highest: 2}, []byte{0xff, 0xff, 0x7f})
		}), "overflows"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			testenv.Fails(t, testenv.Err(Decode(test.l)), test.want)
			testenv.Check(t, testenv.Err(Merge(good, test.l)) != nil, "%s: merged", name)
		})
	}
}

// One value 0, as another version of locbench might write it.
func TestDecode_OtherRanges(t *testing.T) {
	want := histogram(0).Latencies()
	for _, other := range []header{
		{Figures: 3, Highest: int64(time.Hour)}, {Figures: 2, Highest: int64(Highest)},
		{Figures: 1, Highest: int64(Highest)},
		{Figures: 3, Highest: 2},
	} {
		other.Lowest = 1
		h, err := Decode(bench.Latencies{Count: 1, HDR: forge(t, other, []byte{2})})
		testenv.Check(t, err == nil && h.Latencies() == want, "%+v: %+v, %v", other, h, err)
	}
	l := bench.Latencies{Count: 1, HDR: forge(t, header{Figures: 3, Lowest: 1, Highest: int64(time.Hour)}, late())}
	testenv.Fails(t, testenv.Err(Decode(l)), "1 latencies over 10m0s")
}

// late returns the payload of one value in a bucket of more than half an hour: zeros, then 1.
func late() []byte {
	return append(binary.AppendVarint(nil, -33_000), binary.AppendVarint(nil, 1)...)
}

func FuzzDecode(f *testing.F) {
	for _, xs := range [][]time.Duration{{}, {1}, sample(1, 100)} {
		l := histogram(xs...).Latencies()
		f.Add(l.HDR, l.Count, int64(l.Mean), int64(l.SD))
	}
	f.Add("HISTFAAAACB42pNpmSzMwMDABMQAAgABAAE=", int64(1), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, text string, count, mean, sd int64) {
		l := bench.Latencies{Count: count, Max: Highest, Mean: time.Duration(mean), SD: time.Duration(sd), HDR: text}
		h, err := Decode(l)
		if err != nil {
			return
		}
		testenv.Need(t, h.Count() == count, "count %d of %d", h.Count(), count)
		h.Merge(h)
		h.Latencies()
	})
}

func TestBars(t *testing.T) {
	xs := sample(5, 5000)
	bars := histogram(xs...).Bars()
	n := int64(0)
	for i, b := range bars {
		testenv.Need(t, b.Count > 0 && b.To >= b.From && (i <= 0 || b.From > bars[i-1].To), "bar %d is %+v", i, b)
		in := int64(0)
		for _, x := range xs {
			if x >= b.From && x <= b.To {
				in++
			}
		}
		testenv.Check(t, in == b.Count, "%d latencies in %s to %s, counted %d", in, b.From, b.To, b.Count)
		n += b.Count
	}
	testenv.Check(t, n == int64(len(xs)) && New().Bars() == nil, "bars hold %d of %d", n, len(xs))
}
