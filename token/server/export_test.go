package server

import (
	"time"

	"github.com/zkbench/zkbench/token/internal/rpc"
)

// SetSlack sets the time that clients have for the parts of their requests and answers.
func (s *Server) SetSlack(slack time.Duration) { s.slack = slack }

// SetHeartbeat sets how often the server sends something to those who follow the log.
func (s *Server) SetHeartbeat(beat time.Duration) { s.beat = beat }

// The greatest lengths of a message and of a body, in bytes.
const (
	MaxMessage = rpc.MaxMessage
	MaxBody    = maxBody
)

// MaxOwnPaying is the number of payments of one client that are made at one time.
const MaxOwnPaying = maxOwnPaying

// How many calls read at one time, in all and of one client.
const (
	MaxReading    = maxReading
	MaxOwnReading = maxOwnReading
)
