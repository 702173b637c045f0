#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// TLS: what Swift's importer cannot see, because it is a function-like macro or a cast constant.

// Macro over SSL_CTX_ctrl.
static inline int pabal_ssl_ctx_set_min_tls12(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// Macros over SSL_CTX_ctrl, and options that are cast constants.
static inline void pabal_ssl_ctx_harden(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

// Macro over SSL_ctrl.
static inline int pabal_ssl_set_sni(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

// Macro over BIO_ctrl; the bytes stay the BIO's.
static inline long pabal_bio_data(BIO *bio, char **bytes) {
  return BIO_get_mem_data(bio, bytes);
}

// Macro over BIO_ctrl; forgets the bytes and keeps the memory.
static inline void pabal_bio_reset(BIO *bio) {
  (void)BIO_reset(bio);
}

// Macro over BIO_ctrl; an empty memory BIO means "later", not "end".
static inline void pabal_bio_empty_is_retry(BIO *bio) {
  BIO_set_mem_eof_return(bio, -1);
}

// Macro over SSL_CTX_ctrl.
static inline void pabal_ssl_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  SSL_CTX_add1_chain_cert(context, certificate);
}

// Process.

// OPENSSL_init_crypto(3): without it OpenSSL frees its state in exit(3), and a thread that ends after that leaks its own
// (LeakSanitizer sees 984 bytes in 3 objects) or meets what is freed. Only the first call of a process can say so: a
// debug build, and with it every test, makes it while it is loaded; `pabal` makes it itself.
__attribute__((constructor)) static inline void pabal_openssl_outlives_threads(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
