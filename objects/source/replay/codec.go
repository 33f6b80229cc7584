package replay

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wipagent/wipagent/objects/world"
)

// codec writes and reads one type of field. Both get a pointer to the field as
// v, whose value is zero when it is to be read.
type codec struct {
	append func(b []byte, v reflect.Value) ([]byte, error)
	read   func(raw []byte, v reflect.Value) error
}

// codecOf returns the codec of a type; it panics on one that no update has.
func codecOf(t reflect.Type) codec {
	switch t {
	case reflect.TypeFor[world.UUID]():
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) {
				b = append(b, '"')
				b = append(b, v.Interface().(*world.UUID).String()...)
				return append(b, '"'), nil
			},
			func(raw []byte, v reflect.Value) error {
				s, err := unquote(raw)
				if err == nil {
					*v.Interface().(*world.UUID), err = world.ParseUUID(s)
				}
				return err
			},
		}
	case reflect.TypeFor[time.Time]():
		return codec{appendTime, readTime}
	case reflect.TypeFor[world.Vec3]():
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) {
				p := v.Interface().(*world.Vec3)
				return appendNumbers(b, p.X, p.Y, p.Z), nil
			},
			func(raw []byte, v reflect.Value) error {
				p := v.Interface().(*world.Vec3)
				return readNumbers(raw, &p.X, &p.Y, &p.Z)
			},
		}
	case reflect.TypeFor[world.Quat]():
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) {
				q := v.Interface().(*world.Quat)
				return appendNumbers(b, q.X, q.Y, q.Z, q.W), nil
			},
			func(raw []byte, v reflect.Value) error {
				q := v.Interface().(*world.Quat)
				return readNumbers(raw, &q.X, &q.Y, &q.Z, &q.W)
			},
		}
	case reflect.TypeFor[[]byte]():
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) { return appendBase64(b, v.Elem().Bytes()), nil },
			func(raw []byte, v reflect.Value) error {
				data, err := readBase64(raw)
				v.Elem().SetBytes(data)
				return err
			},
		}
	case reflect.TypeFor[[]float32]():
		return codec{appendHeights, readHeights}
	}
	switch t.Kind() {
	case reflect.String:
		return codec{appendString, readString}
	case reflect.Bool:
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Elem().Bool()), nil },
			func(raw []byte, v reflect.Value) error {
				v.Elem().SetBool(string(raw) == "true")
				if s := string(raw); s != "true" && s != "false" {
					return fmt.Errorf("found %s, expected true or false", excerpt(s))
				}
				return nil
			},
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Elem().Int(), 10), nil },
			func(raw []byte, v reflect.Value) error {
				n, err := strconv.ParseInt(string(raw), 10, t.Bits())
				v.Elem().SetInt(n)
				return mistyped(err, raw, t)
			},
		}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) {
				return strconv.AppendUint(b, v.Elem().Uint(), 10), nil
			},
			func(raw []byte, v reflect.Value) error {
				n, err := strconv.ParseUint(string(raw), 10, t.Bits())
				v.Elem().SetUint(n)
				return mistyped(err, raw, t)
			},
		}
	case reflect.Float64:
		return codec{
			func(b []byte, v reflect.Value) ([]byte, error) { return appendNumber(b, v.Elem().Float()), nil },
			func(raw []byte, v reflect.Value) error { return readNumber(raw, v.Interface().(*float64)) },
		}
	case reflect.Pointer:
		return pointerCodec(t.Elem())
	case reflect.Slice:
		return sliceCodec(t.Elem())
	case reflect.Struct:
		return structCodec(t)
	}
	panic("replay: no way to write down a " + t.String())
}

func pointerCodec(t reflect.Type) codec {
	inner := codecOf(t)
	return codec{
		func(b []byte, v reflect.Value) ([]byte, error) { return inner.append(b, v.Elem()) },
		func(raw []byte, v reflect.Value) error {
			v.Elem().Set(reflect.New(t))
			return inner.read(raw, v.Elem())
		},
	}
}

func sliceCodec(t reflect.Type) codec {
	inner := codecOf(t)
	return codec{
		func(b []byte, v reflect.Value) (_ []byte, err error) {
			b = append(b, '[')
			for i := range v.Elem().Len() {
				if i > 0 {
					b = append(b, ',')
				}
				if b, err = inner.append(b, v.Elem().Index(i).Addr()); err != nil {
					return b, err
				}
			}
			return append(b, ']'), nil
		},
		func(raw []byte, v reflect.Value) error {
			list := v.Elem()
			list.Set(reflect.MakeSlice(list.Type(), 0, 0))
			zero := reflect.Zero(t)
			return eachElement(raw, func(raw []byte) error {
				n := list.Len()
				list.Set(reflect.Append(list, zero))
				if err := inner.read(raw, list.Index(n).Addr()); err != nil {
					return fmt.Errorf("entry %d: %w", n+1, err)
				}
				return nil
			})
		},
	}
}

func structCodec(t reflect.Type) codec {
	all := fieldsOf(t)
	return codec{
		func(b []byte, v reflect.Value) ([]byte, error) {
			b, err := all.append(append(b, '{'), v.Elem())
			return append(b, '}'), err
		},
		func(raw []byte, v reflect.Value) error {
			return eachMember(raw, func(name string, raw []byte) error { return all.read(name, raw, v.Elem()) })
		},
	}
}

var errNull = errors.New("found null, expected a value")

func appendNumber(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

func readNumber(raw []byte, x *float64) (err error) {
	switch {
	case string(raw) == "null":
		*x = math.NaN()
		return nil
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		err = strconv.ErrSyntax // a string, or true
	default:
		*x, err = strconv.ParseFloat(string(raw), 64)
	}
	return mistyped(err, raw, reflect.TypeFor[float64]())
}

// mistyped returns nil, or what raw should have been instead.
func mistyped(err error, raw []byte, t reflect.Type) error {
	switch {
	case err == nil:
		return nil
	case string(raw) == "null":
		return errNull
	}
	return fmt.Errorf("found %s, expected %s", excerpt(string(raw)), t.Kind())
}

func appendNumbers(b []byte, list ...float64) []byte {
	for i, x := range list {
		b = append(b, "[,"[min(i, 1)])
		b = appendNumber(b, x)
	}
	return append(b, ']')
}

func readNumbers(raw []byte, list ...*float64) error {
	n := 0
	err := eachElement(raw, func(raw []byte) error {
		if n++; n > len(list) {
			return nil
		}
		return readNumber(raw, list[n-1])
	})
	if err == nil && n != len(list) {
		err = fmt.Errorf("found %d numbers, expected %d", n, len(list))
	}
	return err
}

func appendTime(b []byte, v reflect.Value) ([]byte, error) {
	t := v.Interface().(*time.Time).UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return b, fmt.Errorf("found a time in the year %d, expected one of 0 to 9999", t.Year())
	}
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"'), nil
}

func readTime(raw []byte, v reflect.Value) error {
	s, err := unquote(raw)
	if err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("found %s, expected a time such as 2026-11-29T12:00:00Z", excerpt(s))
	}
	*v.Interface().(*time.Time) = t.UTC()
	return nil
}

func appendString(b []byte, v reflect.Value) ([]byte, error) {
	s := v.Elem().String()
	if !utf8.ValidString(s) {
		b = append(b, `{"base64":`...)
		b = appendBase64(b, []byte(s))
		return append(b, '}'), nil
	}
	return appendQuoted(b, s), nil
}

func readString(raw []byte, v reflect.Value) error {
	if raw[0] != '{' {
		s, err := unquote(raw)
		v.Elem().SetString(s)
		return err
	}
	return eachMember(raw, func(name string, raw []byte) error {
		if name != "base64" {
			return fmt.Errorf("found %s, expected base64", excerpt(name))
		}
		data, err := readBase64(raw)
		v.Elem().SetString(string(data))
		return err
	})
}

func appendBase64(b, data []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

func readBase64(raw []byte) ([]byte, error) {
	s, err := unquote(raw)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("found %s, expected base64", excerpt(s))
	}
	return data, nil
}

func appendHeights(b []byte, v reflect.Value) ([]byte, error) {
	heights := v.Elem().Interface().([]float32)
	data := make([]byte, 0, 4*len(heights))
	for _, h := range heights {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(h))
	}
	return appendBase64(b, data), nil
}

func readHeights(raw []byte, v reflect.Value) error {
	data, err := readBase64(raw)
	if err != nil {
		return err
	}
	if len(data)%4 != 0 {
		return fmt.Errorf("found %d bytes, expected 4 a height", len(data))
	}
	heights := make([]float32, len(data)/4)
	for i := range heights {
		heights[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	v.Elem().Set(reflect.ValueOf(heights))
	return nil
}
