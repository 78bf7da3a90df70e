package workload

// Job is one request, or one user with several.
type Job struct {
	At       int64 // when it is scheduled, in ns since the load began
	Requests int
	Waited   bool // it waited for a connection
}

// maxQueue bounds the jobs that wait for a connection; more are dropped at once.
const maxQueue = 1 << 20

// Queue holds the jobs that wait for a connection, first in, first out.
type Queue struct {
	jobs []Job
	head int
	n    int
}

// Push adds a job at the end; it returns false if the queue is full.
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

// Len returns the number of waiting jobs.
func (q *Queue) Len() int { return q.n }

// Pop removes the first job and returns it; ok is false if there is none.
func (q *Queue) Pop() (j Job, ok bool) {
	if q.n == 0 {
		return Job{}, false
	}
	j = q.jobs[q.head]
	q.head = (q.head + 1) % len(q.jobs)
	q.n--
	return j, true
}

// Expire removes the jobs at the head that wait for a connection and were scheduled before a moment.
// It returns the number of their requests.
func (q *Queue) Expire(before int64) (requests int64) {
	for q.n > 0 && q.jobs[q.head].Waited && q.jobs[q.head].At < before {
		j, _ := q.Pop()
		requests += int64(j.Requests)
	}
	return requests
}
