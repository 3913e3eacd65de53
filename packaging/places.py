"""Where a release's files are, and their sums."""

import hashlib
import os
import re

REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "OWNER/gitops-windows")
HOME = f"https://github.com/{REPOSITORY}"
DESCRIPTION = "Says when each kind of change may reach each cluster of a Flux repository, and proves it"


def archives(program, version, folder):
    """Gives system, processor, address and SHA-256 of each archive of a program that stands in the folder."""
    pattern = re.compile(rf"{re.escape(program)}_{re.escape(version)}_(linux|darwin)_(amd64|arm64)\.tar\.gz")
    for path in sorted(folder.iterdir()):
        if found := pattern.fullmatch(path.name):
            address = f"{HOME}/releases/download/v{version}/{path.name}"
            yield found[1], found[2], address, hashlib.sha256(path.read_bytes()).hexdigest()
