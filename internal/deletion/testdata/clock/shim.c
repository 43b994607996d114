// Runs before the program does, and tells it that the vDSO lies where vdso.c has been put.
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "offset.h"

static void *map(const char *variable, void *at, int protection, int flags) {
	const char *path = getenv(variable);
	struct stat info;
	int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &info) != 0) {
		perror(variable);
		_Exit(125);
	}
	void *address = mmap(at, info.st_size, protection, flags, file, 0);
	if (address == MAP_FAILED) {
		perror(variable);
		_Exit(125);
	}
	return address; // the descriptor stays open, which does no harm
}

__attribute__((constructor)) static void put(int argc, char **argv, char **environment) {
	map("CLOCK_OFFSET", (void *)OFFSET, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE);
	void *vdso = map("CLOCK_VDSO", NULL, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	while (*environment != NULL) {
		environment++;
	}
	for (Elf64_auxv_t *entry = (Elf64_auxv_t *)(environment + 1); entry->a_type != AT_NULL; entry++) {
		if (entry->a_type == AT_SYSINFO_EHDR) {
			entry->a_un.a_val = (Elf64_Addr)vdso;
		}
	}
}
