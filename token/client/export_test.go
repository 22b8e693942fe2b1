package client

import "time"

// SetSilence sets the time after which a stream counts as broken.
func (c *Client) SetSilence(silence time.Duration) { c.silence = silence }
