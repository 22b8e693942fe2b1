package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/postgres"
)

// Several validators share a ledger in a database.
func Example() {
	ctx := context.Background()
	params, err := token.NewPublicParams("BN254", 32, token.CSP)
	if err != nil {
		log.Fatal(err)
	}
	genesis, err := ledger.NewGenesis(params)
	if err != nil {
		log.Fatal(err)
	}
	book, err := postgres.Create(ctx, "postgres://localhost/payments", genesis, postgres.Schema("euro"))
	if err != nil {
		log.Fatal(err)
	}
	defer book.Close()
	fmt.Println(book.State(ctx))
}

// A name that PostgreSQL reserves is refused, before there is a connection.
func ExampleSchema() {
	for _, name := range []string{"", "pg_euro"} {
		_, err := postgres.Open(context.Background(), "postgres://localhost/payments", postgres.Schema(name))
		fmt.Println(errors.Is(err, zkbench.ErrParams))
	}
	// Output:
	// true
	// true
}
