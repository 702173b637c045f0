"""Servers that answer 200 to every push and that nobody here wrote, and the certificates and keys of both sides."""
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

CIPHER = "TLS_AES_128_GCM_SHA256"


def load_run():
    """The script `run` as a module, for what measures with its commands and sinks."""
    loader = importlib.machinery.SourceFileLoader("run", str(pathlib.Path(__file__).resolve().parent / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
    loader.exec_module(module)
    return module


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def pinned(core, command):
    return ["taskset", "-c", str(core), *command] if find("taskset") and (os.cpu_count() or 1) > 1 else command


def make_certificates(folder):
    """ca.pem, server.pem and server.key for localhost, and a provider's key."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=bench CA")
    openssl("req", *new_key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "san.cnf").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
            "2", "-out", "server.pem", "-extfile", "san.cnf")
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "bench.key")
    openssl("pkcs8", "-topk8", "-nocrypt", "-in", "bench.key", "-out", "AuthKey_BENCHKEY12.p8")


class Sink:
    """nghttpd, nginx or h2o on the last core and a free port."""

    def __init__(self, name, folder, environment, tokens):
        self.name, self.folder, self.environment, self.tokens = name, folder, environment, tokens
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def __enter__(self):
        command = {"nghttpd": self.nghttpd, "nginx": self.nginx, "h2o": self.h2o}[self.name]()
        self.log = (self.folder / f"{self.name}.log").open("wb")
        self.process = subprocess.Popen(pinned((os.cpu_count() or 1) - 1, command), stdout=self.log, stderr=self.log,
                                        env=self.environment)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        sys.exit(f"bench: {self.name} did not start:\n" + (self.folder / f"{self.name}.log").read_text())

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def nghttpd(self):
        """One thread, a thousand streams, an empty file for each token."""
        devices = self.folder / "htdocs" / "3" / "device"
        if not devices.exists():
            devices.mkdir(parents=True)
        empty = self.folder / "empty"
        empty.touch()
        for token in self.tokens:
            if not (devices / token).is_symlink():
                os.symlink(empty, devices / token)
        return [find("nghttpd"), "-m", "1000", "-n", "1", "-a", "127.0.0.1", "-d", str(self.folder / "htdocs"),
                str(self.port), str(self.folder / "server.key"), str(self.folder / "server.pem")]

    def nginx(self):
        """Answers before the body is in, and then resets the stream with NO_ERROR. Takes any path."""
        folder = self.folder / f"nginx-{self.port}"
        folder.mkdir()
        text = NGINX.format(folder=folder, port=self.port, home=self.folder, cipher=CIPHER)
        (folder / "nginx.conf").write_text(text)
        return [find("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]

    def h2o(self):
        """Reads every body to its end. Takes any path."""
        user = "user: root" if os.getuid() == 0 else ""
        configuration = self.folder / f"h2o-{self.port}.conf"
        configuration.write_text(H2O.format(port=self.port, home=self.folder, user=user))
        return [find("h2o"), "-m", "worker", "-c", str(configuration)]

    def pids(self):
        """The process and its children: nginx serves from a worker."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [self.process.pid, *map(int, children.read_text().split())]


OPENSSL = f"""openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
MinProtocol = TLSv1.3
Ciphersuites = {CIPHER}
"""

NGINX = """worker_processes 1; daemon off; pid {folder}/pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
  access_log off; keepalive_requests 1000000000; http2_max_concurrent_streams 1000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {home}/server.pem; ssl_certificate_key {home}/server.key;
    ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites {cipher};
    location / {{ return 200; }}
  }}
}}
"""

H2O = """num-threads: 1
{user}
listen:
  host: 127.0.0.1
  port: {port}
  ssl:
    certificate-file: {home}/server.pem
    key-file: {home}/server.key
    minimum-version: TLSv1.3
hosts:
  default:
    paths:
      /:
        mruby.handler: |
          Proc.new {{ |env| [200, {{"apns-id" => env["HTTP_APNS_ID"].to_s}}, []] }}
"""
