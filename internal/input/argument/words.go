package argument

import (
	"regexp"
	"strings"
)

// plain are the words that a shell takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote is a word as a POSIX shell takes it.
func Quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// WordsAccepted says in words what Words takes.
const WordsAccepted = "words as a POSIX shell takes them, their quotes closed, and in single quotes what only a shell does: | & ; < > ( ) $ ` * ? [ ~ #"

// What a shell makes something else of, unless it is quoted: anywhere, within double quotes, at
// the beginning of a word.
const (
	shellOnly      = "|&;<>()$`*?[\n"
	shellInDoubles = "$`"
	shellFirst     = "~#"
)

// Words splits a command into its words, as a POSIX shell does. It is the inverse of Quote:
// words that are quoted and joined by spaces come back. What only a shell does, patterns of files
// as well, is refused where it is not quoted, since a program would get it as an argument. The
// error is a *ValueError of the field.
func Words(field, text string) (words []string, err error) {
	var word []byte
	begun := false // a word, of which quotes alone are one as well
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
			if text[i] == '\n' { // the line goes on
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

// inDoubles is what stands up to the next double quote, and how many bytes that are; below 0
// where there is none, or something before it that only a shell does.
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
