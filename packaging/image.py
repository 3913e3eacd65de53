#!/usr/bin/env python3
"""Makes an OCI image layout that holds one static program, and unpacks such a layout to try it.

image.py PROGRAM VERSION ARCH SECONDS FOLDER
image.py --unpack FOLDER ROOT

The same arguments give the same bytes. See the OCI image specification 1.1: image-layout.md, config.md, layer.md.
"""

import gzip
import hashlib
import io
import json
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

USER = 65534


def entry(name, mode, seconds, content=None):
    found = tarfile.TarInfo(name)
    found.mode = mode
    found.mtime = seconds
    if content is None:
        found.type = tarfile.DIRTYPE
        return found, None
    found.size = len(content)
    return found, io.BytesIO(content)


def layer(program, seconds):
    """Gives the files: the program, and a place where it may write."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(*entry("gitops-windows", 0o755, seconds, program))
        tar.addfile(*entry("tmp", 0o1777, seconds))
    return packed.getvalue()


class Layout:
    def __init__(self, folder):
        self.blobs = folder / "blobs" / "sha256"
        self.blobs.mkdir(parents=True)

    def put(self, kind, content):
        digest = hashlib.sha256(content).hexdigest()
        (self.blobs / digest).write_bytes(content)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}


def plain(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def make(program, version, arch, seconds, folder):
    files = layer(program, seconds)
    layout = Layout(folder)
    vendor = "application/vnd.oci.image"
    packed = layout.put(f"{vendor}.layer.v1.tar+gzip", gzip.compress(files, mtime=0))
    created = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": "gitops-windows",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0 OR MIT",
        "org.opencontainers.image.created": created,
    }
    config = layout.put(
        f"{vendor}.config.v1+json",
        plain(
            {
                "architecture": arch,
                "os": "linux",
                "created": created,
                "config": {
                    "User": f"{USER}:{USER}",
                    "Entrypoint": ["/gitops-windows"],
                    "WorkingDir": "/",
                    "Labels": labels,
                },
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(files).hexdigest()}"]},
                "history": [{"created": created, "created_by": "packaging/image.py"}],
            }
        ),
    )
    manifest = layout.put(
        f"{vendor}.manifest.v1+json",
        plain(
            {
                "schemaVersion": 2,
                "mediaType": f"{vendor}.manifest.v1+json",
                "config": config,
                "layers": [packed],
                "annotations": labels,
            }
        ),
    )
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    manifest["platform"] = {"architecture": arch, "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": f"{vendor}.index.v1+json", "manifests": [manifest]}
    (folder / "index.json").write_bytes(plain(index))
    (folder / "oci-layout").write_bytes(plain({"imageLayoutVersion": "1.0.0"}))


def read(folder, descriptor):
    """Gives a blob that is what its descriptor says."""
    algorithm, digest = descriptor["digest"].split(":")
    content = (folder / "blobs" / algorithm / digest).read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest, descriptor
    assert len(content) == descriptor["size"], descriptor
    return content


def unpack(folder, root):
    """Unpacks the image's files, and checks each digest on the way."""
    assert json.loads((folder / "oci-layout").read_bytes())["imageLayoutVersion"] == "1.0.0"
    index = json.loads((folder / "index.json").read_bytes())
    manifest = json.loads(read(folder, index["manifests"][0]))
    config = json.loads(read(folder, manifest["config"]))
    assert config["config"]["User"] == f"{USER}:{USER}", config
    for descriptor, expected in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        files = gzip.decompress(read(folder, descriptor))
        assert f"sha256:{hashlib.sha256(files).hexdigest()}" == expected, expected
        with tarfile.open(fileobj=io.BytesIO(files)) as tar:
            tar.extractall(root, filter="tar")


if __name__ == "__main__":
    if sys.argv[1] == "--unpack":
        unpack(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        program, version, arch, seconds, folder = sys.argv[1:]
        make(Path(program).read_bytes(), version, arch, int(seconds), Path(folder))
