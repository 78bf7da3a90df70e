package docker

import (
	"bytes"
	"strconv"
)

// isKill says whether a record of the kernel's log is about a process of the container with this ID
// that the kernel has killed for want of memory. A record is "PRIORITY,…;TEXT"; the kernel's own
// have a priority below 8, those that programs write there a higher one.
func isKill(record []byte, id string) bool {
	head, text, _ := bytes.Cut(record, []byte(";"))
	number, _, _ := bytes.Cut(head, []byte(","))
	priority, err := strconv.Atoi(string(number))
	return err == nil && priority < 8 && bytes.HasPrefix(text, []byte("oom-kill:")) && len(id) >= 12 && bytes.Contains(text, []byte(id))
}
