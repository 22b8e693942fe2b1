package riscv

import "fmt"

// linuxCall is a Linux system call that this package implements.
type linuxCall struct {
	// does executes the call and returns its result, an error if it is below 0. It sets the machine's fault
	// to end the guest.
	does func(m *machine, t *thread) int64
	says string // what the call answers; the text is in docs/riscv.md
}

// absent implements calls that programs try but do not need. They are not reported as a MissingCall.
func absent(*machine, *thread) int64 { return noCall }

// constant returns a call that always returns code.
func constant(code int64) func(*machine, *thread) int64 {
	return func(*machine, *thread) int64 { return code }
}

const (
	saysEmptyRoot = "error: the only path is `/`, an empty folder that can be neither listed nor changed"
	saysNoSeek    = "error: pipes have no positions"
	saysPipe      = "error: pipes cannot do this"
	saysNothing   = "0, and nothing is done"
	saysSignals   = "ends the guest, since no signal is delivered; 0 for number 0, SIGURG and signals that are ignored"
	saysUser      = "1000"
	saysAbsent    = "error ENOSYS, as from an older kernel; C libraries do without these calls"
)

// linuxByName holds the implemented calls, indexed by their names in callRuns.
var linuxByName = map[string]linuxCall{
	"read":            {(*machine).read, "reads the input on descriptor 0"},
	"readv":           {(*machine).readv, "reads the input on descriptor 0"},
	"write":           {(*machine).write, "writes to standard output and error, at most 1 MiB a call"},
	"writev":          {(*machine).writev, "writes to standard output and error, at most 1 MiB a call"},
	"close":           {(*machine).closeFile, "closes one of descriptors 0 to 2"},
	"fstat":           {(*machine).fstat, "descriptors 0 to 2 are pipes; 3 and 4, if they are open, are files without a name"},
	"lseek":           {(*machine).lseek, saysNoSeek},
	"pread64":         {(*machine).noPosition, saysNoSeek},
	"pwrite64":        {(*machine).noPosition, saysNoSeek},
	"preadv":          {(*machine).noPosition, saysNoSeek},
	"pwritev":         {(*machine).noPosition, saysNoSeek},
	"fsync":           {(*machine).refusePipe, saysPipe},
	"fdatasync":       {(*machine).refusePipe, saysPipe},
	"ftruncate":       {(*machine).refusePipe, saysPipe},
	"copy_file_range": {(*machine).refusePipe, saysPipe},
	"sendfile":        {(*machine).refusePipe, saysPipe},
	"ioctl":           {(*machine).ioctl, "error: there is no terminal"},
	"fcntl":           {(*machine).fcntl, "the flags of descriptors 0 to 2, which cannot be changed"},
	"dup":             {(*machine).dup, "error: there are no more descriptors"},
	"dup3":            {(*machine).dup, "error: there are no more descriptors"},
	"ppoll":           {(*machine).ppoll, "descriptors 0 to 2 are ready"},
	"pselect6":        {(*machine).pselect, "descriptors 0 to 2 are ready"},

	"openat":     {(*machine).openat, saysEmptyRoot},
	"readlinkat": {(*machine).readlinkat, saysEmptyRoot},
	"mkdirat":    {(*machine).create, saysEmptyRoot},
	"mknodat":    {(*machine).create, saysEmptyRoot},
	"symlinkat":  {(*machine).symlinkat, saysEmptyRoot},
	"unlinkat":   {(*machine).change, saysEmptyRoot},
	"renameat2":  {(*machine).change, saysEmptyRoot},
	"linkat":     {(*machine).change, saysEmptyRoot},
	"fchmodat":   {(*machine).change, saysEmptyRoot},
	"fchownat":   {(*machine).change, saysEmptyRoot},
	"utimensat":  {(*machine).change, saysEmptyRoot},
	"execve":     {(*machine).execve, saysEmptyRoot},
	"getdents64": {(*machine).refuseDirectory, saysEmptyRoot},
	"fchdir":     {(*machine).refuseDirectory, saysEmptyRoot},
	"newfstatat": {(*machine).newfstatat, "for a descriptor as `fstat`; also answers for the path `/`"},
	"statx":      {(*machine).statx, "for a descriptor as `fstat`; also answers for the path `/`"},
	"faccessat":  {(*machine).faccessat, "0 for `/`, error for any other path"},
	"faccessat2": {(*machine).faccessat, "0 for `/`, error for any other path"},
	"chdir":      {(*machine).chdir, "0 for `/`, error for any other path"},
	"getcwd":     {(*machine).getcwd, "`/`"},
	"umask":      {constant(0o22), "022"},

	"epoll_create1": {(*machine).epollCreate, "descriptor 3"},
	"eventfd2":      {(*machine).eventfd, "descriptor 4"},
	"epoll_ctl":     {(*machine).epollCtl, "wait for descriptor 4, as Go's timers do"},
	"epoll_pwait":   {(*machine).epollWait, "wait for descriptor 4, as Go's timers do"},

	"brk":             {(*machine).brk, "moves the end of the heap, which begins behind the segments"},
	"mmap":            {(*machine).mmap, "maps memory without a file, and without the right to execute"},
	"mremap":          {(*machine).mremap, "makes a mapping longer or shorter, and moves it; error for code"},
	"munmap":          {(*machine).munmap, "removes pages, or changes their access rights; error for code"},
	"mprotect":        {(*machine).mprotect, "removes pages, or changes their access rights; error for code"},
	"madvise":         {(*machine).madvise, "MADV_DONTNEED zeroes pages; other advice does nothing"},
	"getrandom":       {(*machine).random, "bytes that are the same in every run, at most 256 a call"},
	"clock_gettime":   {(*machine).clockGettime, "the guest's time, which begins at 2023-11-14 and advances by 1 us with each call; clocks of processor time begin at 0"},
	"gettimeofday":    {(*machine).gettimeofday, "the guest's time, which begins at 2023-11-14 and advances by 1 us with each call; clocks of processor time begin at 0"},
	"clock_getres":    {(*machine).clockGetres, "1 us"},
	"getrusage":       {(*machine).getrusage, "the guest's time as processor time, and its peak memory"},
	"nanosleep":       {(*machine).nanosleep, "other threads run; when all wait, time jumps to the first deadline"},
	"clock_nanosleep": {(*machine).clockNanosleep, "other threads run; when all wait, time jumps to the first deadline"},

	"clone":             {(*machine).clone, "starts a thread of the same process, up to 1024 threads in all; error ENOSYS for a new process"},
	"exit":              {(*machine).endThread, "ends the thread, and the guest with the last one"},
	"exit_group":        {(*machine).exitGroup, "ends the guest"},
	"futex":             {(*machine).futex, "wait, wake and requeue; error ENOSYS for other operations"},
	"set_tid_address":   {(*machine).setTID, "the thread's number"},
	"gettid":            {(*machine).gettid, "the thread's number"},
	"getpid":            {constant(processID), saysUser},
	"getppid":           {constant(1), "1"},
	"getuid":            {constant(processID), saysUser},
	"geteuid":           {constant(processID), saysUser},
	"getgid":            {constant(processID), saysUser},
	"getegid":           {constant(processID), saysUser},
	"getgroups":         {constant(0), "0"},
	"sched_yield":       {(*machine).yield, "other threads run first"},
	"sched_getaffinity": {(*machine).affinity, "one processor"},
	"getcpu":            {(*machine).getcpu, "one processor"},

	"kill":           {(*machine).kill, saysSignals},
	"tkill":          {(*machine).tkill, saysSignals},
	"tgkill":         {(*machine).tgkill, saysSignals},
	"rt_sigaction":   {(*machine).sigaction, "stored and returned; no signal is delivered"},
	"rt_sigprocmask": {(*machine).sigprocmask, "stored and returned; no signal is delivered"},
	"sigaltstack":    {constant(0), saysNothing},

	"prctl":              {(*machine).prctl, "0 for names of threads and mappings, which are not stored; else an error"},
	"prlimit64":          {(*machine).prlimit, "8 MiB for the stack; error ENOSYS for other limits"},
	"uname":              {(*machine).uname, "Linux 6.1.0 on riscv64"},
	"sysinfo":            {(*machine).sysinfo, "the memory limit and the free memory"},
	"riscv_flush_icache": {constant(0), saysNothing},
	"set_robust_list":    {absent, saysAbsent},
	"get_robust_list":    {absent, saysAbsent},
	"rseq":               {absent, saysAbsent},
	"clone3":             {absent, saysAbsent},
	"membarrier":         {absent, saysAbsent},
	"riscv_hwprobe":      {absent, saysAbsent},
}

// linuxCalls holds the implemented calls, indexed by number.
var linuxCalls = func() (calls [mostCalls]linuxCall) {
	for number, name := range callNames {
		calls[number] = linuxByName[name]
	}
	return calls
}()

// signalName returns the name of a signal with its number.
func signalName(number uint64) string {
	names := [...]string{
		"", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",
		"SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU",
		"SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
	}
	if number == 0 || number >= uint64(len(names)) {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%s (%d)", names[number], number)
}
