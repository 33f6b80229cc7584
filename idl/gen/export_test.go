package gen

// What the tests of names see.
var (
	Allocate = allocate
	Snake    = snake
	Pascal   = pascal
	Camel    = camel
	Number   = number
)
