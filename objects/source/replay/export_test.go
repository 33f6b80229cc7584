package replay

var (
	AppendUpdate = appendUpdate
	ParseUpdate  = parseUpdate
	SnakeCase    = snakeCase
	Updates      = updates[:]
)

const (
	MaxLine      = maxLine
	TerrainPiece = terrainPiece
)
