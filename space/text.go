package space

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// split cuts text into lower-case words: at whatever is no letter or digit, at
// the capitals of camelCase, and, in scripts that put no space between words,
// into overlapping pairs of characters. "IMs" is one word, and "who's" is "who
// is".
func split(text string) []string {
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case isApostrophe(r) && i > 0 && unicode.IsLetter(runes[i-1]):
			// "Maria's" is maria, "don't" is dont.
			if plural(runes[i+1:]) {
				flush()
				if runes[i+1] = ' '; contracted[list[len(list)-1]] {
					list = append(list, "is")
				}
			}
		case unspaced(r):
			if i == 0 || !unspaced(runes[i-1]) {
				flush()
				if i+1 == len(runes) || !unspaced(runes[i+1]) {
					list = append(list, string(r))
				}
			}
			if i+1 < len(runes) && unspaced(runes[i+1]) {
				list = append(list, string(runes[i:i+2]))
			}
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			flush()
		default:
			if unicode.IsUpper(r) && len(word) > 0 {
				before := word[len(word)-1]
				next := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !plural(runes[i+1:])
				if !unicode.IsUpper(before) || next {
					flush()
				}
			}
			word = append(word, r)
		}
	}
	flush()
	return list
}

// plural reports whether nothing but an s is left of a word.
func plural(rest []rune) bool {
	return len(rest) > 0 && (rest[0] == 's' || rest[0] == 'S') && (len(rest) == 1 || !unicode.IsLetter(rest[1]))
}

// contracted are words after which 's stands for "is".
var contracted = set("who what where when how which that there here it he she")

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func unspaced(r rune) bool {
	return r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// stem returns what the forms of an English word have in common.
func stem(word string) string {
	if irregular, ok := irregulars[word]; ok {
		word = irregular
	}
	return english.Stem(word, true)
}

// irregulars are frequent forms that no rule of suffixes brings together.
var irregulars = map[string]string{
	"sent": "send", "went": "go", "gone": "go", "ran": "run", "made": "make", "told": "tell", "said": "say",
	"spoke": "speak", "spoken": "speak", "wrote": "write", "written": "write", "found": "find", "bought": "buy",
	"sold": "sell", "kept": "keep", "held": "hold", "heard": "hear", "met": "meet", "paid": "pay",
	"took": "take", "taken": "take", "gave": "give", "given": "give", "came": "come", "drove": "drive",
	"driven": "drive", "broke": "break", "broken": "break", "chose": "choose", "chosen": "choose", "built": "build",
	"began": "begin", "begun": "begin", "seen": "see", "people": "person", "men": "man",
	"women": "woman", "children": "child", "feet": "foot", "lent": "lend", "played": "play", "sang": "sing",
	"sung": "sing", "ate": "eat", "eaten": "eat", "slept": "sleep", "woke": "wake", "shut": "shut", "stood": "stand",
	"sat": "sit", "lit": "light", "hung": "hang", "knew": "know", "known": "know", "thought": "think",
	"shelves": "shelf", "leaves": "leaf", "knives": "knife", "mice": "mouse",
}

// Words by how much they say of what is asked for.
type wordClass uint8

const (
	content wordClass = iota
	faint             // says a little: asks for place, person, time or amount
	empty             // says nothing outside a phrase
)

// faintShare is the weight of a faint word as a share of a content word's.
const faintShare = 0.25

func classOf(word string) wordClass {
	if c, ok := classes[word]; ok {
		return c
	}
	if isNumber(word) {
		return empty // an argument
	}
	return content
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

var classes = func() map[string]wordClass {
	m := map[string]wordClass{}
	for _, w := range strings.Fields(`
		a an the this that these those it its they them their he him his she her hers we us our ours you your yours
		i me my mine myself im ive id ill am is are was were be been being do does did doing done dont doesnt didnt
		isnt arent wasnt cant couldnt wont wouldnt has have had having can could will would shall should may might must
		and or but if then else so than as of to in on at by for from with without into onto about over up out off
		what which whose whom whats how hows any some every each there here just only also too very really actually
		please pls thanks thank hello hey hi ok okay let lets want wanna need needs like would'd id love help
		able possible way thing things something anything everything stuff kind sort type
		not no yes oh well um eh go going got gonna get gets getting give gives tell tells show shows see sees
		know knows make sure try trying ask asks say says wonder wondering using use uses via per
		because while again once ever never already still yet
		one ones two three four five six seven eight nine ten twelve dozen lot lots bit little quick quickly currently`) {
		m[w] = empty
	}
	for _, w := range strings.Fields(`
		who where when why many much far long often near nearby now today current latest last next new old
		all list view read look check fetch display find state status info information detail details
		data value values name names number item items entry entries
		between during through until before after soon later early
		today tomorrow yesterday tonight morning afternoon evening night
		second seconds minute minutes hour hours day days week weeks weekend month months year years
		monday tuesday wednesday thursday friday saturday sunday
		january february march april june july august september october november december`) {
		m[w] = faint
	}
	return m
}()

// light words are empty except where a name has them: "use_up_food" is named
// with care.
var light = set("use up out off over down back get give go make show see tell know try ask say help find want need like")

// prepositions and articles lead to what is probably an argument: "in the
// hall", "for Maria".
var (
	prepositions = set("in on at for with to from by about under near into onto of as called named")
	articles     = set("a an the this that my your our his her their its some any one two three")
	// asking begins a question, which something that only tells answers
	// better than something that acts.
	asking = set(`who where when why which what whats how is are was were am do does did has have had isnt arent`)
	// acting demands that something be changed, which something that only
	// tells does not do.
	acting = set(`send post submit pay buy sell order build create make add put insert delete remove erase cancel
		change set edit rename move transfer give take bring upload download install update restart start stop turn switch
		open close lock unlock join leave invite kick ban block allow write draw paint print walk fly
		teleport drive go sit stand dance animate wear touch clean wash repair fix charge hire rent subscribe`)
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// synonyms are words that people use for each other whatever the domain; a
// Host's own words for its things belong in its documents, as aliases.
var synonyms = func() map[string][]string {
	m := map[string][]string{}
	for _, line := range []string{
		"add create make insert register",
		"delete remove erase discard",
		"cancel abort revoke",
		"change update edit modify set adjust alter",
		"find search lookup locate",
		"start begin launch run",
		"stop end halt",
		"send post submit deliver",
		"fix repair",
		"show display view read",
		"list enumerate overview",
		"buy purchase order",
		"person user human somebody someone anybody anyone everybody everyone",
		"picture photo image",
		"latest recent newest",
		"allow permit",
		"forbid deny prohibit",
		"assign give allocate",
		"attach append",
		"copy duplicate clone",
		"place location position where",
		"time when",
		"speed fast velocity",
		"near nearby around",
		"increase raise",
		"decrease lower reduce",
	} {
		var group []string
		for _, w := range strings.Fields(line) {
			group = append(group, stem(w))
		}
		for i, s := range group {
			for j, other := range group {
				if i != j {
					m[s] = append(m[s], other)
				}
			}
		}
	}
	return m
}()
