// Package secret holds what must not be seen outside the wire: passwords,
// session IDs, capability addresses, the hash that stands for an MFA code.
package secret

import (
	"fmt"
	"log/slog"
)

// Of is a secret value. Whoever prints, logs or encodes it, or a struct that
// holds it, gets "[secret]" or an address, and never the value: it lies
// behind a function, where neither fmt nor reflection looks. The zero value
// holds none. Values are immutable and safe for concurrent use.
type Of[T any] struct{ reveal func() T }

// Hidden is what is shown in a secret's place.
const Hidden = "[secret]"

// New returns v as a secret.
func New[T any](v T) Of[T] { return Of[T]{func() T { return v }} }

// Reveal returns the value; the zero value of T if there is none. What it
// returns belongs on the wire or in a file of the user's own, nowhere else.
func (s Of[T]) Reveal() T {
	if s.reveal == nil {
		var none T
		return none
	}
	return s.reveal()
}

// IsZero reports whether there is no value.
func (s Of[T]) IsZero() bool { return s.reveal == nil }

// Format implements fmt.Formatter: every verb prints Hidden.
func (s Of[T]) Format(f fmt.State, _ rune) { fmt.Fprint(f, Hidden) }

// String returns Hidden.
func (s Of[T]) String() string { return Hidden }

// MarshalText returns Hidden.
func (s Of[T]) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// LogValue returns Hidden.
func (s Of[T]) LogValue() slog.Value { return slog.StringValue(Hidden) }
