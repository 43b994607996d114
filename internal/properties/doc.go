// Package properties makes up stores and shows what holds for every delete and every sweep of any of them (contract 9). What
// must come out is said by a model that was written from the contract (5b to 5d) and knows nothing of the code.
package properties
