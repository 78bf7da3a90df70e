//go:build !race

package load

// slack is the factor on the bar of latency: the bar itself.
const slack = 1
