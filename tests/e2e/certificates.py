"""Certificates for a test, made by the openssl program. Not here: tests (tls_test)."""

import subprocess

from programs import LIMIT, EndToEnd, clean_environment


def openssl(*arguments, **how):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True,
                          timeout=LIMIT, stdin=subprocess.DEVNULL, env=clean_environment(), **how)


class WithCertificates(EndToEnd):
    """An authority, and certificates of a coordinator and a worker."""

    def setUp(self):
        super().setUp()
        self.authority("ca")
        self.issue("coordinator")
        self.issue("worker")

    def file(self, name, kind):
        return self.directory / f"{name}.{kind}"

    def authority(self, name):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.file(name, "key"), "-out", self.file(name, "pem"), "-days", 2,
                "-subj", f"/CN={name}")

    def issue(self, name, by="ca"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.file(name, "key"), "-out", self.file(name, "pem"), "-days", 1,
                "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-addext", "basicConstraints=CA:FALSE",
                "-CA", self.file(by, "pem"), "-CAkey", self.file(by, "key"))

    def expired(self, name):
        """An expired certificate: only `openssl ca` can backdate."""
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.file(name, "key"), "-out", self.file(name, "csr"),
                "-subj", f"/CN={name}")
        (self.directory / "index").write_text("")
        (self.directory / "ca.cnf").write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndatabase={self.directory}/index\nnew_certs_dir={self.directory}\n"
            "default_md=sha256\npolicy=p\nrand_serial=yes\n[p]\ncommonName=supplied\n")
        openssl("ca", "-batch", "-config", self.directory / "ca.cnf", "-cert", self.file("ca", "pem"),
                "-keyfile", self.file("ca", "key"), "-in", self.file(name, "csr"),
                "-out", self.file(name, "pem"), "-notext", "-startdate", "20200101000000Z",
                "-enddate", "20200102000000Z")

    def shown(self, name, authority="ca"):
        """As options."""
        return ["--tls-cert", self.file(name, "pem"), "--tls-key", self.file(name, "key"),
                "--tls-ca", self.file(authority, "pem")]
