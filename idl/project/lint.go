package project

import (
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

func lintRules() []syntax.Rule { return nil }

func (p *Project) lint(docs []*idl.Document, files []*syntax.File) []syntax.Diagnostic { return nil }
