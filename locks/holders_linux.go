package locks

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// holdersOf reads the system's list of locks.
func holdersOf(path string, info fs.FileInfo) (holders []Holder, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	list, err := os.Open("/proc/locks")
	if !ok || err != nil {
		return nil, false
	}
	defer func() { _ = list.Close() }()
	for lines := bufio.NewScanner(list); lines.Scan(); {
		l, ok := readLock(lines.Text())
		if !ok || l.inode != stat.Ino || l.pid == os.Getpid() {
			continue
		}
		// A file system may give a file another device number than its own.
		if l.device != deviceText(uint64(stat.Dev)) && !hasOpen(l.pid, path) {
			continue
		}
		holders = append(holders, Holder{l.pid, programOf(l.pid)})
	}
	slices.SortFunc(holders, func(a, b Holder) int { return cmp.Compare(a.PID, b.PID) })
	return slices.Compact(holders), true
}

// heldLock is one line of the list.
type heldLock struct {
	pid    int
	device string
	inode  uint64
}

// readLock reads a line such as "1: FLOCK  ADVISORY  WRITE 4711 fd:01:262147 0 EOF". A line with an arrow is of one who waits.
func readLock(line string) (l heldLock, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[1] == "->" {
		return l, false
	}
	device, inode, found := cutLast(fields[5], ":")
	pid, err := strconv.Atoi(fields[4])
	if !found || err != nil || pid <= 0 {
		return l, false
	}
	number, err := strconv.ParseUint(inode, 10, 64)
	return heldLock{pid, device, number}, err == nil
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

func deviceText(device uint64) string {
	return fmt.Sprintf("%02x:%02x", unix.Major(device), unix.Minor(device))
}

// hasOpen tells whether a process has a file open, where that can be seen.
func hasOpen(pid int, path string) bool {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		target, err := os.Readlink(filepath.Join(folder, e.Name()))
		return err == nil && target == path
	})
}

func programOf(pid int) string {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
