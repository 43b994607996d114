// Command bare is what the sidecar's start and its round trips are measured beside (docs/reference/performance.md): a program that opens a
// store and prints one line, and one that gives every line back.
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"

	_ "github.com/mattn/go-sqlite3"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "echo" {
		echo()
		return
	}
	if err := open(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func open(uri string) error {
	db, err := sql.Open("sqlite3", uri)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var version string
	var tables int
	if err := db.QueryRow("SELECT sqlite_version(), count(*) FROM sqlite_schema").Scan(&version, &tables); err != nil {
		return err
	}
	_, err = fmt.Println(version, tables)
	return err
}

func echo() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := os.Stdout.Write(line); err != nil {
			return
		}
	}
}
