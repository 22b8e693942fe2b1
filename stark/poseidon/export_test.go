package poseidon

// Times is the column that says how often a path answers.
const Times = times
