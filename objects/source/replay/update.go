package replay

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"github.com/wipagent/wipagent/objects/world"
)

// updates has one of each type of update.
var updates = [...]world.Update{
	world.SessionStarted{}, world.Frozen{}, world.Alive{}, world.Disconnected{},
	world.RegionEntered{}, world.RegionReady{}, world.RegionLeaving{}, world.RegionStayed{}, world.Covered{},
	world.AgentPlaced{}, world.AgentHealth{},
	world.ObjectUpdated{}, world.ObjectMoved{}, world.ObjectNamed{}, world.ObjectsKilled{}, world.ObjectsOffered{},
	world.CoarseLocations{}, world.AvatarNamed{},
	world.ParcelUpdated{}, world.TerrainUpdated{},
	world.InventoryFolder{}, world.InventoryItem{}, world.InventoryMoved{}, world.InventoryRemoved{}, world.Heard{},
}

// kind is how one type of update is written.
type kind struct {
	name   string
	typ    reflect.Type
	fields fields // the stamp's first
}

type kinds struct {
	byType map[reflect.Type]*kind
	byName map[string]*kind
}

// allKinds returns the kinds of all updates. They are worked out once, from
// the types themselves, so that what is written cannot lag behind them.
var allKinds = sync.OnceValue(func() kinds {
	k := kinds{map[reflect.Type]*kind{}, map[string]*kind{}}
	for _, u := range updates {
		t := reflect.TypeOf(u)
		one := &kind{snakeCase(t.Name()), t, fieldsOf(t)}
		k.byType[t], k.byName[one.name] = one, one
	}
	return k
})

// fields are those of a struct, in order.
type fields []field

type field struct {
	name  string
	index []int
	codec
}

// fieldsOf returns the fields of a struct and of those embedded in it.
func fieldsOf(t reflect.Type) fields {
	var all fields
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			all = append(all, field{snakeCase(f.Name), f.Index, codecOf(f.Type)})
		}
	}
	return all
}

// snakeCase turns LocalIDs into local_ids.
func snakeCase(name string) string {
	runes := []rune(strings.ReplaceAll(name, "IDs", "Ids"))
	var b strings.Builder
	for i, r := range runes {
		follows := i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if unicode.IsUpper(r) && follows {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// append writes the members of the struct v that are not zero.
func (all fields) append(b []byte, v reflect.Value) (_ []byte, err error) {
	for i := range all {
		f := v.FieldByIndex(all[i].index)
		if f.IsZero() {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, all[i].name...)
		b = append(b, '"', ':')
		if b, err = all[i].append(b, f.Addr()); err != nil {
			return b, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	return b, nil
}

// read reads one member of the struct v.
func (all fields) read(name string, raw []byte, v reflect.Value) error {
	for i := range all {
		if all[i].name == name {
			if err := all[i].read(raw, v.FieldByIndex(all[i].index).Addr()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
	}
	return fmt.Errorf("found the unknown field %s", excerpt(name))
}

// appendUpdate appends an update's line.
func appendUpdate(b []byte, u world.Update) ([]byte, error) {
	k := allKinds().byType[reflect.TypeOf(u)]
	if k == nil {
		return b, fmt.Errorf("found an update of the unknown type %T", u)
	}
	v := reflect.New(k.typ).Elem()
	v.Set(reflect.ValueOf(u))
	b = append(b, `{"type":"`...)
	b = append(b, k.name...)
	b = append(b, '"')
	b, err := k.fields.append(b, v)
	if err != nil {
		return b, fmt.Errorf("%s: %w", k.name, err)
	}
	return append(b, '}', '\n'), nil
}

// parseUpdate reads an update's line.
func parseUpdate(line []byte) (world.Update, error) {
	if err := checkJSON(line); err != nil {
		return nil, err
	}
	var k *kind
	var v reflect.Value
	err := eachMember(line, func(name string, raw []byte) error {
		if k != nil {
			if err := k.fields.read(name, raw, v); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			return nil
		}
		if name != "type" {
			return fmt.Errorf("found %s first, expected the type", excerpt(name))
		}
		typ, err := unquote(raw)
		if err != nil {
			return fmt.Errorf("type: %w", err)
		}
		if k = allKinds().byName[typ]; k == nil {
			return fmt.Errorf("found the unknown type %s", excerpt(typ))
		}
		v = reflect.New(k.typ).Elem()
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case k == nil:
		return nil, errors.New("found no type")
	}
	u := v.Interface().(world.Update)
	switch s := world.StampOf(u); {
	case s.Generation == 0:
		return nil, fmt.Errorf("%s: found no generation", k.name)
	case s.At.IsZero():
		return nil, fmt.Errorf("%s: found no time", k.name)
	}
	return u, nil
}
