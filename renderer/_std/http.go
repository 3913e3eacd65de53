// Package http stands in for Go's own where the renderer is compiled: what kustomize and its libraries name of it,
// without the network, the TLS and the cryptography that nothing in the sandbox could ever use. They are a quarter
// of the program.
package http

import (
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	MethodGet = "GET"
	StatusOK  = 200
)

// Header holds no more than is set.
type Header map[string][]string

func (h Header) Set(key, value string) { h[key] = []string{value} }

type Request struct {
	Method string
	URL    *url.URL
	Header Header
}

func (r *Request) SetBasicAuth(string, string) {}

type Response struct {
	Status     string
	StatusCode int
	Body       io.ReadCloser
}

type RoundTripper interface {
	RoundTrip(*Request) (*Response, error)
}

type noTransport struct{}

func (noTransport) RoundTrip(*Request) (*Response, error) { return nil, errors.New("no network") }

// DefaultTransport serves every client.
var DefaultTransport RoundTripper = noTransport{}

// Handler is only ever named.
type Handler any

type Client struct {
	Timeout time.Duration
}

func NewRequest(method, place string, _ io.Reader) (*Request, error) {
	parsed, err := url.Parse(place)
	if err != nil {
		return nil, err
	}
	return &Request{Method: method, URL: parsed, Header: Header{}}, nil
}

func Get(place string) (*Response, error) { return (&Client{}).Get(place) }

func (c *Client) Get(place string) (*Response, error) {
	wanted, err := NewRequest(MethodGet, place, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(wanted)
}

// Do reports a failure as Go's client does.
func (*Client) Do(wanted *Request) (*Response, error) {
	got, err := DefaultTransport.RoundTrip(wanted)
	if err != nil {
		return nil, &url.Error{Op: "Get", URL: withoutPassword(wanted.URL), Err: err}
	}
	return got, nil
}

func withoutPassword(u *url.URL) string {
	if _, has := u.User.Password(); has {
		return strings.Replace(u.String(), u.User.String()+"@", u.User.Username()+":***@", 1)
	}
	return u.String()
}

func StatusText(code int) string { return strconv.Itoa(code) }
