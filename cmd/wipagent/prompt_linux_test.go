package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal returns the two ends of a pseudo-terminal: who types, and the
// program.
func terminal(t *testing.T) (hand, screen *os.File) {
	t.Helper()
	hand, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { hand.Close() })
	if err := unix.IoctlSetPointerInt(int(hand.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(hand.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return hand, screen
}

func echoes(t *testing.T, f *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// silence waits until what is typed is not shown any more.
func silence(t *testing.T, f *os.File) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); echoes(t, f); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the terminal goes on echoing")
		}
	}
}

func TestAskDoesNotEcho(t *testing.T) {
	hand, screen := terminal(t)
	defer screen.Close()
	const canary = "c4n4ry"
	var prompt bytes.Buffer
	c := &cli{io: streams{in: screen, err: &prompt}}
	done := make(chan error, 1)
	go func() {
		typed, err := c.ask(t.Context(), "Password\x1b[2J")
		if err == nil && typed.Reveal() != canary {
			err = errors.New("something else was read")
		}
		done <- err
	}()
	silence(t, screen)
	if _, err := hand.WriteString(canary + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if prompt.String() != "Password [2J: \n" {
		t.Errorf("found the prompt %q", prompt.String())
	}
	if !echoes(t, screen) {
		t.Error("the terminal does not echo afterwards")
	}
	fmt.Fprint(screen, "end") // so that there is something to read
	seen := make([]byte, 1024)
	n, err := hand.Read(seen)
	if err != nil || strings.Contains(string(seen[:n]), canary) {
		t.Errorf("the terminal shows %q, %v", seen[:n], err)
	}
}

// The end of what is typed, and an empty line, are no answer.
func TestTypedIsNoAnswer(t *testing.T) {
	for want, given := range map[string]error{"Ctrl-D": io.EOF, "nothing was typed": nil} {
		var e *exitError
		if _, err := typed("Password", nil, given); !errors.As(err, &e) || e.code != exitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: found %v, want an end with code %d", given, err, exitUsage)
		}
	}
}

func TestAskIsInterrupted(t *testing.T) {
	hand, screen := terminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := &cli{io: streams{in: screen, err: &bytes.Buffer{}}}
	done := make(chan error, 1)
	go func() {
		_, err := c.ask(ctx, "Password")
		done <- err
	}()
	silence(t, screen)
	cancel()
	var e *exitError
	if err := <-done; !errors.As(err, &e) || e.code != exitUnavailable {
		t.Errorf("found %v, want an end with code %d", err, exitUnavailable)
	}
	if !echoes(t, screen) {
		t.Error("the terminal does not echo afterwards")
	}
	hand.WriteString("\n") // lets go of who still reads
}

func TestAskWithoutTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := (&cli{io: streams{in: null}}).ask(t.Context(), "Password"); !errors.Is(err, errNobody) {
		t.Errorf("found %v, want %v", err, errNobody)
	}
}
