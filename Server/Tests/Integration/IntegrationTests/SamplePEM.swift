/// A key made for these tests only; it opens nothing.
enum SamplePEM {
  static let rsa = """
    -----BEGIN PRIVATE KEY-----
    MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAKgZC8cPd2ayqIPE
    gHCQ69rwGLQyEq+yv8KGdnooyjsZGJ+Oy58JPMeSfYpDZSQTyK+nKh0/WGWGTDNK
    MjbO0NGu1bYp5Q1gUvZVW+VZrgYa4mw3fdWqA0ZyFizHD6WeXOVuvxpadFCN/uMg
    nDo2NhAbbUS3w3cZZS7vXBpSRZPBAgMBAAECgYBW8YVm8zf1tUh1xugL0Nk8x1xv
    r0p89745NeUHsBtRT9ytgmUNH/EA5GLsZYlljJoLSDH/KKlm8XxuNt0b/gKA6neE
    Or7IKEQburTgywoc7jCTgjqnUN/6u5p4bJc8qlw/QSv1vHkZ8eJoJGzJkbXHnxDD
    iX3EvxVHTc7DoUNLZQJBAN9oxReCJGE+Vm1vYunv5b7FhtB8Un5HFYu0FcowQLvg
    aFVhCgNyBVcJDAVvTgvqoaQ6Dhp9zmxNud2cmEO5wDcCQQDAnqsTQTpIBrDRIk7q
    VvhK6Zh9xlvVowO/eOPT/qDgJz3HC7ysHfCI0SLL5k0UeyMG5vIc9sQP1m/ME+Lv
    +Z/HAkEAu89h0O9xEebL1VfMOYmZBBUdzmqVFt8/N6B+qOiDou12CEB5oIfcAVzz
    pCX74HywwlSjwpV8UQPOeoTIZDblZQJAbYRJZIM7reQP+Hh3Qgn81isGxsxXPpqW
    8PC9KLWnporpNxjXR00mi8PM8v2YacKxYaVBl3I+e3rCydesuiDF1QJAVm2N0+BD
    ENsSYF3gied1HohtydUXhJqwsUeZtn/mNPiuQZN2Z7TKLrV9jGgfQ1dpwhne1gWP
    NI3/GNtuaKGWzQ==
    -----END PRIVATE KEY-----

    """
}
