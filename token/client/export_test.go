package client

import "time"

// SetSilence sets the time after which a stream counts as broken.
func (c *Client) SetSilence(silence time.Duration) { c.silence = silence }

// WithPing returns options with another time of silence after which a connection is tested.
func (o Options) WithPing(silence time.Duration) Options {
	o.ping = silence
	return o
}
