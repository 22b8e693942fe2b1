/* What a program of C asks of Linux beside reading and writing. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SAY(call) (errno = 0, say(#call, (long)(call)))

static void say(const char *what, long got) {
    int code = errno;
    printf("%s: %ld %s\n", what, got, got < 0 ? strerror(code) : "");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns = PTHREAD_COND_INITIALIZER;
static int turn;

/* Two threads take turns. */
static void *player(void *of) {
    for (long i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % 2 != (long)of)
            pthread_cond_wait(&turns, &mutex);
        turn++;
        pthread_cond_broadcast(&turns);
        pthread_mutex_unlock(&mutex);
    }
    return of;
}

static void *sleeper(void *unused) {
    usleep(1000);
    return unused;
}

int main(void) {
    struct stat st;
    char text[64];
    struct winsize size;

    SAY(fstat(0, &st)), printf("%o\n", st.st_mode & S_IFMT);
    SAY(fstat(9, &st));
    SAY(stat("/", &st)), printf("%o\n", st.st_mode & S_IFMT);
    SAY(stat("/no/such", &st));
    SAY(stat("", &st));
    SAY(open("/no/such", O_RDONLY));
    char name[300];
    memset(name, 'n', sizeof name), name[0] = '/', name[256] = 0;
    SAY(open(name, O_RDONLY)), name[256] = 'n', name[257] = 0, SAY(open(name, O_RDONLY)), SAY(stat(name + 1, &st));
    memcpy(name, "/no/such", 8), SAY(open(name, O_RDONLY));
    SAY(open("/no/such", O_RDWR | O_CREAT, 0600));
    SAY(mkdir("/no/such/folder", 0700));
    SAY(mkdir("/", 0700));
    SAY(unlink("/no/such"));
    SAY(rename("/no/such", "/other"));
    SAY(access("/no/such", R_OK));
    SAY(access("/", F_OK));
    SAY(readlink("/no/such", text, sizeof text));
    SAY(readlink("/", text, sizeof text));
    SAY(chdir("/")), SAY(getcwd(text, 1) != NULL), SAY(getcwd(text, sizeof text) != NULL), puts(text);
    SAY(lseek(0, 0, SEEK_CUR)), SAY(lseek(9, 0, SEEK_CUR)), SAY(lseek(0, 0, 9)), SAY(lseek(9, 0, 9));
    SAY(fsync(1)), SAY(fsync(9)), SAY(ftruncate(1, 0));
    SAY(pread(0, text, 1, 0)), SAY(pwrite(1, text, 1, 0));
    SAY(ioctl(1, TIOCGWINSZ, &size)), SAY(isatty(0)), SAY(ioctl(9, TIOCGWINSZ, &size));
    SAY(fcntl(0, F_GETFD)), SAY(fcntl(9, F_GETFD));
    SAY(close(9));
    for (int fd = 3; fd < 5; fd++) /* that the program has not opened */
        SAY(fstat(fd, &st)), SAY(read(fd, text, 8)), SAY(write(fd, text, 8)), SAY(fcntl(fd, F_GETFD)), SAY(close(fd));
    SAY(poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, -1));
    SAY(poll(&(struct pollfd){.fd = 9, .events = POLLIN}, 1, -1));
    SAY(poll(NULL, 0, 1));

    struct timeval none = {0, 0}, one = {0, 1000};
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(0, &in), FD_SET(1, &out), FD_SET(2, &out);
    SAY(select(3, &in, &out, NULL, NULL)), SAY(FD_ISSET(0, &in) && FD_ISSET(1, &out) && FD_ISSET(2, &out));
    SAY(select(2, &in, &out, NULL, &none)), SAY(select(0, NULL, NULL, NULL, &one)), SAY(one.tv_usec);
    FD_ZERO(&in);
    FD_SET(1, &in), one.tv_usec = 1000;
    SAY(select(2, &in, NULL, NULL, &one)), SAY(FD_ISSET(1, &in));
    FD_SET(9, &in);
    SAY(select(10, &in, NULL, NULL, NULL)), SAY(select(9, &in, NULL, &out, &none)), SAY(select(-1, NULL, NULL, NULL, NULL));
    SAY(select(1, (fd_set *)8, NULL, NULL, NULL));

    struct iovec parts[2] = {{text, 2}, {text + 2, 60}};
    memset(text, 0, sizeof text);
    SAY(readv(0, parts, 2)), puts(text);
    fflush(stdout);
    parts[0] = (struct iovec){"a", 1}, parts[1] = (struct iovec){"bc\n", 3};
    SAY(writev(1, parts, 2));
    SAY(writev(9, parts, 2));
    SAY(write(1, (void *)8, 1));

    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    usleep(2000);
    clock_gettime(CLOCK_MONOTONIC, &b);
    SAY((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 2000000);
    struct timespec wrong[] = {{0, 1000000000}, {0, -1}, {-1, 0}};
    for (int i = 0; i < 3; i++) {
        SAY(nanosleep(&wrong[i], NULL)), SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong[i], NULL));
        SAY(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wrong[i], NULL)), SAY(ppoll(NULL, 0, &wrong[i], NULL));
        SAY(syscall(SYS_futex, &turn, 0, 0, &wrong[i])); /* to wait */
    }
    SAY(syscall(SYS_futex, (char *)&turn + 1, 0, 0, NULL));
    struct rusage used;
    SAY(getrusage(RUSAGE_SELF, &used)), SAY(used.ru_maxrss > 100), SAY(getrusage(RUSAGE_CHILDREN, &used)), SAY(used.ru_maxrss);
    SAY(getrusage(9, &used));
    SAY(clock_gettime(99, &a)), SAY(time(NULL) > 1600000000), SAY(clock() >= 0);

    /* Memory by brk, by mmap, and moved. */
    char *small = malloc(100), *large = malloc(1 << 20), *larger;
    memset(large, 7, 1 << 20);
    larger = realloc(large, 1 << 24);
    SAY(small != NULL && larger[(1 << 20) - 1] == 7);
    char *before = sbrk(0);
    SAY(sbrk(1 << 22) == before), before[(1 << 22) - 1] = 1, SAY(brk(before)), SAY(sbrk(0) == before);
    SAY(brk((void *)-1));
    SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 9, 0)), SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 1, 0));
    SAY(mmap(NULL, 4096, PROT_READ, MAP_ANONYMOUS, -1, 0)), SAY(mmap(NULL, 0, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0));
    SAY(mmap(NULL, 1ul << 60, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0));
    SAY(mmap((void *)0x7123457, 4096, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0) != MAP_FAILED);
    SAY(mmap((void *)0x7123457, 4096, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, -1, 0));

    /* Signals that nothing is done about. */
    struct sigaction act = {.sa_handler = SIG_IGN}, old;
    SAY(sigaction(SIGUSR1, &act, NULL)), SAY(sigaction(SIGUSR1, NULL, &old)), SAY(old.sa_handler == SIG_IGN);
    SAY(raise(SIGUSR1)), SAY(kill(getpid(), SIGCHLD)), SAY(kill(getpid(), 0)), SAY(sigaction(SIGKILL, &act, NULL));
    SAY(gettid() == getpid());
    sigset_t set, was;
    sigemptyset(&set), sigaddset(&set, SIGUSR2);
    SAY(sigprocmask(SIG_BLOCK, &set, NULL)), SAY(sigprocmask(SIG_BLOCK, NULL, &was)), SAY(sigismember(&was, SIGUSR2));

    pthread_t threads[3];
    for (long i = 0; i < 2; i++)
        SAY(pthread_create(&threads[i], NULL, player, (void *)i));
    SAY(pthread_create(&threads[2], NULL, sleeper, NULL));
    for (int i = 0; i < 3; i++)
        SAY(pthread_join(threads[i], NULL));
    SAY(turn);
    clock_gettime(CLOCK_REALTIME, &a);
    a.tv_nsec = 0, a.tv_sec += 1;
    pthread_mutex_lock(&mutex);
    SAY(pthread_cond_timedwait(&turns, &mutex, &a) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    SAY(pthread_mutex_timedlock(&mutex, &a));
    int event = eventfd(0, EFD_NONBLOCK);
    SAY(write(event, text, 1)), SAY(read(event, text, 1)), SAY(read(event, text, 8));
    SAY(close(0)), SAY(read(0, text, 1));
    fprintf(stderr, "to standard error\n");
    return 7;
}
