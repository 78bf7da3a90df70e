package workload

import "time"

// Job is one request, or one user with several.
type Job struct {
	Due      time.Time
	Requests int
	Held     bool // it waited for a connection
}

// maxQueue bounds the requests that wait for a connection; more are dropped at once.
const maxQueue = 1 << 20

// Queue has the jobs that wait for a connection, first in, first out.
type Queue struct {
	jobs []Job
	head int
	n    int
}

// Push adds a job behind the others; it returns false where the queue is full.
func (q *Queue) Push(j Job) bool {
	return q.push(j, maxQueue)
}

func (q *Queue) push(j Job, most int) bool {
	if q.n >= most {
		return false
	}
	if q.n == len(q.jobs) {
		bigger := make([]Job, max(64, 2*q.n))
		for i := range q.n {
			bigger[i] = q.jobs[(q.head+i)%len(q.jobs)]
		}
		q.jobs, q.head = bigger, 0
	}
	q.jobs[(q.head+q.n)%len(q.jobs)] = j
	q.n++
	return true
}

// Peek is the first job; ok is false where there is none.
func (q *Queue) Peek() (Job, bool) {
	if q.n == 0 {
		return Job{}, false
	}
	return q.jobs[q.head], true
}

// Len is how many jobs wait.
func (q *Queue) Len() int { return q.n }

// Pop takes the first job out.
func (q *Queue) Pop() (Job, bool) {
	j, ok := q.Peek()
	if ok {
		q.head = (q.head + 1) % len(q.jobs)
		q.n--
	}
	return j, ok
}
