// Package properties makes up stores and shows what holds in every one of them (contract 9): for a delete and its preview, a sweep, a
// list, and a delete that is taken back. What must come out of a store with the ledger is said by a model that was written from the
// contract (5b to 5d) and knows nothing of the code; on the older path a preview and its delete are held against each other.
package properties
