# Reads the errors of a compiler and its linker for a guest, and prints what the guest needs and does not get, one line
# each. If there are errors with another reason, all errors are printed unchanged.

function say(text) {
    if (!(text in said)) {
        said[text] = 1
        lines[++n] = "cc.sh: " text
    }
}

# included returns the header, in angle brackets, that a line of a source includes. The line is given as file:line. The
# result is empty if the line does not include a header.
function included(place, part, text, i) {
    split(place, part, ":")
    for (i = 0; i < part[2]; i++)
        if ((getline text < part[1]) <= 0)
            text = ""
    close(part[1])
    if (match(text, /<[^>]*>/) && text ~ /^[ \t]*#[ \t]*include/)
        return substr(text, RSTART, RLENGTH)
    return ""
}

# library says what there is instead of a header or a function.
function library(plus) {
    return "guests have assert.h, limits.h, stdlib.h and string.h, " (plus ? "headers of C++ that need no library, such as <array> and <vector>, " : "") \
        "and zkvm_io.h for input and output"
}

{ all[NR] = $0 }

/^In file included from / || /^ +from / {
    outermost = $0
    sub(/^(In file included)? +from /, "", outermost)
    sub(/[,:]$/, "", outermost)
    next
}

/: (fatal )?error: / {
    split($0, part, ":")
    header = ""
    place = part[1] ":" part[2]
    if (outermost != "" && part[1] ~ /^\//)
        place = outermost
    if (/No such file or directory/ || place == outermost)
        header = included(place)
    if (/cannot execute '?[^ ']*cc1plus/)
        say("there is no compiler of C++ beside that of C: Debian has it as g++-riscv64-linux-gnu")
    else if (header != "")
        say(place ": there is no " header ": " library(header !~ /\.h>$/))
    else if (!/^collect2: /)
        others++
    if (place != outermost)
        outermost = ""
    next
}

/undefined reference to `/ {
    name = $0
    sub(/.*undefined reference to `/, "", name)
    sub(/'[^']*$/, "", name)
    user = $0 # the function is in the name of its section
    sub(/:\(.*/, "", user)
    sub(/.*[ \/]/, "", user)
    if (match($0, /\(\.text\.[^+]*\+/)) {
        section = substr($0, RSTART + 7, RLENGTH - 8)
        sub(/^(startup|unlikely|hot|exit)\./, "", section)
        if (section !~ /^_Z/)
            user = user ": " section
    }
    if (name ~ /^__[a-z]+([sdth]f|[sdt]c)[a-z]*[0-9]?$/)
        say(user ": floating point (" name "): guests compute with integers")
    else
        say(name " is in none of the files: " library(name ~ /::/))
    next
}

/ld: / && !/: in function `/ && !/warning:/ { others++ }

END {
    if (others > 0 || n == 0)
        for (i = 1; i <= NR; i++)
            print all[i]
    for (i = 1; i <= n; i++)
        print lines[i]
}
