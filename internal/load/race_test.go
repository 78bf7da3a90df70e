//go:build race

package load

// slack widens the bar of latency under the race detector, which slows client and server several
// times.
const slack = 5
