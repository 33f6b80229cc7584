package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// checkFlags refuses flags that would be passed over.
func checkFlags(k *kong.Context) error {
	if flag := emptyFlag(k); flag != "" {
		return usageError("--%s: found nothing, expected a value", flag)
	}
	if flag := strayFlag(k); flag != "" {
		return usageError("found --%s, which wipagent %s does not take", flag, commandName(k.Selected()))
	}
	return nil
}

// takes reports whether a command takes a flag that commands share.
func takes(command *kong.Node, flag *kong.Flag) bool {
	for at := command; at != nil; at = at.Parent {
		if at.Tag != nil && at.Tag.Has("shared") {
			return flag.Name == "help" || slices.Contains(strings.Split(at.Tag.Get("shared"), ","), flag.Name)
		}
	}
	return true
}

// showHelp prints the help of a command without the flags that it does not
// take.
func showHelp(options kong.HelpOptions, k *kong.Context) error {
	if command := k.Selected(); command != nil {
		for _, flag := range k.Model.Flags {
			flag.Hidden = flag.Hidden || !takes(command, flag)
		}
	}
	return kong.DefaultHelpPrinter(options, k)
}

// strayFlag returns the name of a shared flag that was given to a command that
// does not take it, or "".
func strayFlag(k *kong.Context) string {
	for _, p := range k.Path {
		if p.Flag != nil && slices.Contains(k.Model.Flags, p.Flag) && !takes(k.Selected(), p.Flag) {
			return p.Flag.Name
		}
	}
	return ""
}

// commandName returns a command's words behind the program's name.
func commandName(command *kong.Node) string {
	words := []string{command.Name}
	for at := command.Parent; at != nil && at.Type == kong.CommandNode; at = at.Parent {
		words = append([]string{at.Name}, words...)
	}
	return strings.Join(words, " ")
}
