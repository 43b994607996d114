// A stand-in for the kernel's vDSO, whose clock can be set: Go asks the vDSO for the time and no function that a library could
// take the place of. shim.c puts it there.
#include <sys/syscall.h>
#include <time.h>

#include "offset.h"

#if defined(__x86_64__)
#define NAME __vdso_clock_gettime
static long gettime(clockid_t clock, struct timespec *now) {
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_clock_gettime), "D"(clock), "S"(now) : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
#define NAME __kernel_clock_gettime
static long gettime(clockid_t clock, struct timespec *now) {
	register long number __asm__("x8") = SYS_clock_gettime;
	register long result __asm__("x0") = clock;
	register struct timespec *into __asm__("x1") = now;
	__asm__ volatile("svc 0" : "+r"(result) : "r"(number), "r"(into) : "memory");
	return result;
}
#else
#error "the name of the clock is not known for this machine"
#endif

int NAME(clockid_t clock, struct timespec *now) {
	int result = gettime(clock, now);
	if (result == 0 && clock == CLOCK_REALTIME) {
		now->tv_sec += *OFFSET;
	}
	return result;
}
