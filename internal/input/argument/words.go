package argument

import (
	"regexp"
	"strings"
)

// plain matches words that a shell reads as they are, without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote returns word with the quotes that a POSIX shell needs to read it back unchanged.
func Quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// WordsAccepted describes what Words accepts, for error messages and help.
const WordsAccepted = "words in POSIX shell syntax with closed quotes; put characters that only a shell interprets in single quotes: | & ; < > ( ) $ ` * ? [ ~ #"

// Characters that a shell interprets unless they are quoted: anywhere, within double quotes, and at the beginning
// of a word.
const (
	shellOnly      = "|&;<>()$`*?[\n"
	shellInDoubles = "$`"
	shellFirst     = "~#"
)

// Words splits a command into words as a POSIX shell does. It is the inverse of Quote: if words are quoted with
// Quote and joined by spaces, Words returns the original words. Words does not run pipes, expand variables or
// match file names. It therefore refuses unquoted characters that only a shell interprets, because the program
// would get them as arguments. If it refuses the text, it returns a *ValueError for the given field.
func Words(field, text string) (words []string, err error) {
	var word []byte
	begun := false // whether a word has begun; a pair of quotes alone is a word too
	refused := &ValueError{Field: field, Value: text, Accepted: WordsAccepted}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, string(word))
			}
			word, begun = word[:0], false
			continue
		case c == '\'':
			length := strings.IndexByte(text[i+1:], '\'')
			if length < 0 {
				return nil, refused
			}
			word = append(word, text[i+1:i+1+length]...)
			i += 1 + length
		case c == '"':
			quoted, length := inDoubles(text[i+1:])
			if length < 0 {
				return nil, refused
			}
			word = append(word, quoted...)
			i += 1 + length
		case c == '\\':
			if i++; i == len(text) {
				return nil, refused
			}
			if text[i] == '\n' { // the line continues
				continue
			}
			word = append(word, text[i])
		case strings.IndexByte(shellOnly, c) >= 0, !begun && strings.IndexByte(shellFirst, c) >= 0:
			return nil, refused
		default:
			word = append(word, c)
		}
		begun = true
	}
	if begun {
		words = append(words, string(word))
	}
	return words, nil
}

// inDoubles returns the text before the next double quote, without escapes, and its length in bytes. The length
// is negative if there is no quote, or if a character before it is one that only a shell interprets.
func inDoubles(text string) (quoted []byte, length int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return quoted, i
		case strings.IndexByte(shellInDoubles, c) >= 0:
			return nil, -1
		case c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0:
			if i++; text[i] != '\n' {
				quoted = append(quoted, text[i])
			}
		default:
			quoted = append(quoted, c)
		}
	}
	return nil, -1
}
