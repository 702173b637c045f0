// Go's net/http as a client of the stand-in: one push, many at once, a wrong one, a dead token. Prints one JSON object.
package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type options struct {
	Endpoint, CAFile, KeyFile, KeyID, TeamID, Topic, Token, DeadToken, CertFile, CertKeyFile string
}

type reply struct {
	Status    int    `json:"status"`
	Protocol  string `json:"protocol"`
	Reason    string `json:"reason"`
	Timestamp int64  `json:"timestamp"`
	APNsID    string `json:"apnsId"`
	UniqueID  string `json:"apnsUniqueId"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func providerToken(given options) string {
	text, err := os.ReadFile(given.KeyFile)
	check(err)
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"ES256","kid":"`+given.KeyID+`"}`)) + "." +
		encode([]byte(fmt.Sprintf(`{"iss":"%s","iat":%d}`, given.TeamID, time.Now().Unix())))
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), digest[:])
	check(err)
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + encode(signature)
}

func main() {
	var given options
	check(json.Unmarshal([]byte(os.Args[1]), &given))
	authority, err := os.ReadFile(given.CAFile)
	check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	configuration := &tls.Config{RootCAs: pool}
	bearer := ""
	if given.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(given.CertFile, given.CertKeyFile)
		check(err)
		configuration.Certificates = []tls.Certificate{certificate}
	} else {
		bearer = "bearer " + providerToken(given)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: configuration, ForceAttemptHTTP2: true}}

	push := func(token string, priority string) reply {
		request, err := http.NewRequest("POST", given.Endpoint+"/3/device/"+token,
			strings.NewReader(`{"aps":{"alert":"hello from Go"}}`))
		check(err)
		if bearer != "" {
			request.Header.Set("authorization", bearer)
		}
		request.Header.Set("apns-topic", given.Topic)
		request.Header.Set("apns-push-type", "alert")
		request.Header.Set("apns-priority", priority)
		response, err := client.Do(request)
		check(err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		check(err)
		answer := reply{Status: response.StatusCode, Protocol: response.Proto, APNsID: response.Header.Get("apns-id"),
			UniqueID: response.Header.Get("apns-unique-id")}
		if len(body) > 0 {
			check(json.Unmarshal(body, &answer))
		}
		return answer
	}

	first := push(given.Token, "10")
	many := make([]reply, 200)
	var group sync.WaitGroup
	for index := range many {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			many[index] = push(given.Token, "5")
		}(index)
	}
	group.Wait()
	wrong := push(given.Token, "3")
	dead := push(given.DeadToken, "10")
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"first": first, "many": many, "wrong": wrong, "dead": dead}))
}
