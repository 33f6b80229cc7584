//go:build ignore

// Command strip copies an archive without its assets, block by block, so that
// everything else keeps the form in which the simulator wrote it:
//
//	go run strip.go <test-region.oar >stripped.oar
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
)

const block = 512

func main() {
	z, err := gzip.NewReader(bufio.NewReader(os.Stdin))
	check(err)
	out, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	check(err)
	var long []byte // the blocks of a long name, which belong to the next entry
	for {
		header := make([]byte, block)
		_, err := io.ReadFull(z, header)
		if err == io.EOF {
			break
		}
		check(err)
		if header[0] == 0 { // the end of the archive
			write(out, header)
			continue
		}
		size, err := strconv.ParseInt(strings.Trim(string(header[124:135]), " \x00"), 8, 64)
		check(err)
		content := make([]byte, (size+block-1)/block*block)
		_, err = io.ReadFull(z, content)
		check(err)
		name := header
		if long != nil {
			name = long[block:]
		}
		switch entry := append(long, append(header, content...)...); {
		case header[156] == 'L':
			long = entry
			continue
		case !bytes.HasPrefix(name, []byte("assets/")):
			write(out, entry)
		}
		long = nil
	}
	check(out.Close())
}

func write(w io.Writer, b []byte) {
	_, err := w.Write(b)
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
