package sidecartest

// Nobody is the id of a user whom file modes stop, and who owns nothing.
const Nobody = 65534
