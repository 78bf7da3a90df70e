package workload

// Job is one request, or one user with several.
type Job struct {
	At       int64 // ns since the beginning of the load
	Requests int
	Waited   bool // it waited for a connection
}

// maxQueue bounds the requests that wait for a connection; more are dropped at once.
const maxQueue = 1 << 20

// Queue has the jobs that wait for a connection, first in, first out.
type Queue struct {
	jobs []Job
	head int
	n    int
}

// Push adds a job after the others; it returns false where the queue is full.
func (q *Queue) Push(j Job) bool { return q.push(j, maxQueue) }

func (q *Queue) push(j Job, limit int) bool {
	if q.n >= limit {
		return false
	}
	if q.n == len(q.jobs) {
		bigger := make([]Job, max(64, 2*q.n))
		n := copy(bigger, q.jobs[q.head:])
		copy(bigger[n:], q.jobs[:q.head])
		q.jobs, q.head = bigger, 0
	}
	q.jobs[(q.head+q.n)%len(q.jobs)] = j
	q.n++
	return true
}

// Len returns how many jobs wait.
func (q *Queue) Len() int { return q.n }

// Pop takes the first job out; ok is false where there is none.
func (q *Queue) Pop() (j Job, ok bool) {
	if q.n == 0 {
		return Job{}, false
	}
	j = q.jobs[q.head]
	q.head = (q.head + 1) % len(q.jobs)
	q.n--
	return j, true
}

// Expire takes the jobs out that were scheduled before a moment, and returns the number of their requests.
func (q *Queue) Expire(before int64) (requests int64) {
	for q.n > 0 && q.jobs[q.head].At < before {
		j, _ := q.Pop()
		requests += int64(j.Requests)
	}
	return requests
}
