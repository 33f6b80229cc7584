package grids

// Parse is Load without a file.
func Parse(text string) (*Config, error) {
	c := &Config{dir: "/folder", grids: builtin(), accounts: map[string]Account{}}
	return c, c.parse(text)
}
