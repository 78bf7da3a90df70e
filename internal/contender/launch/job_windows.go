package launch

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// job is a group of processes that Windows ends with this process, so Clean finds none.
type job struct{ handle windows.Handle }

// newJob puts a process and its later children into a job, if this user may make one.
func newJob(pid int) (j job) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return j
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(handle, pid)
	}
	if err != nil {
		windows.CloseHandle(handle)
		return j
	}
	return job{handle}
}

func assign(handle windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(handle, process)
}

// end ends the processes in the job.
func (j *job) end(string) error {
	if j.handle == 0 {
		return nil
	}
	err := windows.CloseHandle(j.handle)
	j.handle = 0
	return err
}

func cleanProcesses(string, func(what, owner string) bool) ([]string, error) { return nil, nil }
