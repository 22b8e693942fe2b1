package poseidon

// Times is the column that says how often a path is an answer.
const Times = times
