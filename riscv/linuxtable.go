package riscv

import "fmt"

// linuxCall is a call of Linux that there is here.
type linuxCall struct {
	// does returns what the call does, an error below 0. It sets the machine's fault to end the guest.
	does func(m *machine, t *thread) int64
	says string // what the call answers, as docs/riscv.md has it
}

// absent are calls that programs try and do without: no MissingCall tells of them.
func absent(*machine, *thread) int64 { return noCall }

// constant is a call that always returns the same.
func constant(code int64) func(*machine, *thread) int64 {
	return func(*machine, *thread) int64 { return code }
}

const (
	saysEmptyRoot = "error: of paths there is the folder `/` alone, which is empty, and can be neither listed nor written to"
	saysNoSeek    = "error: what is read and written has no positions"
	saysPipe      = "error: a pipe is no file that is kept"
	saysNothing   = "0, and nothing is done"
	saysSignals   = "ends the guest by its signal; 0 of one that is ignored, of SIGURG, and of number 0"
	saysUser      = "1000"
	saysAbsent    = "error ENOSYS, as of an older kernel; the C libraries do without"
)

// linuxByName are the calls that there are, by the names of callRuns.
var linuxByName = map[string]linuxCall{
	"read":            {(*machine).read, "the input on descriptor 0, which ends where the input does"},
	"readv":           {(*machine).readv, "the input on descriptor 0, which ends where the input does"},
	"write":           {(*machine).write, "to standard output and error, 1 MiB at most"},
	"writev":          {(*machine).writev, "to standard output and error, 1 MiB at most"},
	"close":           {(*machine).closeFile, "closes descriptors 0 to 2"},
	"fstat":           {(*machine).fstat, "descriptors 0 to 2 are pipes, 3 and 4 files without a name"},
	"lseek":           {(*machine).noPosition, saysNoSeek},
	"pread64":         {(*machine).noPosition, saysNoSeek},
	"pwrite64":        {(*machine).noPosition, saysNoSeek},
	"preadv":          {(*machine).noPosition, saysNoSeek},
	"pwritev":         {(*machine).noPosition, saysNoSeek},
	"fsync":           {(*machine).ofPipe, saysPipe},
	"fdatasync":       {(*machine).ofPipe, saysPipe},
	"ftruncate":       {(*machine).ofPipe, saysPipe},
	"copy_file_range": {(*machine).ofPipe, saysPipe},
	"sendfile":        {(*machine).ofPipe, saysPipe},
	"ioctl":           {(*machine).ioctl, "error: there is no terminal"},
	"fcntl":           {(*machine).fcntl, "flags of descriptors 0 to 2, which do not change"},
	"dup":             {(*machine).dup, "error: there are no more descriptors"},
	"dup3":            {(*machine).dup, "error: there are no more descriptors"},
	"ppoll":           {(*machine).ppoll, "descriptors 0 to 2 are ready"},

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
	"getdents64": {(*machine).ofDirectory, saysEmptyRoot},
	"fchdir":     {(*machine).ofDirectory, saysEmptyRoot},
	"newfstatat": {(*machine).newfstatat, "as fstat, and of `/`"},
	"statx":      {(*machine).statx, "as fstat, and of `/`"},
	"faccessat":  {(*machine).faccessat, "whether a path is `/`"},
	"faccessat2": {(*machine).faccessat, "whether a path is `/`"},
	"chdir":      {(*machine).chdir, "whether a path is `/`"},
	"getcwd":     {(*machine).getcwd, "`/`"},
	"umask":      {constant(0o22), "022"},

	"epoll_create1": {constant(epollFD), "descriptor 3"},
	"eventfd2":      {constant(eventFD), "descriptor 4"},
	"epoll_ctl":     {(*machine).epollCtl, "waits for descriptor 4, as Go's timers do"},
	"epoll_pwait":   {(*machine).epollWait, "waits for descriptor 4, as Go's timers do"},

	"brk":             {(*machine).brk, "the heap, from the end of the segments up to what is mapped there"},
	"mmap":            {(*machine).mmap, "memory without a file, which is not executed"},
	"munmap":          {(*machine).munmap, "memory that is no code"},
	"mprotect":        {(*machine).mprotect, "memory that is no code"},
	"madvise":         {(*machine).madvise, "MADV_DONTNEED makes pages zero again; other advice does nothing"},
	"getrandom":       {(*machine).random, "bytes that are the same in every run, 256 at most"},
	"clock_gettime":   {(*machine).clockGettime, "the guest's time: 1 us later with each call, from 2023-11-14 on, and from 0 on of the clocks of processor time"},
	"gettimeofday":    {(*machine).gettimeofday, "the guest's time: 1 us later with each call, from 2023-11-14 on, and from 0 on of the clocks of processor time"},
	"clock_getres":    {(*machine).clockGetres, "1 us"},
	"nanosleep":       {(*machine).nanosleep, "other threads run; when all wait, time goes on to the first that ends"},
	"clock_nanosleep": {(*machine).clockNanosleep, "other threads run; when all wait, time goes on to the first that ends"},

	"clone":             {(*machine).clone, "a thread of the same process, 1024 at most; error ENOSYS of a process"},
	"exit":              {(*machine).endThread, "ends the thread, and the guest with the last one"},
	"exit_group":        {(*machine).exitGroup, "ends the guest"},
	"futex":             {(*machine).futex, "waits, wakes and requeues; error ENOSYS of other operations"},
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
	"rt_sigaction":   {(*machine).sigaction, "keeps what a program wants of a signal; none is delivered"},
	"rt_sigprocmask": {(*machine).sigprocmask, "keeps what a program wants of a signal; none is delivered"},
	"sigaltstack":    {constant(0), saysNothing},

	"prctl":              {(*machine).prctl, "0 for names of threads and mappings, which are not kept; error of what else there is"},
	"prlimit64":          {(*machine).prlimit, "8 MiB of the first stack; error ENOSYS of other limits"},
	"uname":              {(*machine).uname, "Linux 6.1.0 on riscv64"},
	"sysinfo":            {(*machine).sysinfo, "the memory limit, and what is free of it"},
	"riscv_flush_icache": {constant(0), saysNothing},
	"set_robust_list":    {absent, saysAbsent},
	"get_robust_list":    {absent, saysAbsent},
	"rseq":               {absent, saysAbsent},
	"clone3":             {absent, saysAbsent},
	"membarrier":         {absent, saysAbsent},
	"mremap":             {absent, saysAbsent},
	"riscv_hwprobe":      {absent, saysAbsent},
}

// linuxCalls are the calls that there are, by their numbers.
var linuxCalls = func() (calls [mostCalls]linuxCall) {
	for number, name := range callNames {
		calls[number] = linuxByName[name]
	}
	return calls
}()

// signalName names a signal with its number.
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
