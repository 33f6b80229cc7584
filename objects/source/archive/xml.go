package archive

import (
	"encoding/xml"
	"errors"
	"io"
)

const maxXMLRun = 8 << 20 // bytes of one tag and the text after it

// root returns the first element of a document.
func root(d *xml.Decoder) (xml.StartElement, error) {
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return xml.StartElement{}, errors.New("found no XML element")
		}
		if err != nil {
			return xml.StartElement{}, err
		}
		if start, ok := t.(xml.StartElement); ok {
			return start.Copy(), nil
		}
	}
}

// elements calls visit for every element with the given name, at any depth
// below the one just entered. visit may decode the element or leave it.
func elements(d *xml.Decoder, name string, visit func(xml.StartElement) error) error {
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return unexpected(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local == name {
				if err := visit(t); err != nil {
					return err
				}
				continue
			}
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

// unexpected says that a document that ends inside an element was cut off.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
