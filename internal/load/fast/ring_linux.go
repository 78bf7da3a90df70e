package fast

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/host/thread"
)

// uring is an io_uring: two queues in memory shared with the kernel. One call of enter starts
// everything in the submission queue, any number of sends and receives; results arrive in the
// completion queue. docs/decisions says what that gains.
type uring struct {
	fd     int
	queues []byte // both queues, mapped
	slots  []byte // the submissions, mapped
	data   []byte // the receive buffers and the ring that offers them to the kernel

	sqHead, sqTail *uint32
	sqMask         uint32
	sqes           []submission
	tail           uint32 // end of the submissions, including those not published yet
	cqHead, cqTail *uint32
	cqMask         uint32
	cqes           []completion

	offers    []offer
	offerTail uint16

	receiveHeader unix.Msghdr // for every receive: room for the timestamp only, see StampReader

	// Arguments of the last wait. They are here because the kernel gets their addresses, which on a
	// stack may change before the call.
	timeout kernelTime
	arg     enterArg
}

// The layouts of the kernel (include/uapi/linux/io_uring.h).
type (
	ringParams struct {
		sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, workers uint32
		_                                                                         [3]uint32
		sq                                                                        struct {
			head, tail, mask, entries, flags, dropped, array, _ uint32
			_                                                   uint64
		}
		cq struct {
			head, tail, mask, entries, overflow, cqes, flags, _ uint32
			_                                                   uint64
		}
	}
	submission struct {
		op, flags uint8
		priority  uint16
		fd        int32
		_, addr   uint64
		length    uint32
		opFlags   uint32
		user      uint64
		group     uint16
		_         [3]uint16
		_         [2]uint64
	}
	completion struct {
		user  uint64
		res   int32
		flags uint32
	}
	offer struct {
		addr   uint64
		length uint32
		id     uint16
		tail   uint16 // in the first offer: the tail of the ring
	}
	offerRegister struct {
		addr    uint64
		entries uint32
		group   uint16
		_       uint16
		_       [3]uint64
	}
	cancelRegister struct {
		addr    uint64
		fd      int32
		flags   uint32
		timeout kernelTime
		_       [4]uint64
	}
	enterArg struct {
		sigmask, sigmaskSize uint64
		timeout              uint64
	}
)

const (
	opNothing = 0
	opPollAdd = 6
	opSend    = 26
	opRecvMsg = 10

	setupCQSize       = 1 << 3
	setupDisabled     = 1 << 6
	setupSubmitAll    = 1 << 7 // a refused submission does not stop the others
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	sqeBufferSelect   = 1 << 5
	sqeSkipSuccess    = 1 << 6
	recvMultishot     = 1 << 1
	cqeHasBuffer      = 1 << 0
	cqeMore           = 1 << 1
	cqeBufferShift    = 16
	registerEnable    = 12
	registerBuffers   = 22
	registerCancel    = 24
	cancelAll         = 1 << 0
	cancelAny         = 1 << 2
	offSubmissionRing = 0
	offSubmissions    = 0x10000000

	ringBatch      = 64      // capacity of the submission queue
	maxCompletions = 1 << 15 // capacity of the completion queue; the kernel keeps more in a list
	ringBuffers    = 256     // a power of two
	ringBufferSize = 16 << 10
)

// newRing makes a ring for a number of connections, or returns why this system has none. The thread
// that uses it must call enable first.
func newRing(connections int) (*uring, error) {
	p := ringParams{flags: setupCQSize | setupDisabled | setupSubmitAll | setupSingleIssuer | setupDeferTaskrun}
	p.sqEntries, p.cqEntries = ringBatch, 4*ringBatch
	for p.cqEntries < 2*uint32(min(connections, maxCompletions/2)) {
		p.cqEntries *= 2
	}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(p.sqEntries), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring: %w", errno)
	}
	r := &uring{fd: int(fd)}
	r.receiveHeader.SetControllen(stampRoom)
	if err := r.open(&p); err != nil {
		r.close()
		return nil, fmt.Errorf("io_uring: %w", err)
	}
	return r, nil
}

func (r *uring) open(p *ringParams) (err error) {
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	const access, shared = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	if r.queues, err = unix.Mmap(r.fd, offSubmissionRing, int(size), access, shared); err != nil {
		return err
	}
	size = p.sqEntries * uint32(unsafe.Sizeof(submission{}))
	if r.slots, err = unix.Mmap(r.fd, offSubmissions, int(size), access, shared); err != nil {
		return err
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.queues[offset])) }
	r.sqHead, r.sqTail, r.sqMask = at(p.sq.head), at(p.sq.tail), *at(p.sq.mask)
	r.cqHead, r.cqTail, r.cqMask = at(p.cq.head), at(p.cq.tail), *at(p.cq.mask)
	r.sqes = unsafe.Slice((*submission)(unsafe.Pointer(&r.slots[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*completion)(unsafe.Pointer(&r.queues[p.cq.cqes])), p.cqEntries)
	r.tail = *r.sqTail
	for i := range p.sqEntries {
		*at(p.sq.array + 4*i) = i // a submission stays in its place
	}
	return r.offer()
}

// offer maps the buffers and registers them.
func (r *uring) offer() (err error) {
	const offers = ringBuffers * int(unsafe.Sizeof(offer{}))
	const size, private = offers + ringBuffers*ringBufferSize, unix.MAP_PRIVATE | unix.MAP_ANON
	if r.data, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, private); err != nil {
		return err
	}
	r.offers = unsafe.Slice((*offer)(unsafe.Pointer(&r.data[0])), ringBuffers)
	reg := offerRegister{addr: uint64(uintptr(unsafe.Pointer(&r.data[0]))), entries: ringBuffers}
	if err := r.register(registerBuffers, unsafe.Pointer(&reg), 1); err != nil {
		return err
	}
	for i := range ringBuffers {
		r.giveBack(uint16(i))
	}
	return nil
}

func (r *uring) register(what uintptr, arg unsafe.Pointer, n uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), what, uintptr(arg), n, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// enable makes the calling thread the only one that may use the ring.
func (r *uring) enable() error { return r.register(registerEnable, nil, 0) }

// giveBack offers a buffer to the kernel again.
func (r *uring) giveBack(id uint16) {
	o := &r.offers[r.offerTail&(ringBuffers-1)]
	o.addr, o.length, o.id = uint64(uintptr(unsafe.Pointer(&r.buffer(id, ringBufferSize)[0]))), ringBufferSize, id
	r.offerTail++
	// The tail is the upper half of a word. The lower half is the id of the first offer, which only
	// this thread writes.
	first := (*uint32)(unsafe.Pointer(&r.offers[0].id))
	var word [2]uint16
	word[0], word[1] = r.offers[0].id, r.offerTail
	atomic.StoreUint32(first, *(*uint32)(unsafe.Pointer(&word)))
}

func (r *uring) buffer(id uint16, n int32) []byte {
	from := ringBuffers*int(unsafe.Sizeof(offer{})) + int(id)*ringBufferSize
	return r.data[from : from+int(n) : from+ringBufferSize]
}

// next returns the next submission, zeroed. If the queue is full, it first submits what is there.
func (r *uring) next() *submission {
	if r.tail-atomic.LoadUint32(r.sqHead) == uint32(len(r.sqes)) {
		r.submit(0)
	}
	s := &r.sqes[r.tail&r.sqMask]
	*s = submission{}
	r.tail++
	return s
}

// submit hands all submissions to the kernel, without waiting.
func (r *uring) submit(flags uintptr) {
	// What an interrupted call leaves is submitted next time.
	_, _, _ = syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), r.publish(), 0, flags, 0, 0)
}

// pending reports whether the kernel has not taken the submission that ended at tail yet.
func (r *uring) pending(tail uint32) bool { return int32(tail-atomic.LoadUint32(r.sqHead)) > 0 }

// disown makes the submissions for a descriptor do nothing, those that the kernel has not taken yet:
// they must not be for what gets its number next.
func (r *uring) disown(fd int32) {
	for at := atomic.LoadUint32(r.sqHead); at != r.tail; at++ {
		if q := &r.sqes[at&r.sqMask]; q.fd == fd {
			*q = submission{op: opNothing, flags: q.flags & sqeSkipSuccess, user: q.user}
		}
	}
}

// poll submits, and collects completions of earlier submissions.
func (r *uring) poll() { r.submit(enterGetEvents) }

// publish shows the submissions to the kernel and returns their number.
func (r *uring) publish() uintptr {
	atomic.StoreUint32(r.sqTail, r.tail)
	return uintptr(r.tail - atomic.LoadUint32(r.sqHead))
}

// wait is poll, and waits for a number of completions for at most ns. A signal may end it early, and
// so may each completion before Linux 6.8.
func (r *uring) wait(w *thread.Wait, ns int64, completions uint32) {
	r.timeout = nsToKernel(ns)
	r.arg = enterArg{timeout: uint64(uintptr(unsafe.Pointer(&r.timeout)))}
	// After an interruption or a timeout the caller checks and waits again.
	_, _ = w.Call(unix.SYS_IO_URING_ENTER, uintptr(r.fd), r.publish(), uintptr(completions), enterGetEvents|enterExtArg,
		uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg))
}

// completed returns the number of available completions.
func (r *uring) completed() uint32 { return atomic.LoadUint32(r.cqTail) - *r.cqHead }

// take removes the next completion and returns it.
func (r *uring) take() completion {
	head := *r.cqHead
	c := r.cqes[head&r.cqMask]
	atomic.StoreUint32(r.cqHead, head+1)
	return c
}

// close cancels everything under way and waits for its end, so no buffer is written to afterwards.
func (r *uring) close() {
	cancel := cancelRegister{fd: -1, flags: cancelAll | cancelAny, timeout: kernelTime{-1, -1}}
	_ = r.register(registerCancel, unsafe.Pointer(&cancel), 1) // it fails if nothing is under way
	unix.Close(r.fd)
	for _, m := range [][]byte{r.queues, r.slots, r.data} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
}

// In each buffer the kernel writes before the received bytes: four 32-bit numbers (lengths of name,
// control messages and payload; flags), and room for the control messages.
const (
	stampRoom   = 64
	beforeBytes = 16 + stampRoom
)

// received returns the bytes of a receive completion, with the buffer to give back. No bytes
// without an error are the end of the connection. at is as in StampReader.Read.
func (r *uring) received(c completion) (b []byte, at int64, id uint16, buffered bool, err syscall.Errno) {
	if c.res < 0 {
		err = syscall.Errno(-c.res)
	}
	if c.flags&cqeHasBuffer == 0 {
		return nil, 0, 0, false, err
	}
	id = uint16(c.flags >> cqeBufferShift)
	if c.res < beforeBytes {
		return nil, 0, id, true, err
	}
	whole := r.buffer(id, c.res)
	control := min(binary.NativeEndian.Uint32(whole[4:]), stampRoom)
	at = stampIn(whole[16 : 16+control])
	return whole[beforeBytes:], at, id, true, err
}

// address returns the address of memory that stays in place as long as b is reachable: heap memory.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
