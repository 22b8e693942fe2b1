package compare

// Sessions measures jobs without revisions.
var Sessions = (*Revisions).sessions
