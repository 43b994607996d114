// Where a page of memory lies that the test shares with the process: by how many seconds its clock is wrong.
#define OFFSET ((volatile long *)0x6f5e00000000)
