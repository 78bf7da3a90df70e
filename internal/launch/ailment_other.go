//go:build !linux

package launch

func processAilment(int) string { return "" }
func networkAilment(int) string { return "" }
