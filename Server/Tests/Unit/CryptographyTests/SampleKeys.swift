import PabalPrimitives
import Testing

/// Keys made for these tests only; they open nothing.
enum SampleKeys {
  static let pkcs8 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKOZg3TpwnUma+y1v
    72LjPCyNNp2dMy/aLs+zck25crahRANCAAThSHtDrpHwXztnKjwlK4bbHwWYfRsg
    NVAouV0UgRUz6nYFAwoALzI4UbcJNs6Mv5n1Hh2UAR7awKDTpYTcyK4M
    -----END PRIVATE KEY-----

    """

  static let sec1WithParameters = """
    -----BEGIN EC PARAMETERS-----
    BggqhkjOPQMBBw==
    -----END EC PARAMETERS-----
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEICjmYN06cJ1Jmvstb+9i4zwsjTadnTMv2i7Ps3JNuXK2oAoGCCqGSM49
    AwEHoUQDQgAE4Uh7Q66R8F87Zyo8JSuG2x8FmH0bIDVQKLldFIEVM+p2BQMKAC8y
    OFG3CTbOjL+Z9R4dlAEe2sCg06WE3MiuDA==
    -----END EC PRIVATE KEY-----

    """

  static let p384 = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAQNpqQ3a+zoCz7x8oG
    wbiGiP5kd7HzoLHPMg8/DJPI7KW2JXTFU0J/Vhklp6y6nBOhZANiAAScNCVgimjV
    Ct94wSEw/njhIE9FeI/MbGr1l6GYFl6mPAT4dM5TO21GJLLNySIrNkWMqdlWGJX+
    EI9ff1i137xPx9/5G1uaSZKg6vMp5vL+zI+5N5e+94CHU13OI5vnoMM=
    -----END PRIVATE KEY-----

    """

  static let encryptedPKCS8 = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhAovw1yaP62wICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEF4KJcIsd4iBshEux5fv3CoEgZDW
    krkj9fHjNeQzIldXXVcWhE34os+F/fYB3m0I41gw0OEGTIbAsOzSBQUk9amAwE/l
    WOyulb4g2KMLnYq/XQCO1EU7MQh+1JL4zD6e1/enpEp1du8YuCoOnGmsu7N2sUlx
    issqEUxbxggnJFimL2a88JYLUOWSedgX1Odzo6S9aAno4d9DPGLsfw2Uq8ayvKc=
    -----END ENCRYPTED PRIVATE KEY-----

    """

  static let encryptedSEC1 = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,E04893935BEEC12983C568924329704A

    Wxqfz0RM5HWF6cyhhpQO4QNmbxWS+58vqAp14R6jkULdj/zpj7mTB4Z8LvWAYzUy
    7/uvavh11tHhFQYu9Oa9As/nrIaZw/uJ9bO9hH06IMWMHadaJzdrosVJHRkQ5KXk
    uMNKdqKIh9PNpDElHSVhzd5HPmopiFCPsGnvkif4pGM=
    -----END EC PRIVATE KEY-----

    """

  static let rsa = """
    -----BEGIN PRIVATE KEY-----
    MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMrxMI6FGeivmv1A
    3IjAY5w2mCTK4AhKkqy/IYvDbHbKTiFNlAraXuXMklERAJ5dUFWqjNGzHVSQzCPV
    qLQnjsS+OHMouusKwOA7Efy2Vt2JOVvxJXmn4tiJMQwdKSqRnh5E5S+afHK1UsCI
    S1eDpfFq4YILA4n0+YGdOJYjdaUdAgMBAAECgYBj0OFbF+g4ZDbNHVva/xV/PfLz
    Fb2/Fj6yLIfpYEM24iYvhyKre+B1Entc2An/2lGq8Om2MmzYrSda8Lm7ckFrbvnR
    v1fMxiHG6VgPVUu7QqOdymI0ci5a2rXSBEzISbnnG6sjPygwVyMSlTzYp7X91xCS
    iQtA+wKKqxV3PZ1zmQJBAOrzGcR42LvkUaiJBP3H0L3M0iK08MBpF5pW8LcGPGH3
    4fKMAWQVaw7N/4gSe8qNHt/cG/yu94aGCxhRj++RO1cCQQDdH/PuqFzR2e2EZAQ1
    9A0LuxCMkb3HSd8alzrxfrfwUaXDFwhsKGt0PCarwZ58gsVyRVGFbdvgU33H8nVB
    Bc6rAkEA35iPsz1W9imp1PzhdSvOanMcoM8WN+dMASQwXd5fZNTlgVDgmgEQK7y8
    LSF6EiAPe/gb4nQZOTskH/avRs0ubQJABnU6cIvmOhK9RxKMtO6tutv5vcE746ga
    pfIovIjQ4mngB3SSwGXlzX08O+PptwUyswWnPdhZhZGqqL5CAmYjBQJACS4Xvpr/
    lJND76UjmEQtrCleVYovrc81dzZIl3B8HGQ4YnoPjd4p09+QplvXZq4RTbFem43X
    4duKLR5uJ0pKrw==
    -----END PRIVATE KEY-----

    """

  /// Public point of `pkcs8` and `sec1WithParameters`.
  static let publicPoint =
    "04e1487b43ae91f05f3b672a3c252b86db1f05987d1b20355028b95d14811533ea"
    + "7605030a002f323851b70936ce8cbf99f51e1d94011edac0a0d3a584dcc8ae0c"

  /// Private number of `pkcs8`.
  static let privateNumber = "28e660dd3a709d499afb2d6fef62e33c2c8d369d9d332fda2ecfb3724db972b6"

  /// PKCS#8 around an ECPrivateKey (RFC 5915) whose optional fields are present or absent as told.
  static func pkcs8(parameters: Bool, publicKey: Bool) throws -> String {
    func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
      let length = content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
      return [tag] + length + content
    }
    let curve = element(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    let algorithm = element(0x30, element(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]) + curve)
    var inner = element(0x02, [1]) + element(0x04, try #require(Hex.decode(privateNumber)))
    if parameters { inner += element(0xA0, curve) }
    if publicKey { inner += element(0xA1, element(0x03, [0] + (try #require(Hex.decode(publicPoint))))) }
    let der = element(0x30, element(0x02, [0]) + algorithm + element(0x04, element(0x30, inner)))
    return "-----BEGIN PRIVATE KEY-----\n\(Base64.encode(der))\n-----END PRIVATE KEY-----\n"
  }
}
