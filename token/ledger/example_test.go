package ledger_test

import (
	"fmt"
	"log"
	"time"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Two ledgers with the same parameters have different ids, so that a request for one is not valid on the other. Entries
// are encoded as the log keeps them.
func Example() {
	params, err := token.NewPublicParams("BN254", 32, token.CSP)
	if err != nil {
		log.Fatal(err)
	}
	digest, err := params.Digest()
	if err != nil {
		log.Fatal(err)
	}
	var ids [2]token.LedgerID
	for i := range ids {
		genesis, err := ledger.NewGenesis(params)
		if err != nil {
			log.Fatal(err)
		}
		ids[i] = genesis.ID()
		fmt.Println("of these parameters:", genesis.CheckParams(digest) == nil)
	}
	fmt.Println("the same ledger:", ids[0] == ids[1])

	e := ledger.Entry{Anchor: []byte("tx 1"), Time: time.Unix(1_800_000_000, 0), Creates: []ledger.Created{{ID: token.ID("tx 1/0"), Token: []byte("token")}}}
	decoded, err := ledger.DecodeEntry(e.Append(nil))
	fmt.Printf("%s creates %s: %v\n", decoded.Anchor, decoded.Creates[0].ID, err)
	// Output:
	// of these parameters: true
	// of these parameters: true
	// the same ledger: false
	// tx 1 creates tx 1/0: <nil>
}
